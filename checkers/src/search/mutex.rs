//! A mutex as textbooks have it: held from an acquire to a release, by any process.

use super::Model;

/// The mutex, free at the beginning. Its state says whether it is held.
#[derive(Debug, Clone, Copy)]
pub struct Mutex;

/// An operation on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MutexOp {
    /// It was free and is held.
    Acquire,
    /// It was held and is free.
    Release,
}

impl Model for Mutex {
    type State = bool;
    type Input = MutexOp;

    fn initial(&self) -> bool {
        false
    }

    fn step(&self, held: &bool, input: &MutexOp) -> Option<bool> {
        match (input, held) {
            (MutexOp::Acquire, false) => Some(true),
            (MutexOp::Release, true) => Some(false),
            _ => None,
        }
    }

    fn is_read(&self, _: &MutexOp) -> bool {
        false
    }

    fn after(&self, input: &MutexOp) -> Option<bool> {
        Some(*input == MutexOp::Acquire)
    }
}
