//! Groups: a client is a member as long as its session keeps an ephemeral znode, and watches who else is one.
//!
//! [`CachedMembership`] and [`Tutorial`] differ in what they do about watches and about the end of a session. What a
//! client shows its application of the group is a [`ShownGroup`], which a [`GroupReader`] keeps up to date for one
//! session after the other.

mod cached;
mod group_reader;
mod handler;
mod tutorial;

use std::sync::Arc;

pub use cached::CachedMembership;
pub use group_reader::{GroupReader, ReadingOrder, ShownGroup};
pub use handler::{GroupMember, MembershipHandler, OwnMember};
pub use tutorial::Tutorial;
use zooquake_history::operation::membership;
pub use zooquake_history::operation::membership::{NOT_REGISTERED, REGISTERED_ALREADY};

use super::variant::{FamilyVariants, KnownAnomaly, Variant, known};

/// The parent of the members' znodes. It exists before a client starts.
pub const MEMBERS: &str = "/members";

/// The znode of a member.
pub fn path(member: &str) -> String {
    format!("{MEMBERS}/{member}")
}

/// The data of a member's znode.
fn data(value: i64) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// The value in the data of a member's znode; `None` if they are no decimal number.
fn value(data: &[u8]) -> Option<i64> {
    std::str::from_utf8(data).ok()?.parse().ok()
}

/// The family and its variants.
pub(super) const FAMILY: FamilyVariants = FamilyVariants {
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
        accepted: &[STALE, LOST, REFUSED],
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
    LOST: "lost-member" under &["pause", "partition", "expire", "stall"],
        "the entry goes with its session, and nobody makes it again, for the client believes in it until it is asked to leave",
        "pinterest/memq 55, apache/fluss 1004";
    REFUSED: "refused-for-ever" under &["pause", "partition", "expire", "stall"],
        "a member whose entry has gone with its session is refused each update of it: nobody makes the entry again",
        "pinterest/memq 55, apache/fluss 1004";
}
