//! The fields that answers about grants are to have.

use crate::recipe::missing_evidence::RequiredField;
use zooquake_history::operation::grant::f;
use zooquake_history::protocol::ClientLimit;

/// The age of the znode that a grant rests on.
const CZXID: RequiredField = RequiredField {
    ops: &[f::ACQUIRE, f::ELECT],
    field: "czxid",
    cannot: ClientLimit::Czxid,
    logged: true,
    is_given: |answer| answer.czxid().is_some(),
    check: "unowned-release",
    still: "what the releases of these grants removed is compared with nothing",
};

const PATH: RequiredField = RequiredField {
    field: "path",
    logged: false,
    is_given: |answer| answer.path().is_some(),
    still: "deletes in the transaction logs convict none of these grants",
    ..CZXID
};

/// The session in which a grant is held.
const SESSION: RequiredField = RequiredField {
    field: "session",
    cannot: ClientLimit::Session,
    logged: false,
    is_given: |answer| answer.session().is_some(),
    check: "foreign-znode",
    still: "the owners of these grants' znodes are compared with nothing",
    ..CZXID
};

/// The znode that a release removed.
const REMOVED: RequiredField = RequiredField {
    ops: &[f::RELEASE, f::RESIGN],
    field: "removed",
    cannot: ClientLimit::Removed,
    is_given: |answer| matches!(answer.removed(), Some((_, Some(_)))),
    still: "only what the transaction logs show convicts these releases",
    ..CZXID
};

/// Where nothing is written under grants.
pub const GRANTED: &[RequiredField] = &[CZXID, PATH, SESSION, REMOVED];

/// Where something is written under grants.
pub const WRITTEN: &[RequiredField] = &[
    RequiredField {
        check: "stale-write",
        still: "writes under these grants convict only where they are interleaved with others",
        ..CZXID
    },
    CZXID,
    PATH,
    SESSION,
    REMOVED,
];
