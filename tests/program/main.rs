//! The real program: its command line, and runs on real ensembles. One binary, so that a test that waits for an
//! ensemble leaves a core to one that does not need any.

mod bounds;
mod clean;
mod cli;
mod common;
mod compare;
mod conformance;
mod documents;
mod edges;
mod ensemble;
mod existing;
mod families;
mod histories;
mod inputs;
mod kits;
mod live;
mod lost_engine;
mod measure;
mod messages;
mod new;
mod nightly;
mod packs;
mod parts;
mod protocol;
mod provenance;
mod recipe;
mod recipe_names;
mod refused;
mod register;
mod replay;
mod schemas;
mod simulated;
mod stalls;
mod trials;
mod upkeep;
mod wire;
