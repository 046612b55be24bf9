//! The fields that answers to registrations are to have.

use crate::recipe::missing_evidence::RequiredField;
use zooquake_history::operation::membership::f;
use zooquake_history::protocol::ClientLimit;

/// The transaction that created the member's znode.
const CZXID: RequiredField = RequiredField {
    ops: &[f::REGISTER],
    field: "czxid",
    cannot: ClientLimit::Czxid,
    logged: false,
    is_given: |answer| answer.czxid().is_some(),
    check: "foreign-znode",
    still: "the owners of these members' znodes are compared with nothing",
};

/// The fields.
pub const REGISTERED: &[RequiredField] = &[
    CZXID,
    RequiredField {
        field: "path",
        is_given: |answer| answer.path().is_some(),
        ..CZXID
    },
    RequiredField {
        field: "session",
        cannot: ClientLimit::Session,
        is_given: |answer| answer.session().is_some(),
        ..CZXID
    },
];
