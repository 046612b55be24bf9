//! The table of planted bugs: a row for each, and the name under which the recipe has it.

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct PlantedVariant {
    pub bug: Bug,
    pub id: &'static str,
    /// Its variant's name, `planted-` and the id.
    pub(super) variant: &'static str,
    /// What it does wrong.
    pub mechanism: &'static str,
    /// Family and name of the recipe that it is planted in: the same without the bug.
    pub twin: (&'static str, &'static str),
    /// The anomaly that shows it.
    pub expected: &'static str,
    /// The kinds of fault that bring it about; none where scheduling does.
    pub faults: &'static [&'static str],
    /// Where it was reported, or what it follows from.
    pub source: &'static str,
}

const FENCED: (&str, &str) = ("lock", "fenced");
const EPOCH: (&str, &str) = ("election", "epoch");
const FIFO: (&str, &str) = ("queue", "fifo");
const CLAIMED: (&str, &str) = ("queue", "claimed");
const DOUBLE: (&str, &str) = ("barrier", "double");
const GATE: (&str, &str) = ("barrier", "gate");
const ATOMIC: (&str, &str) = ("commit", "atomic");
const QUORUM_READ: (&str, &str) = ("register", "quorum-read");
const TIMED: (&str, &str) = ("semaphore", "timed");
const VERSIONED: (&str, &str) = ("counter", "versioned");
const CACHED: (&str, &str) = ("membership", "cached");

macro_rules! planted {
    ($($id:ident $bug:ident: $mechanism:literal, in $twin:expr, shows $expected:literal under [$($fault:literal),*], $source:literal;)*) => {
        /// A planted bug, by the care that it leaves out.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Bug {
            $($bug,)*
        }

        /// All of them: locks, elections, queues, barriers, commits, semaphores, registers, counters, groups.
        pub const PLANTED: &[PlantedVariant] = &[$(PlantedVariant {
            bug: Bug::$bug,
            id: stringify!($id),
            variant: concat!("planted-", stringify!($id)),
            mechanism: $mechanism,
            twin: $twin,
            expected: $expected,
            faults: &[$($fault),*],
            source: $source,
        }),*];
    };
}

planted! {
    L1 CreateSentAgain: "a create whose reply is lost is sent again: the first znode is the lowest, and nobody owns it",
        in FENCED, shows "lost-wakeup" under ["drop-reply"], "ZOOKEEPER-1262";
    L7b HoldsAfterExpiry: "the flag that marks the client as the holder is not cleared when its session expires",
        in FENCED, shows "double-grant" under ["expire"], "twitter/commons 5";
    L8 WatchNotSetAgain: "a client that waits does not set its watch again after a short disconnect",
        in FENCED, shows "lost-wakeup" under ["disconnect"], "kazoo 170";
    L11 ReleaseForgotten: "a release that meets a disconnect forgets the znode, which stays: the client's next acquire queues behind it",
        in FENCED, shows "lost-wakeup" under ["disconnect"], "CURATOR-678";
    L12 OrderedByWholeName: "the queue is ordered by whole names, what the client chose first, rather than by sequence",
        in FENCED, shows "double-grant" under [], "ZOOKEEPER-2931";
    L13c WatchesGonePredecessor: "the predecessor goes between the listing and the watch: the client waits for a znode that never changes",
        in FENCED, shows "lost-wakeup" under [], "Helix 44";
    L28 ReleasesTheFirst: "a release deletes the first znode of the queue, whether the client still holds by that or not",
        in FENCED, shows "stolen-znode" under ["disconnect"], "ZooKeeper's lock recipe: delete the node that you created";
    L29 PersistentContender: "the znode of a contender is created without the flag ephemeral",
        in FENCED, shows "persistent-contender" under [], "ZooKeeper's lock recipe: the sequence and ephemeral flags set";
    E4 AllStepBack: "candidates that meet all step back, and come again after the same time",
        in EPOCH, shows "leaderless" under [], "livelock: the textbook's way out is to wait for different times";
    E5 LeadsUnlisted: "the candidate that it watched is gone, so it leads, without listing the others again",
        in EPOCH, shows "two-leaders" under ["kill", "expire"], "Netflix/curator 115";
    E13 ReadsEpochLate: "a leader whose session is over goes on leading, and sends with each write the epoch that it reads then",
        in EPOCH, shows "stale-write" under ["expire"], "KAFKA-6082";
    E15 NameTakenForOwn: "a leader znode with its name in it is taken for its own, though its earlier session made it",
        in ("election", "ephemeral"), shows "two-leaders" under ["kill"], "KAFKA-1387";
    Q1 NoNodeTakenForAnother: "a delete whose reply is lost is sent again, and its NoNode is taken for another consumer's work",
        in FIFO, shows "lost-item" under ["drop-reply"], "Curator's and kazoo's queues";
    Q2 EnqueuedUnnamed: "an enqueue whose reply is lost is sent again, without a name by which it could be found",
        in FIFO, shows "duplicate-delivery" under ["drop-reply"], "CURATOR-268";
    Q4 ClaimLeftBehind: "a claim is made for an item that was consumed meanwhile, and stays",
        in CLAIMED, shows "orphan-node" under [], "kazoo 366";
    Q6 StaleListHandedOut: "items are handed out from a list that was read before, and the NoNode of a delete is taken for its own earlier try's",
        in FIFO, shows "duplicate-delivery" under [], "ZooKeeper's guide: what was read may be out of date when it is used";
    Q7 ItemsByWholeName: "items are taken in the order of whole names, what the producer chose first, rather than by sequence",
        in CLAIMED, shows "reordered" under [], "ZOOKEEPER-2931";
    Q8 WaitsForChangePast: "a consumer whose item another one was faster to take waits for the list to change, which has changed already",
        in FIFO, shows "stuck-queue" under [], "Helix 44";
    Q9 AcknowledgesInTurn: "an acknowledgement waits for the one before, whose reply was lost and which never ends",
        in CLAIMED, shows "stuck-queue" under ["drop-reply"], "ZooKeeper's guide: a lost connection leaves a request open";
    Q10 ClaimKept: "a claim whose reply was lost is found and kept, and its item given to nobody",
        in CLAIMED, shows "stuck-item" under ["drop-reply"], "ZooKeeper's guide: a lost connection leaves a request open";
    B1 FormerReadyCounted: "the `ready` znodes of earlier rounds are counted as members",
        in DOUBLE, shows "early-release" under [], "Netflix/curator 99";
    B3 AnyEventOpens: "any event of the session opens the barrier",
        in DOUBLE, shows "early-release" under ["disconnect"], "Curator 1290";
    B7 WatchesReadyLate: "a member makes its znode, and watches `ready` after that: the others pass and delete it in between",
        in DOUBLE, shows "stuck-barrier" under [], "the text of ZooKeeper's recipe";
    B8 SecondListIgnored: "a member that leaves lists the others, lists them again to watch, and does not look at the second list",
        in DOUBLE, shows "stuck-barrier" under [], "Helix 44";
    B9 AnyEventLifts: "a client that waits at a gate goes on at any event of its session",
        in GATE, shows "early-release" under ["disconnect"], "ZooKeeper Programmer's Guide: events of the session are none of a znode";
    B10 GateUnwatched: "a watch of the gate that goes with the connection is not set again",
        in GATE, shows "stuck-barrier" under ["disconnect"], "kazoo 151";
    B11 LooksWithoutWrite: "nothing is written before the look at the gate, which shows what the client's server has received by then",
        in GATE, shows "early-release" under ["lag"], "ZooKeeper Programmer's Guide, consistency guarantees";
    B12 EphemeralGate: "the znode of the gate is ephemeral: it goes with the session of its keeper",
        in GATE, shows "early-release" under ["expire"], "ZooKeeper's guide: ephemeral znodes exist as long as their session";
    T1 UnknownIsFailure: "the coordinator takes an unknown outcome of its decision for a failure",
        in ATOMIC, shows "wrong-outcome" under ["drop-reply"], "ClickHouse 2939";
    T6 OwnDecisionIsRefusal: "the decision is sent again, and what its first try has made is taken for a refusal",
        in ATOMIC, shows "wrong-outcome" under ["drop-reply"], "HBASE-23261";
    P1 CoordinatorDiesEarly: "the coordinator dies before all sites have a znode, and those that have one decide among themselves",
        in ATOMIC, shows "commit-without-votes" under ["kill"], "the tutorial's text";
    P2 CoordinatorDiesUndecided: "the coordinator dies between votes and decision, and nobody else may decide",
        in ATOMIC, shows "blocked-transaction" under ["kill"], "Gray 1978, Skeen 1981";
    P2b CoordinatorDiesAndGivesUp: "as P2, and a transaction that was asked for before there was a session is given up, and never was",
        in ATOMIC, shows "blocked-transaction" under ["kill"], "Gray 1978, Skeen 1981";
    P3 DecisionOverwritten: "a decision that is there is overwritten",
        in ATOMIC, shows "decision-flip" under ["pause"], "KAFKA-6082";
    P7 SiteAbortsAlone: "a site that has voted yes aborts by itself when it receives nothing for long",
        in ATOMIC, shows "split-decision" under ["pause"], "two-phase commit: a site in doubt must wait";
    R1 ReadsWithoutWrite: "nothing is written before a read, which shows what the client's server has received by then",
        in QUORUM_READ, shows "not-linearizable" under ["lag"], "ZooKeeper Programmer's Guide, consistency guarantees";
    R2 UnknownWriteFails: "a write whose reply is lost is answered as failed, and was applied",
        in QUORUM_READ, shows "not-linearizable" under ["drop-reply"], "ZooKeeper Programmer's Guide, connection loss";
    S2 WorksBeyondEnd: "a holder does not look at the clock before it works: what does not fit into its lease is begun, and so is what comes after it",
        in TIMED, shows "overdue-work" under [], "Gray and Cheriton 1989: leases";
    S3 TakenUnversioned: "a lease that is over is written anew whatever its version is by then: two that find it over both take it",
        in TIMED, shows "over-capacity" under [], "ZooKeeper's guide: a conditional update has the version that was read";
    N1 RefusesAfterCut: "a client that has seen its connection lost refuses all operations from then on, and never looks whether it is back",
        in VERSIONED, shows "refused-for-ever" under ["disconnect"], "FLINK-14091";
    N2 KeepsDeadSession: "a client whose session is over keeps the dead session, and answers all operations with an unknown outcome at once",
        in VERSIONED, shows "refused-for-ever" under ["expire"], "kazoo: a listener that raises in its thread";
    G1 ListWatchedLate: "the list is read without a watch, and watched after the data were read, by a listing that nobody looks at",
        in CACHED, shows "stale-view" under [], "Helix 44";
    G2 NotRegisteredAgain: "a member whose session is over is not registered again, and goes on believing in the znode that went with it",
        in CACHED, shows "lost-member" under ["expire"], "pinterest/memq 55, apache/fluss 1004";
    G3 ReadsOverEvents: "all is read again when the list changes, and put over what was read meanwhile after events of the data",
        in CACHED, shows "view-regression" under [], "CURATOR-191, kazoo 645";
    G4 AnswersFromBooks: "an update while the connection is lost is answered at once with the entry as it was, and is never sent",
        in CACHED, shows "lost-update" under ["disconnect"], "CURATOR-154";
    G5 FirstValueAgain: "a member whose session is over is registered again with the value of its first registration",
        in CACHED, shows "undone-update" under ["expire"], "CURATOR-241";
    G6 FormerEntryTaken: "an entry with its name is taken for its own, though the session of the process before made it",
        in CACHED, shows "foreign-znode" under ["kill"], "KAFKA-1387";
    G7 PersistentMember: "the znode of a member is created without the flag ephemeral",
        in CACHED, shows "persistent-contender" under [], "ZooKeeper's guide: a group's members are ephemeral znodes";
    G8 DataUnwatched: "the list is watched, and the data of members never",
        in CACHED, shows "stale-view" under [], "ZooKeeper's guide: a watch of children is none of data";
    G9 GoneMembersKept: "members that are gone are taken out of the view only when another one comes",
        in CACHED, shows "stale-view" under [], "ZooKeeper's guide: a watch of children fires at deletions, too";
}
