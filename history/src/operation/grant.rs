//! Operations on grants: of a lock, also one that readers share, of the leadership that an election gives, and of a
//! lease of a semaphore.

use super::{
    AnyType, Field, FieldContent, FieldSource, FinishRule, Mode, OpSpec, Operation, RequiredField, Role, ZnodeName,
    fields,
};
use crate::plan::{Resource, Workload, is_default};
use crate::protocol::ClientLimit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names of the operations.
pub mod f {
    /// To be granted, as soon as that is possible.
    pub const ACQUIRE: &str = "acquire";
    /// To be granted at once, or not at all.
    pub const TRY_ACQUIRE: &str = "try-acquire";
    /// To be elected.
    pub const ELECT: &str = "elect";
    /// To read the resource as a holder.
    pub const READ: &str = "read";
    /// To write to the resource as the holder.
    pub const WRITE: &str = "write";
    /// To work as a holder.
    pub const WORK: &str = "work";
    /// To give a grant back.
    pub const RELEASE: &str = "release";
    /// To lead no more.
    pub const RESIGN: &str = "resign";
}

/// The error of an operation that needs a grant which the client does not hold any more.
pub const NOT_HELD: &str = "not-held";

/// The error of work that does not fit into what is left of a lease: it was not begun, and the lease is held on.
pub const TOO_LONG: &str = "too-long";

/// The operation that waits for a grant.
pub(super) const ACQUIRE: OpSpec = OpSpec::new(f::ACQUIRE, Role::Wait).waits().again();

/// The operation that gives a grant back.
pub(super) const RELEASE: OpSpec = OpSpec::new(f::RELEASE, Role::Leave);

/// The read of a holder, or of a register.
pub(super) const READ: OpSpec = OpSpec::new(f::READ, Role::Take);

/// The write of a holder, or to a register.
pub(super) const WRITE: OpSpec = OpSpec::new(f::WRITE, Role::Work).finishes(FinishRule::OkOrRefused);

/// The answers that grant.
const GRANTS: FieldSource = FieldSource::Answer(&[f::ACQUIRE, f::ELECT]);

/// The age of the znode that a grant rests on.
const AGE: RequiredField = RequiredField {
    logged: true,
    ..RequiredField::new(GRANTS, &["czxid"], FieldContent::Number, "unowned-release")
        .unless(
            ClientLimit::Czxid,
            "what the releases of these grants removed is compared with nothing",
        )
        .asked(lives_with_its_znode)
};

/// Whether a grant is a znode of its holder's, and ends with it; a lease that lasts for a time ends by the clock.
fn lives_with_its_znode(workload: &Workload) -> bool {
    workload.lease_term().is_none()
}

/// What is required wherever something is granted: the znode and the session of a grant, and what a release removed.
pub const GRANTED: &[RequiredField] = &[
    AGE,
    RequiredField::new(GRANTS, &["path"], FieldContent::Text, "unowned-release")
        .unless(
            ClientLimit::Czxid,
            "deletes in the transaction logs convict none of these grants",
        )
        .asked(lives_with_its_znode),
    RequiredField::new(GRANTS, &["session"], FieldContent::Session, "foreign-znode")
        .unless(
            ClientLimit::Session,
            "the owners of these grants' znodes are compared with nothing",
        )
        .asked(lives_with_its_znode),
    RequiredField {
        logged: true,
        once: true,
        ..RequiredField::new(
            FieldSource::Answer(&[f::RELEASE, f::RESIGN]),
            &["removed"],
            FieldContent::Znode,
            "unowned-release",
        )
        .unless(
            ClientLimit::Removed,
            "only what the transaction logs show convicts these releases",
        )
        .asked(lives_with_its_znode)
    },
];

/// What is required besides where something is written under grants.
pub const WRITTEN: &[RequiredField] = &[
    RequiredField {
        check: "stale-write",
        still: "writes under these grants convict only where they are interleaved with others",
        ..AGE
    },
    RequiredField::new(GRANTS, &["token"], FieldContent::Number, "fencing-regression")
        .asked(|workload| workload.fenced)
        .doubted(),
    RequiredField::new(
        FieldSource::Answer(&[f::WRITE]),
        &["mzxid"],
        FieldContent::Number,
        "stale-write",
    )
    .asked(|workload| workload.resource == Resource::Zookeeper),
];

/// What is required besides where a leader acknowledges that it leads, in the term or in its writes.
pub const ACKNOWLEDGED: &[RequiredField] = &[RequiredField {
    once: true,
    ..RequiredField::new(
        FieldSource::Answer(&[f::ELECT, f::WRITE]),
        &["ack"],
        FieldContent::ObjectOrNull,
        "unacknowledged-leader",
    )
    .asked(|workload| workload.capabilities().acknowledges)
}];

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum GrantRequest {
    /// To be granted the lock, or a lease.
    Acquire {
        /// The name that the grant will have.
        grant: String,
        /// How it is to be held.
        #[serde(default, skip_serializing_if = "is_default")]
        mode: Mode,
    },
    /// To be elected.
    Elect {
        /// The name that the term will have.
        grant: String,
    },
    /// To read the resource as a holder.
    Read {
        /// The grant under which it holds.
        grant: String,
        /// Milliseconds that it works between its check that it holds and the read.
        #[serde(default)]
        work_ms: u64,
    },
    /// To write to the resource as the holder.
    Write {
        /// The grant under which it holds.
        grant: String,
        /// What it writes, a value that is written once in a run.
        value: Value,
        /// Milliseconds that it works between its check that it holds and the write.
        #[serde(default)]
        work_ms: u64,
    },
    /// To work as the holder.
    Work {
        /// The grant under which it holds.
        grant: String,
        /// Milliseconds that it works after its check that it holds.
        #[serde(default)]
        work_ms: u64,
    },
    /// To give the lock, or the lease, back.
    Release { grant: String },
    /// To lead no more.
    Resign {
        /// The term.
        grant: String,
    },
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GrantAnswer {
    /// To `acquire` and `elect`: it is granted.
    Granted {
        grant: String,
        /// The znode that it rests on; left out where it rests on none.
        #[serde(flatten)]
        znode: Option<ZnodeName>,
        /// The session that it lives with; left out where it lives with none.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// Its fencing token.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<i64>,
        /// The znode by which it acknowledged that it leads; only of recipes that promise one.
        #[serde(skip_serializing_if = "Option::is_none")]
        ack: Option<Option<ZnodeName>>,
    },
    /// To `read`, where the resource is outside of ZooKeeper: the read is on its way.
    Reading { grant: String },
    /// To `write`, where the resource is outside of ZooKeeper: the write is on its way.
    Sent {
        grant: String,
        /// What is written.
        value: Value,
        /// The grant's fencing token.
        token: Option<i64>,
        /// As in [`GrantAnswer::Granted`].
        #[serde(skip_serializing_if = "Option::is_none")]
        ack: Option<Option<ZnodeName>>,
    },
    /// To `write`, where the resource is a znode: it was written.
    Written {
        grant: String,
        /// What was written.
        value: Value,
        /// The transaction; left out where it is not known whether there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        mzxid: Option<i64>,
    },
    /// To `work`: it held when it began, and has worked.
    Worked { grant: String },
    /// To `release` and `resign`: it is given back.
    Released {
        grant: String,
        /// The znode that this removed; `None` where the client cannot give it.
        removed: Option<ZnodeName>,
    },
    /// What an operation was about of which nothing more is known.
    About { grant: String },
}

impl Operation for GrantRequest {}

/// What is written, or read.
pub const VALUE: Field<AnyType> = Field::new("value");

fields! {
    /// The name of the grant.
    GRANT, grant: str = "grant";
    /// How the grant is asked to be held.
    MODE, mode: Mode = "mode";
    /// The fencing token of the grant.
    TOKEN, token: i64 = "token";
    /// Whether the resource took the write.
    ACCEPTED, accepted: bool = "accepted";
    /// What a leader reports of the znode by which it acknowledges that it leads: `null` that there is none.
    ACK, ack: AnyType = "ack";
}
