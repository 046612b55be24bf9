//! Where the logs of two replicas part.

use super::logs::{ReplicaLog, StoredRecord};

/// That the logs of two replicas that run and are in sync differ where they may not.
///
/// A leader appends one record at an offset of its epoch, and a follower has no record of an epoch before its log is
/// that leader's up to there. So two logs that have a record of one epoch at one offset are the same there and before
/// it. What differs after the last such offset may be the tail of an old epoch, which is yet to be cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogDivergence {
    pub replicas: (u8, u8),
    /// An offset at which they have different messages: that of [`shared`](Self::shared) if they have there, else the
    /// first one.
    pub offset: u32,
    /// The message that each has there.
    pub values: (u32, u32),
    /// The first offset, at or after the first with different messages, at which both have a record of one epoch.
    pub shared: u32,
    /// That epoch.
    pub round: u32,
    /// Where each made its record at `offset` public.
    pub places: (usize, usize),
    /// The same of the one at `shared`.
    pub shared_places: (usize, usize),
    /// Where the register made public that both are in sync.
    pub register: usize,
}

impl LogDivergence {
    /// Where the logs of these replicas part; `None` if they are not known to part where they may not.
    pub fn between(one: (u8, &ReplicaLog), other: (u8, &ReplicaLog), register: usize) -> Option<Self> {
        let both = || {
            let records = (0_u32..).zip(one.1.iter().zip(other.1));
            records.filter_map(|(offset, (one, other))| Some((offset, (*one)?, (*other)?)))
        };
        let differ = |one: StoredRecord, other: StoredRecord| one.value != other.value;
        let first = both().find(|(_, one, other)| differ(*one, *other))?;
        let of_one_epoch = |(at, one, other): &(u32, StoredRecord, StoredRecord)| {
            *at >= first.0 && one.round.is_some() && one.round == other.round
        };
        let shared = both().find(of_one_epoch)?;
        let parts = if differ(shared.1, shared.2) { shared } else { first };
        Some(Self {
            replicas: (one.0, other.0),
            offset: parts.0,
            values: (parts.1.value, parts.2.value),
            shared: shared.0,
            round: shared.1.round?,
            places: (parts.1.place, parts.2.place),
            shared_places: (shared.1.place, shared.2.place),
            register,
        })
    }

    /// The places of what proves it.
    pub fn witness(&self) -> Vec<usize> {
        let (first, second) = self.places;
        let (one, other) = self.shared_places;
        let mut witness = vec![first, second, self.register];
        if self.shared != self.offset {
            witness.extend([one, other]);
        }
        witness
    }
}
