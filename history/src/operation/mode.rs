//! Modes of grants: which holds exclude which.

use super::{FieldType, JsonNode};
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How a grant is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Beside no shared hold, and beside fewer exclusive ones than the workload's capacity; what a request asks for
    /// that names no mode.
    #[default]
    Exclusive,
    /// Beside other shared holds, however many, and no exclusive one.
    Shared,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Exclusive, Self::Shared];
}

impl FieldType for Mode {
    type Read<'a, V: JsonNode + 'a> = Self;

    fn read<V: JsonNode>(value: &V) -> Option<Self> {
        let name = IntoDeserializer::<Error>::into_deserializer(value.text()?);
        Self::deserialize(name).ok()
    }
}

/// How many hold at a moment, by mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holders {
    /// Exclusively.
    pub exclusive: usize,
    pub shared: usize,
}

impl Holders {
    /// How many of this mode.
    pub fn count_mut(&mut self, mode: Mode) -> &mut usize {
        match mode {
            Mode::Exclusive => &mut self.exclusive,
            Mode::Shared => &mut self.shared,
        }
    }

    /// Whether one more of this mode could be granted while these wait: neither that nor any of these is excluded, as
    /// each of these may stand before it in a queue.
    pub fn free_for(self, mode: Mode, mut waiting: Self, capacity: NonZeroUsize) -> bool {
        let mut asks = Mode::ALL
            .into_iter()
            .filter(|&other| other == mode || *waiting.count_mut(other) > 0);
        asks.all(|asks| !self.exclude(asks, capacity))
    }

    /// Whether they exclude one more of this mode.
    pub fn exclude(self, mode: Mode, capacity: NonZeroUsize) -> bool {
        match mode {
            Mode::Exclusive => self.shared > 0 || self.exclusive >= capacity.get(),
            Mode::Shared => self.exclusive > 0,
        }
    }

    /// Whether some of them exclude each other: there are more exclusive ones than the capacity, or some of both modes.
    pub fn conflict(self, capacity: NonZeroUsize) -> bool {
        self.exclusive > capacity.get() || self.exclusive > 0 && self.shared > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_conflict_if_one_of_them_was_excluded_by_the_others() {
        for capacity in (1..4).filter_map(NonZeroUsize::new) {
            for (exclusive, shared) in (0..5).flat_map(|exclusive| (0..5).map(move |shared| (exclusive, shared))) {
                let without = |mode| match mode {
                    Mode::Exclusive => Some((usize::checked_sub(exclusive, 1)?, shared)),
                    Mode::Shared => Some((exclusive, usize::checked_sub(shared, 1)?)),
                };
                let excluded = |mode: Mode| {
                    let others = without(mode).map(|(exclusive, shared)| Holders { exclusive, shared });
                    others.is_some_and(|others| others.exclude(mode, capacity))
                };
                let all = Holders { exclusive, shared };
                assert_eq!(all.conflict(capacity), Mode::ALL.into_iter().any(excluded), "{all:?}");
            }
        }
    }

    #[test]
    fn a_request_names_its_mode_only_if_it_is_shared() {
        use super::super::{Operation, grant::GrantRequest};
        let asked = |mode| {
            let grant = "g1".to_owned();
            GrantRequest::Acquire { grant, mode }.parts().1.to_string()
        };
        assert_eq!(asked(Mode::Exclusive), r#"{"grant":"g1"}"#);
        assert_eq!(asked(Mode::Shared), r#"{"grant":"g1","mode":"shared"}"#);
    }
}
