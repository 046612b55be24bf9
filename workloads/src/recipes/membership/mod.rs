//! Groups: a client is a member as long as its session keeps an ephemeral znode, and watches who else is one.
//!
//! [`CachedMembership`] and [`Tutorial`] differ in what they do about watches and about the end of a session. What a
//! client shows its application of the group is a [`ShownGroup`], which a [`GroupReader`] keeps up to date for one
//! session after the other.

mod cached;
mod group_reader;
mod handler;
mod registration;
mod registration_books;
mod shown_group;
mod tutorial;
pub(super) mod variants;

pub use cached::CachedMembership;
pub use group_reader::{GroupReader, ReadingOrder};
pub use handler::{GroupMember, MembershipHandler, OwnMember};
pub use shown_group::ShownGroup;
pub use tutorial::Tutorial;
pub use zooquake_history::operation::membership::{NOT_REGISTERED, REGISTERED_ALREADY};

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
