//! The types of objects that are there, a folder each: its names and how its operations are read, its sequential type
//! with what is decided without a search, and a generator of its histories.
//!
//! `registry` names them all: a type more costs a folder, and its line there. `presence` computes when a queue or a
//! barrier held something with certainty.

pub mod barrier;
pub mod commit;
pub mod counter;
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
mod support;
