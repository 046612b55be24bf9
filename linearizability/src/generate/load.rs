//! The loads under which checks of generated histories are measured.

use super::{Object, Options, Values};

/// What a history's [`Options`] are but for its object, its seed, and whether it has a violation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratedLoad {
    /// Operations, without those of a planted violation.
    pub ops: usize,
    /// Clients, each with one operation in flight.
    pub clients: usize,
    /// The share of operations of unknown outcome, from 0 to 1.
    pub unknown: f64,
    /// What is written, put in or added.
    pub values: Values,
}

impl GeneratedLoad {
    /// The load that most models have in common: 100,000 operations of 10 clients, 1 % of unknown outcome.
    pub const COMMON: Self = Self::new(100_000, 10, 0.01, Values::Unique);

    /// A load of so many operations and clients, a share of unknown outcomes, and such values.
    pub const fn new(ops: usize, clients: usize, unknown: f64, values: Values) -> Self {
        Self {
            ops,
            clients,
            unknown,
            values,
        }
    }

    /// The options of a history of an object under this load.
    pub const fn options(self, object: Object, seed: u64, violation: bool) -> Options {
        Options {
            object,
            ops: self.ops,
            clients: self.clients,
            unknown: self.unknown,
            values: self.values,
            seed,
            violation,
        }
    }
}
