//! The logs of replicas, as these made them public, and which replicas are in sync.

use super::divergence::LogDivergence;

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
pub type ReplicaLog = Vec<Option<StoredRecord>>;

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
