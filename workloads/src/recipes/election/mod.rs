//! Elections, what each promises, and what is known to go wrong with it.

mod acknowledged;
mod ephemeral;
mod epoch;

use std::sync::Arc;

pub use acknowledged::{ACKS, acknowledged};
pub use ephemeral::{LEADER, ephemeral};
pub use epoch::{EPOCH, epoch};
use zooquake_history::operation::election;
use zooquake_history::plan::{Capabilities, Resource};

use super::Env;
use super::grant::{Chain, ContenderQueue, GrantHandler, TutorialClient};
use super::lock::Herd;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The parent of the candidates' znodes.
pub const PARENT: &str = "/election";

/// The parent of the tickets.
pub const HA: &str = "/ha";

/// The candidates of the protected variants.
const QUEUE: ContenderQueue = ContenderQueue::single(PARENT, "-candidate-");

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &election::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "ticket",
        promise: "the tutorial's: everybody watches the list of tickets, the smallest leads; one leader while nobody loses a \
                  session",
        contenders: &[HA],
        accepted: &[FROZEN, CUT_OFF, ORPHAN, STUCK],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &election::FAMILY, ticket(env)))),
        ..PLAIN
    },
    Variant {
        name: "ephemeral",
        promise: "the tutorial's: all race to create one znode; one leader while nobody loses a session, and no fairness",
        accepted: &[
            FROZEN,
            CUT_OFF,
            ORPHAN,
            KnownAnomaly {
                reason: RACE_STUCK,
                source: "KAFKA-1387, ZOOKEEPER-1262",
                ..STUCK
            },
        ],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &election::FAMILY, ephemeral(env)))),
        ..PLAIN
    },
    Variant {
        name: "sequential",
        promise: "the tutorial's: each watches the candidate before it, the first leads; fair, and one leader while nobody \
                  loses a session",
        accepted: &[FROZEN, CUT_OFF, ORPHAN, STUCK],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &election::FAMILY, sequential(env)))),
        ..PLAIN
    },
    Variant {
        name: "acknowledged",
        promise: "finds its znodes again, steps down when disconnected, leaves nothing behind, and writes only once its \
                  acknowledgement exists: one leader but for one that is frozen or cut off for longer than its session, \
                  or whose session is closed",
        contenders: &[PARENT, ACKS],
        capabilities: Capabilities {
            acknowledges: true,
            ..Capabilities::NONE
        },
        accepted: &[DEPOSED_FROZEN, DEPOSED_CUT_OFF],
        build: |env| Ok(Arc::new(GrantHandler::new(env, &election::FAMILY, acknowledged(env)))),
        ..PLAIN
    },
    Variant {
        name: "epoch",
        promise: "each term raises an epoch in one transaction with its claim, and each write carries it: no stale write under \
                  any fault",
        fenced: true,
        build: |env| Ok(Arc::new(GrantHandler::new(env, &election::FAMILY, epoch(env)))),
        ..PLAIN
    },
];

/// The defaults of all of them.
const PLAIN: Variant = Variant {
    family: election::FAMILY.name,
    resource: Resource::External,
    contenders: &[PARENT],
    ..Variant::PLAIN
};

/// The faults that end a client's process, or leave its request without a reply.
const LOSING: &[&str] = &[
    "kill",
    "pause",
    "partition",
    "drop-reply",
    "hold-reply",
    "disconnect",
    "move",
    "pin",
    "stall",
    "lag",
];

known! {
    FROZEN: "stale-write" under &["pause"],
        "a leader frozen for longer than its session timeout goes on with its work when it thaws, and treats its term \
         as valid until it resigns, since session events are ignored",
        "Curator TN10, KAFKA-6082";
    CUT_OFF: "stale-write" under &["partition", "expire", "stall"],
        "session events are ignored, so a leader whose session ends, cut off or connected, goes on working while the next \
         one leads",
        "twitter/commons 5, Curator TN10";
    ORPHAN: "orphan-node" under LOSING,
        "a create or delete whose reply is lost, or a read that fails, ends the attempt with an error; the session lives \
         on, and with it the znode that was created",
        "ZOOKEEPER-1262";
    STUCK: "no-leader" under LOSING,
        "everybody waits behind the znode of an attempt or resignation that ended with an error, whose session lives on",
        "ZOOKEEPER-1262";
}

const RACE_STUCK: &str = "what exists is taken for another's, also the own znode of a create or resignation whose reply was lost: \
                          its client waits with all others for its own session to end";

known! {
    DEPOSED_FROZEN: "stale-write" under &["pause"],
        "a leader frozen for longer than its session timeout between its check and its write writes when it thaws; only an \
         epoch that the resource checks stops it",
        "Curator TN10, KAFKA-6082";
    DEPOSED_CUT_OFF: "stale-write" under &["partition", "expire", "stall"],
        "work that began before the session's end and lasts longer is not interrupted; and where syncLimit × tickTime \
         exceeds the session timeout, a cut-off server serves a leader whose session has expired",
        "Curator TN10, ZOOKEEPER-1675";
}

/// A client of `election/ticket` that begins to open its session: the tutorial's tickets, faults and all. Everybody
/// watches the list, and the smallest ticket leads. But for the names it is the tutorial's first lock.
pub fn ticket(env: &Env) -> TutorialClient {
    let herd = Herd {
        parent: HA,
        prefix: "ticket-",
    };
    TutorialClient::new(env, herd)
}

/// A client of `election/sequential` that begins to open its session: the tutorial's fair election, faults and all.
/// Each candidate watches the one before it, and looks at the list again when that one goes. The first leads.
pub fn sequential(env: &Env) -> TutorialClient {
    let candidates = Chain {
        parent: PARENT,
        exclusive: "n_",
        shared: None,
    };
    TutorialClient::new(env, candidates)
}
