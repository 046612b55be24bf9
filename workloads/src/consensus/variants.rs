//! The variants of the family `consensus`: a protocol, what it promises, what is known to go wrong with it.

use super::fast_leader_election::FleBug;
use super::fast_paxos::{CollisionRecovery, FastPaxosBug};
use super::isr::IsrConfig;
use super::paxos::PaxosBug;
use super::setting::{ProtocolSetting, TextbookCase, election, fast_paxos, isr, paxos, textbook};
use super::zen::ZenConfig;
use crate::recipes::KnownAnomaly;
use zooquake_history::operation::consensus::FAMILY;
use zooquake_history::plan::{Capabilities, ClusterPlan, ConsensusGoal, Workload};

/// A variant of the family.
#[derive(Clone, Copy)]
pub struct ConsensusVariant {
    /// `paxos`, …
    pub name: &'static str,
    /// What it is and promises, in a sentence.
    pub promise: &'static str,
    /// What it is to bring about.
    pub goal: ConsensusGoal,
    /// How many acceptors, servers, nodes or replicas it has, unless another number is asked for.
    pub servers: usize,
    /// How many of them it can have: the fewest and the most.
    pub sizes: (usize, usize),
    /// How many proposers or producers it has, unless another number is asked for.
    pub clients: usize,
    /// Whether it may have observers.
    pub observes: bool,
    /// Milliseconds of requests and faults, unless another time is asked for.
    pub time_ms: u64,
    /// Milliseconds of requests and faults in a schedule that is searched: what goes wrong has the time for it, and a
    /// second has many schedules.
    pub search_ms: u32,
    /// What is known to go wrong.
    pub accepted: &'static [KnownAnomaly],
    /// Its config for a cluster, from the seed of a plan.
    pub(super) setting: fn(u64, &ClusterPlan) -> ProtocolSetting,
}

impl ConsensusVariant {
    /// Its protocol with the sizes of a cluster; what its servers have at first is drawn from the seed.
    pub fn setting(&self, seed: u64, cluster: &ClusterPlan) -> ProtocolSetting {
        (self.setting)(seed, cluster)
    }

    /// Refuses a cluster that it cannot have.
    ///
    /// # Errors
    /// Which sizes it can have.
    pub fn check(&self, cluster: &ClusterPlan) -> Result<(), String> {
        let (least, most) = self.sizes;
        let name = format!("{}/{}", FAMILY.name, self.name);
        if !(least..=most).contains(&cluster.servers) {
            return Err(match least == most {
                true => format!("{name} has {least} nodes that decide: leave --servers out"),
                false => format!("{name} has {least} to {most} nodes that decide: give --servers {least} to {most}"),
            });
        }
        if cluster.observers > 0 && !(self.observes && cluster.observers <= MOST_OBSERVERS) {
            return Err(match self.observes {
                true => format!("{name} has {MOST_OBSERVERS} observers at most"),
                false => format!("{name} has no observers: leave --observers out"),
            });
        }
        match (self.clients, cluster.clients) {
            (0, 0) | (1.., 1..=MOST_CLIENTS) => Ok(()),
            (0, _) => Err(format!("{name} has no clients: leave --clients out")),
            _ => Err(format!(
                "{name} has 1 to {MOST_CLIENTS} clients: give --clients 1 to {MOST_CLIENTS}"
            )),
        }
    }

    /// Its description in a plan.
    pub fn workload(&self) -> Workload {
        Workload {
            family: FAMILY.name.to_owned(),
            variant: self.name.to_owned(),
            promise: self.promise.to_owned(),
            capabilities: Some(Capabilities::NONE),
            goal: self.goal,
            accepted: self.accepted.iter().map(KnownAnomaly::accepted).collect(),
            ..Workload::default()
        }
    }
}

/// The most observers of an ensemble.
const MOST_OBSERVERS: usize = 4;

/// The most proposers or producers.
const MOST_CLIENTS: usize = 8;

/// What the variants have in common.
const PLAIN: ConsensusVariant = ConsensusVariant {
    name: "",
    promise: "",
    goal: ConsensusGoal::Value,
    servers: 3,
    sizes: (3, 7),
    clients: 2,
    observes: false,
    time_ms: 400,
    search_ms: 400,
    accepted: &[],
    setting: |_, cluster| paxos(cluster, PaxosBug::None),
};

/// What the elections have in common.
const ELECTION: ConsensusVariant = ConsensusVariant {
    goal: ConsensusGoal::EpochLeader,
    servers: 5,
    sizes: (1, 7),
    clients: 0,
    observes: true,
    time_ms: 8_000,
    search_ms: 1_500,
    ..PLAIN
};

const TWO_MASTERS: KnownAnomaly = KnownAnomaly {
    anomaly: "two-leaders",
    faults: &["partition", "pause", "loss"],
    reason: "there are no terms: a master that is cut off, frozen or out of reach does not resign before its checks fail, and the \
             others have elected another one by then",
    source: "Elasticsearch 2488",
};

const UNCLEAN: KnownAnomaly = KnownAnomaly {
    anomaly: "lost-message",
    faults: &["kill", "pause", "partition", "loss"],
    reason: "a replica outside the in-sync set leads, which lacks what the others had acknowledged",
    source: "Kafka documentation, unclean.leader.election.enable",
};

const UNFLUSHED: KnownAnomaly = KnownAnomaly {
    anomaly: "lost-message",
    faults: &["kill"],
    reason: "a replica acknowledges before the message is on its disk, and its process dies before that",
    source: "Kafka documentation, Application vs. OS Flush Management",
};

/// What the variants of a partition have in common.
const ISR: ConsensusVariant = ConsensusVariant {
    goal: ConsensusGoal::Log,
    sizes: (2, 5),
    time_ms: 4_000,
    search_ms: 4_000,
    ..PLAIN
};

pub(super) const PAXOS: ConsensusVariant = ConsensusVariant {
    name: "paxos",
    promise: "single-decree Paxos: at most one proposed value is chosen, whatever is lost, late or dead, and one is once a majority \
              of acceptors and a leader can talk to each other",
    ..PLAIN
};

pub(super) const FAST_PAXOS: ConsensusVariant = ConsensusVariant {
    name: "fast-paxos",
    promise: "Fast Paxos with coordinated recovery: proposers send to the acceptors directly, and a value is chosen one message delay \
              earlier where no two proposals collide",
    servers: 4,
    setting: |_, cluster| fast_paxos(cluster, CollisionRecovery::Coordinated, FastPaxosBug::None),
    ..PLAIN
};

const FAST_PAXOS_UNCOORDINATED: ConsensusVariant = ConsensusVariant {
    name: "fast-paxos-uncoordinated",
    promise: "Fast Paxos with uncoordinated recovery: after a collision the acceptors themselves pick the value of the next round",
    servers: 4,
    setting: |_, cluster| fast_paxos(cluster, CollisionRecovery::Uncoordinated, FastPaxosBug::None),
    ..PLAIN
};

const FAST_PAXOS_RESTART: ConsensusVariant = ConsensusVariant {
    name: "fast-paxos-restart",
    promise: "Fast Paxos that begins a new round with phase 1 after a collision",
    servers: 4,
    setting: |_, cluster| fast_paxos(cluster, CollisionRecovery::Restart, FastPaxosBug::None),
    ..PLAIN
};

pub(super) const FAST_LEADER_ELECTION: ConsensusVariant = ConsensusVariant {
    name: "fast-leader-election",
    promise: "ZooKeeper's FastLeaderElection with Zab's discovery: who is elected has the greatest vote of those that elected it, and \
              an epoch has one leader at most",
    setting: |seed, cluster| election(seed, cluster, true, FleBug::None),
    ..ELECTION
};

const FAST_LEADER_ELECTION_ALONE: ConsensusVariant = ConsensusVariant {
    name: "fast-leader-election-alone",
    promise: "ZooKeeper's FastLeaderElection without what follows it: who is elected has the greatest vote of those that elected it; \
              one round may have several winners",
    goal: ConsensusGoal::Election,
    setting: |seed, cluster| election(seed, cluster, false, FleBug::None),
    ..ELECTION
};

const TEXTBOOK_ELECTION: ConsensusVariant = ConsensusVariant {
    name: "textbook-election",
    promise: "the tutorial's case: of five servers with the zxids 9, 9, 9, 8 and 8 the first two are dead; 3, 4 and 5 elect 3",
    sizes: (5, 5),
    setting: |_, cluster| textbook(cluster, TextbookCase::TwoDead),
    ..ELECTION
};

const TEXTBOOK_HIGHER_ZXID: ConsensusVariant = ConsensusVariant {
    name: "textbook-higher-zxid",
    promise: "the tutorial's case with another end: 1 and 2 are dead, and 4 has the zxid 10; 3, 4 and 5 elect 4, though 5 has the \
              highest id",
    sizes: (5, 5),
    setting: |_, cluster| textbook(cluster, TextbookCase::HigherZxid),
    ..ELECTION
};

const TEXTBOOK_ONE_BY_ONE: ConsensusVariant = ConsensusVariant {
    name: "textbook-one-by-one",
    promise: "the tutorial's case of a new ensemble: five servers without data start one a second in the order of their ids; 3 is \
              elected, with which they are a majority, and 4 and 5 follow it",
    sizes: (5, 5),
    setting: |_, cluster| textbook(cluster, TextbookCase::OneByOne),
    ..ELECTION
};

pub(super) const ZEN: ConsensusVariant = ConsensusVariant {
    name: "zen",
    promise: "Elasticsearch's old election: every node votes for the first one that it hears of, and who has a majority of votes is \
              master; there are no terms",
    goal: ConsensusGoal::OneLeader,
    servers: 3,
    observes: false,
    search_ms: 15_000,
    accepted: &[TWO_MASTERS],
    setting: |_, cluster| ProtocolSetting::Zen(ZenConfig::with_majority(cluster.servers as u8)),
    ..ELECTION
};

pub(super) const IN_SYNC: ConsensusVariant = ConsensusVariant {
    name: "isr",
    promise: "a partition of Kafka: a message that was acknowledged by all in-sync replicas stays while one of them does, and its \
              leader is one of them",
    setting: |_, cluster| ProtocolSetting::Isr(isr(cluster)),
    ..ISR
};

const ISR_UNCLEAN: ConsensusVariant = ConsensusVariant {
    name: "isr-unclean",
    promise: "a partition of Kafka with unclean leader election: a replica that is not in sync may lead, and acknowledged messages are \
              lost then",
    accepted: &[UNCLEAN],
    setting: |_, cluster| {
        ProtocolSetting::Isr(IsrConfig {
            unclean: true,
            ..isr(cluster)
        })
    },
    ..ISR
};

const ISR_UNFLUSHED: ConsensusVariant = ConsensusVariant {
    name: "isr-unflushed",
    promise: "a partition of Kafka whose replicas acknowledge before a message is on their disks: acknowledged messages are lost if \
              their processes die",
    accepted: &[UNFLUSHED],
    setting: |_, cluster| {
        ProtocolSetting::Isr(IsrConfig {
            write_before_ack: false,
            ..isr(cluster)
        })
    },
    ..ISR
};

/// All variants but those with planted bugs, in the order in which they are shown.
pub const VARIANTS: &[ConsensusVariant] = &[
    PAXOS,
    FAST_PAXOS,
    FAST_PAXOS_UNCOORDINATED,
    FAST_PAXOS_RESTART,
    FAST_LEADER_ELECTION,
    FAST_LEADER_ELECTION_ALONE,
    TEXTBOOK_ELECTION,
    TEXTBOOK_HIGHER_ZXID,
    TEXTBOOK_ONE_BY_ONE,
    ZEN,
    IN_SYNC,
    ISR_UNCLEAN,
    ISR_UNFLUSHED,
];

/// The variant of this name, be it one with a planted bug.
pub fn variant(name: &str) -> Option<&'static ConsensusVariant> {
    let planted = super::planted::PLANTED.iter().map(|planted| &planted.variant);
    VARIANTS.iter().chain(planted).find(|variant| variant.name == name)
}
