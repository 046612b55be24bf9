//! The types of objects that are there, a folder each: what it states of itself (`entry`) and how its operations are
//! read, its sequential type with what is decided without a search, and a generator of its histories.
//!
//! `registry` names them all: a type more costs a folder, and its line there. Help texts, lists, inference, benchmarks
//! and inputs for fuzzing take what they need from there. `presence` computes when a queue or a
//! barrier held something with certainty.

pub mod barrier;
pub mod commit;
pub mod counter;
pub mod entry;
pub mod fenced_mutex;
pub mod id_generator;
pub mod kv;
pub mod mutex;
pub mod permits;
mod presence;
pub mod queue;
pub mod register;
pub mod registry;
pub mod set;
