//! The logs of replicas, as these made them public; which replicas are in sync; and where the logs of two of them part.

/// A record in the log of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRecord {
    pub value: u32,
    /// The epoch under which it was appended, if that was made public.
    pub round: Option<u32>,
    /// Where the replica made it public.
    pub place: usize,
}

/// The log of a replica, by offset; `None` where nothing was made public.
type ReplicaLog = Vec<Option<StoredRecord>>;

/// What a record of a run lacks of the logs of its replicas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogGaps {
    /// Whether it never has which replicas are in sync, though it has logs.
    pub in_sync: bool,
    /// How many records were stored whose epoch it does not have.
    pub rounds: usize,
}

/// The logs of the replicas, with what is known of these.
#[derive(Debug, Clone, Default)]
pub struct ReplicaLogs {
    logs: Vec<ReplicaLog>,
    /// The nodes whose processes have died, and made nothing public since: bit `n` is node `n`.
    dead: u32,
    /// The replicas that are in sync by the register's last state, as such a set, and where it made that public.
    in_sync: Option<(u32, usize)>,
    /// How many records were stored without their epochs.
    roundless: usize,
}

/// The most records of a log that are followed; offsets beyond are passed over.
const RECORDS: usize = 1 << 16;

impl ReplicaLogs {
    /// A replica stores a record at an offset; what it had there, and after it, is gone.
    pub fn stored(&mut self, node: u8, offset: u32, record: StoredRecord) {
        self.roundless += usize::from(record.round.is_none());
        let (node, offset) = (usize::from(node), offset as usize);
        if offset >= RECORDS {
            return;
        }
        if self.logs.len() <= node {
            self.logs.resize(node + 1, Vec::new());
        }
        let log = &mut self.logs[node];
        log.resize(offset, None);
        log.push(Some(record));
    }

    /// A replica cuts its log off before an offset.
    pub fn truncated(&mut self, node: u8, offset: u32) {
        if let Some(log) = self.logs.get_mut(usize::from(node)) {
            log.truncate(offset as usize);
        }
    }

    /// The register makes public, at a place, which replicas are in sync from now on.
    pub fn in_sync(&mut self, replicas: u32, place: usize) {
        self.in_sync = Some((replicas, place));
    }

    /// A node's process dies.
    pub fn died(&mut self, node: u8) {
        self.dead |= bit(node);
    }

    /// A node makes something public: its process runs.
    pub fn runs(&mut self, node: u8) {
        self.dead &= !bit(node);
    }

    /// Whether the log of a replica holds a value.
    pub fn holds(&self, node: u8, value: u32) -> bool {
        let log = self.logs.get(usize::from(node)).into_iter().flatten();
        log.flatten().any(|record| record.value == value)
    }

    /// What the record lacks.
    pub fn gaps(&self) -> LogGaps {
        LogGaps {
            in_sync: self.in_sync.is_none() && !self.logs.is_empty(),
            rounds: self.roundless,
        }
    }

    /// Where the logs of replicas part that run and are in sync, of each two of them; none if the register never made
    /// public which those are.
    pub fn divergences(&self) -> Vec<LogDivergence> {
        let Some((replicas, register)) = self.in_sync else {
            return Vec::new();
        };
        let compared = (0_u8..).zip(&self.logs);
        let compared: Vec<_> = compared
            .filter(|(node, _)| replicas & !self.dead & bit(*node) != 0)
            .collect();
        let pairs = compared.iter().enumerate().flat_map(|(nth, one)| {
            let others = compared[nth + 1..].iter();
            others.map(move |other| (*one, *other))
        });
        pairs
            .filter_map(|(one, other)| LogDivergence::between(one, other, register))
            .collect()
    }
}

/// The set of one node; the empty one of a node beyond those that a set can have.
fn bit(node: u8) -> u32 {
    1_u32.checked_shl(node.into()).unwrap_or(0)
}

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
    /// Where each made its record at `shared` public.
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
