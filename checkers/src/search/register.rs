//! A register with compare-and-set. Values need not be unique.

use super::Model;
use std::hash::Hash;

/// The register.
#[derive(Debug, Clone)]
pub struct Register<V> {
    /// Its value at the beginning.
    pub initial: V,
}

/// An operation on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RegisterOp<V> {
    /// It was read to have this value.
    Read(V),
    /// It was given this value.
    Write(V),
    /// It had the first value and was given the second.
    Cas(V, V),
    /// A compare-and-set found another value than this one.
    Mismatch(V),
}

impl<V: Clone + Eq + Hash> Model for Register<V> {
    type State = V;
    type Input = RegisterOp<V>;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, input: &RegisterOp<V>) -> Option<V> {
        match input {
            RegisterOp::Read(value) => (state == value).then(|| state.clone()),
            RegisterOp::Write(value) => Some(value.clone()),
            RegisterOp::Cas(from, to) => (state == from).then(|| to.clone()),
            RegisterOp::Mismatch(from) => (state != from).then(|| state.clone()),
        }
    }

    fn is_read(&self, input: &RegisterOp<V>) -> bool {
        matches!(input, RegisterOp::Read(_) | RegisterOp::Mismatch(_))
    }
}
