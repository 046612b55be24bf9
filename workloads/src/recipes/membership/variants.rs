//! The groups, with what each promises and what is known to go wrong with it.

use std::sync::Arc;

use zooquake_history::operation::membership;

use super::{CachedMembership, MEMBERS, MembershipHandler, Tutorial};
use crate::recipes::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The family and its variants.
pub const FAMILY: FamilyVariants = FamilyVariants {
    spec: &membership::FAMILY,
    variants: VARIANTS,
};

const VARIANTS: &[Variant] = &[
    Variant {
        name: "cached",
        promise: "shows what it reads with the read that sets the watch, all of it again after each reconnect, and registers anew \
                  when its session has ended: once nothing changes any more, each view is the group, under any fault",
        build: |env| Ok(Arc::new(MembershipHandler(CachedMembership::new(env)))),
        ..PLAIN
    },
    Variant {
        name: "tutorial",
        promise: "reads, then sets its watches, and registers once for ever: right as long as nothing changes in between and no \
                  session ends",
        accepted: &[STALE, LOST],
        build: |env| Ok(Arc::new(MembershipHandler(Tutorial::new(env)))),
        ..PLAIN
    },
];

/// What all of them have in common.
const PLAIN: Variant = Variant {
    family: membership::FAMILY.name,
    contenders: &[MEMBERS],
    ..Variant::PLAIN
};

known! {
    STALE: "stale-view" under &["none"],
        "what changes between a read and the read that sets the watch is neither shown nor heard of, until the next event",
        "Helix 44";
    LOST: "lost-member" under &["pause", "partition", "expire"],
        "the entry goes with its session, and nobody makes it again, for the client believes in it until it is asked to leave",
        "pinterest/memq 55, apache/fluss 1004";
}
