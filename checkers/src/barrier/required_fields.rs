//! The fields that answers of members who enter together are to have.

use crate::recipe::missing_evidence::RequiredField;
use zooquake_history::operation::barrier::f;
use zooquake_history::protocol::ClientLimit;

/// The fields.
pub const MEMBERS: &[RequiredField] = &[
    RequiredField {
        ops: &[f::ENTER],
        field: "czxid",
        cannot: ClientLimit::Czxid,
        logged: false,
        is_given: |answer| answer.czxid().is_some(),
        check: "early-release",
        still: "a client that entered so is not shown to have been inside when others left; early entries are judged",
    },
    RequiredField {
        ops: &[f::LEAVE],
        field: "removed",
        cannot: ClientLimit::Removed,
        logged: false,
        is_given: |answer| matches!(answer.removed(), Some((_, Some(_)))),
        check: "early-release",
        still: "a client that left so is not shown to have been inside when others left; early entries are judged",
    },
    RequiredField {
        ops: &[f::ENTER],
        field: "session",
        cannot: ClientLimit::Session,
        logged: false,
        is_given: |answer| answer.session().is_some(),
        check: "stuck-barrier",
        still: "such a member counts as gone when any session of its client ends",
    },
];
