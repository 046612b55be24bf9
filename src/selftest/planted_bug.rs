//! Planted bugs, of recipes and of consensus protocols, as the selftest lists them.

use std::fmt;
use zooquake_workloads::consensus::planted::{self as protocols, PlantedProtocol};
use zooquake_workloads::recipes::planted::{PLANTED, PlantedVariant};

#[derive(Clone, Copy)]
pub enum PlantedBug {
    Recipe(&'static PlantedVariant),
    /// Of a consensus protocol.
    Protocol(&'static PlantedProtocol),
}

impl fmt::Debug for PlantedBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl PlantedBug {
    /// All of them, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        let protocols = protocols::PLANTED.iter().map(Self::Protocol);
        PLANTED.iter().map(Self::Recipe).chain(protocols)
    }

    /// Its id: `L12`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Recipe(planted) => planted.id,
            Self::Protocol(planted) => planted.id,
        }
    }

    /// Its name as a variant: `planted/L12`.
    pub fn name(self) -> String {
        match self {
            Self::Recipe(planted) => planted.name(),
            Self::Protocol(planted) => planted.name(),
        }
    }

    /// What it does wrong.
    pub fn mechanism(self) -> &'static str {
        match self {
            Self::Recipe(planted) => planted.mechanism,
            Self::Protocol(planted) => planted.variant.promise,
        }
    }

    /// The anomaly that shows it.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Recipe(planted) => planted.expected,
            Self::Protocol(planted) => planted.expected,
        }
    }

    /// The kinds of fault that bring it about; none where the order of things does.
    pub fn faults(self) -> &'static [&'static str] {
        match self {
            Self::Recipe(planted) => planted.faults,
            Self::Protocol(planted) => planted.faults,
        }
    }

    /// The variant without it.
    pub fn twin(self) -> String {
        match self {
            Self::Recipe(planted) => planted.twin(),
            Self::Protocol(planted) => format!("consensus/{}", planted.twin),
        }
    }

    /// Where it was reported, or what it follows from.
    pub fn source(self) -> &'static str {
        match self {
            Self::Recipe(planted) => planted.source,
            Self::Protocol(planted) => planted.source,
        }
    }
}
