//! One partition of Kafka: a replicated log whose leader is one of its in-sync replicas (ISR), and commits a message
//! when all of them have it.
//!
//! Followed: Kafka's documentation, "Replication" (the ISR, acks=all, `min.insync.replicas`, unclean leader election,
//! "replicated logs: quorums, ISRs, and state machines": n in-sync replicas survive the loss of n - 1); KIP-101 and
//! KIP-279 (a follower cuts its log off where it parts from the leader's, by leader epochs and not by the high
//! watermark); KIP-320 (fetches are fenced by the leader epoch); KIP-497 (the leader has the ISR changed by
//! compare-and-set, and counts the larger of the two sets until that is answered).
//!
//! Who leads is in an atomic register ([`PartitionState`]). A replica of the ISR that has not heard from the leader for
//! a timeout has itself written there as the leader of the next epoch, with the ISR less the leader before, as Kafka's
//! controller does when a broker's session ends: the old leader may be dead, and would hold the high watermark back. It
//! gets into the ISR again when it has caught up. No process leads in an epoch that it has not asked for itself, so
//! that an epoch has one leader process, and a leader that is started again leads in a new one.
//!
//! A leader that is deposed, and has not heard of it, acknowledges nothing that could be lost: the ISR of its epoch has
//! the replica that leads next, and what that never fetched in the old epoch stays above the old high watermark.
//!
//! Differences: one message a fetch; values are their own sequence numbers (KIP-98), so that a retried one is stored
//! once; logs have room for [`LOG_LENGTH`] messages, and requests beyond are not answered.

mod leader;
mod log;
mod node;
mod replica;
#[cfg(test)]
mod tests;

pub use log::{EpochEnd, LOG_LENGTH, PartitionEntry, PartitionLog};
pub use node::{IsrDisk, IsrNode, IsrProducer};
pub use replica::IsrReplica;

use super::isr_register::{PartitionAnswer, PartitionRequest, PartitionState};
use super::protocol::{MessageFigure, Node};

/// The most replicas that a partition has.
pub const MOST_REPLICAS: usize = 5;

/// Sizes and options of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsrConfig {
    /// Number of replicas, at most [`MOST_REPLICAS`].
    pub replicas: u8,
    /// Number of producers.
    pub producers: u8,
    /// `min.insync.replicas`: how many replicas the ISR has at least when a message is appended or acknowledged.
    pub min_insync: u8,
    /// `unclean.leader.election.enable`: a replica outside the ISR leads if nobody has been heard of for two timeouts.
    /// It violates what the documentation promises of acks=all, "the record will not be lost as long as at least one
    /// in-sync replica remains alive", if the in-sync ones are dead or out of reach for a while only.
    pub unclean: bool,
    /// Whether a replica has a message on its disk before that counts as replicated. Without, a timer flushes the log,
    /// as Kafka leaves it to the operating system, and a process that crashes loses the rest but stays in the ISR.
    pub write_before_ack: bool,
    /// A planted violation.
    pub bug: IsrBug,
}

impl IsrConfig {
    /// A partition that loses no acknowledged message: clean elections, disks written first, one replica enough.
    pub fn clean(replicas: u8, producers: u8) -> Self {
        Self {
            replicas,
            producers,
            min_insync: 1,
            unclean: false,
            write_before_ack: true,
            bug: IsrBug::None,
        }
    }

    /// The register's node.
    pub fn register(self) -> Node {
        self.replicas
    }
}

/// What a replica does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsrBug {
    /// Nothing.
    None,
    /// A replica that has not heard from the leader leads without a look at whether it is in the ISR: it violates "only
    /// members of this set are eligible for election as leader" (documentation, "Replication").
    LeaderOutsideIsr,
    /// A follower fetches from the end of its log on, and never asks where that parts from the leader's: what its own
    /// leadership, or that of another one, left uncommitted stays below what it fetches (KIP-101).
    KeepsTail,
    /// A follower stores what it has fetched at the end of its log, whatever offset that has in the leader's: the
    /// answer to a fetch that was sent twice is stored twice. It violates "the logs on the followers are identical to
    /// the leader's log" (documentation, "Replication").
    IgnoresOffset,
}

/// What nodes send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsrMessage {
    /// A producer has a message appended (`Produce`, acks=all).
    Append {
        /// The message.
        value: u32,
    },
    /// It is committed.
    Acknowledge {
        /// The message.
        value: u32,
    },
    /// The receiver of an append, a fetch or a question is not the leader (`NOT_LEADER_OR_FOLLOWER`), or leads in
    /// another epoch (`FENCED_LEADER_EPOCH`).
    Redirect { leader: Node, epoch: u16 },
    /// A follower asks how far its log is the leader's (`OffsetsForLeaderEpoch`).
    AskEpochEnd {
        /// The leader's epoch.
        epoch: u16,
        /// Where the follower's log ends.
        log: EpochEnd,
    },
    /// The answer to that.
    EpochEnd {
        /// The leader's epoch.
        epoch: u16,
        /// Where the follower's log ended when it asked: an answer that arrives after its log has changed, late or to
        /// an earlier process, is none. (In Kafka a connection keeps answers from that.)
        log: EpochEnd,
        /// Where the last epoch in the leader's log ends that is not later than the log's of the follower.
        leader: EpochEnd,
    },
    /// A follower asks for the entry at an offset, and has on its log all before it.
    Fetch {
        /// The leader's epoch.
        epoch: u16,
        offset: u8,
    },
    /// The answer with an entry.
    Entry {
        /// The leader's epoch.
        epoch: u16,
        /// The entry's offset.
        offset: u8,
        entry: PartitionEntry,
        /// The leader's high watermark.
        high_watermark: u8,
    },
    /// The answer when there was no entry for a while.
    Empty {
        /// The leader's epoch.
        epoch: u16,
        /// The leader's high watermark.
        high_watermark: u8,
    },
    /// To the register.
    Ask(PartitionRequest),
    /// From the register.
    Answer(PartitionAnswer),
}

impl IsrMessage {
    /// How it is drawn, in the words of Kafka's documentation; replicas are given by their numbers from 1.
    pub(super) fn figure(&self) -> MessageFigure {
        let state = |now: PartitionState| {
            let isr: Vec<String> = now.isr.iter().map(|node| (node + 1).to_string()).collect();
            format!("leader {}, ISR {{{}}}, v{}", now.leader + 1, isr.join(","), now.version)
        };
        let (kind, detail, round) = match *self {
            Self::Append { value } => ("produce", value.to_string(), None),
            Self::Acknowledge { value } => ("ack", value.to_string(), None),
            Self::Redirect { leader, epoch } => ("not leader", format!("({} is)", leader + 1), Some(epoch)),
            Self::AskEpochEnd { epoch, log } => ("end of epoch", format!("{}?", log.epoch), Some(epoch)),
            Self::EpochEnd { epoch, leader, .. } => (
                "epoch",
                format!("{} ends at {}", leader.epoch, leader.offset),
                Some(epoch),
            ),
            Self::Fetch { epoch, offset } => ("fetch", format!("from {offset}"), Some(epoch)),
            Self::Entry {
                epoch,
                offset,
                entry,
                high_watermark,
            } => (
                "fetched",
                format!("{} at {offset}, HW {high_watermark}", entry.value),
                Some(epoch),
            ),
            Self::Empty { epoch, high_watermark } => ("fetched nothing", format!("HW {high_watermark}"), Some(epoch)),
            Self::Ask(PartitionRequest::Read) => ("read", String::new(), None),
            Self::Ask(PartitionRequest::CompareAndSet(next)) => ("change to", state(next), Some(next.epoch)),
            Self::Answer(PartitionAnswer::State(now)) => ("state", state(now), Some(now.epoch)),
            Self::Answer(PartitionAnswer::Swapped(now)) => ("changed to", state(now), Some(now.epoch)),
            Self::Answer(PartitionAnswer::Refused(now)) => ("refused", state(now), Some(now.epoch)),
        };
        MessageFigure {
            kind,
            detail,
            round: round.map(u32::from),
        }
    }
}

/// What a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsrTimer {
    /// The register's answer, before it is asked again.
    Ask,
    /// The leader's answer, before that is asked again.
    Fetch,
    /// Anything from the leader, before it is taken for dead.
    Session,
    /// As leader: entries, before followers that wait for one get an answer without (`fetch.max.wait.ms`).
    Wait,
    /// As leader: the next look at who lags behind (`replica.lag.time.max.ms`) and at the register.
    Lag,
    /// The next flush of a log that is not written at once.
    Flush,
    /// An acknowledgement, before a producer tries the next replica.
    Retry,
}
