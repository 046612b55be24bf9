//! Two-phase commit: a coordinator begins transactions, sites vote, and all come to one decision. What each variant
//! promises, and what is known to go wrong with it.

mod atomic;
mod handler;
mod journal;
mod plain;
mod tutorial;

use std::sync::Arc;

use anyhow::Context;
pub use atomic::Atomic;
pub use handler::{CommitHandler, Party};
pub use journal::{Journal, JournalEntry};
use plain::PartyClient;
pub use tutorial::{Broadcast, CoordinatedParty, Ephemeral};
use zooquake_history::operation::commit;
pub use zooquake_history::operation::commit::{Decision, TransactionZnode, Vote};

use super::Env;
use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};
use crate::service::Recipe;

/// The parent of the transaction znodes.
pub const APP: &str = "/app";

/// The znode of a transaction.
pub fn path(tx: &str) -> String {
    format!("{APP}/{tx}")
}

/// The znode in which a site votes.
pub fn vote_path(tx: &str, site: &str) -> String {
    format!("{APP}/{tx}/{site}")
}

/// The znode that has the decision, where there is one.
pub fn decision_path(tx: &str) -> String {
    format!("{APP}/{tx}/decision")
}

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
    spec: &commit::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "broadcast",
        promise: "the tutorial's: every site watches every vote and decides by itself; atomic, but blocks when the \
                  coordinator fails while it begins",
        accepted: &[KnownAnomaly {
            reason: BROADCAST_BLOCKS,
            ..BLOCKED
        }],
        build: |env| party(env, Broadcast),
        ..PLAIN
    },
    Variant {
        name: "coordinated",
        promise: "the tutorial's: the coordinator alone watches the votes and publishes the decision; atomic, but blocks \
                  when the coordinator fails before that",
        accepted: &[BLOCKED],
        build: |env| party(env, CoordinatedParty),
        ..PLAIN
    },
    Variant {
        name: "ephemeral",
        promise: "the tutorial's: coordinated, and sites make their own ephemeral znodes, so that a dead site is seen; \
                  atomic, but blocks when the coordinator fails, or a site before it looks",
        accepted: &[KnownAnomaly {
            reason: EPHEMERAL_BLOCKS,
            ..BLOCKED
        }],
        build: |env| party(env, Ephemeral),
        ..PLAIN
    },
    Variant {
        name: "atomic",
        promise: "begins in one transaction, votes stay, the decision is created once, and any site can bring it about: \
                  atomic, and never blocks, under any fault",
        build: |env| party(env, Atomic),
        ..PLAIN
    },
];

/// What they have in common.
const PLAIN: Variant = Variant {
    family: commit::FAMILY.name,
    ..Variant::PLAIN
};

fn party<P: Party + 'static>(env: &Env, make: fn(PartyClient) -> P) -> anyhow::Result<Recipe> {
    let name = &env.client;
    let journal = match &env.journal {
        Some(journal) => journal.clone(),
        None => Journal::of_client(name).with_context(|| format!("the log of {name}"))?,
    };
    Ok(Arc::new(CommitHandler(make(PartyClient::new(env, journal)))))
}

/// The faults that kill a coordinator, end its session, or leave it without a reply.
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
    "expire",
];

known! {
    BLOCKED: "blocked-transaction" under LOSING,
        "only the coordinator can decide: if it dies, a request of its has an unknown outcome, or its session ends \
         before the decision is out, it does nothing more, and the sites wait for ever, as plain two-phase commit \
         does",
        "the tutorial's text, which does not cover a coordinator that dies; Gray 1978, Skeen 1981 (blocking protocols)";
}

const BROADCAST_BLOCKS: &str = "a coordinator that dies, or whose request has an unknown outcome, while it creates the \
                                sites' znodes leaves sites without one, so they cannot vote, and all wait for them for \
                                ever";

const EPHEMERAL_BLOCKS: &str = "a coordinator that fails before its decision is out does nothing more; and it waits for ever \
                                for a site whose znode went with its session before the coordinator looked";
