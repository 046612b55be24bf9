//! Operations of the members of a group, each of which watches who is there.

use super::{
    AnyType, Delay, Family, FieldContent, FieldSource, OpSpec, Operation, RequiredField, Role, StrikePoint, ZnodeName,
    control, fields,
};
use crate::plan::ClientState;
use crate::protocol::ClientLimit;
use serde::{Deserialize, Serialize};

/// Names of the operations.
pub mod f {
    /// To be a member, under a name and with a value.
    pub const REGISTER: &str = "register";
    /// To change the value of the own entry.
    pub const UPDATE: &str = "update";
    /// To be a member no more.
    pub const DEREGISTER: &str = "deregister";
}

/// The error of an `update` or a `deregister` that is refused because the client is no member.
pub const NOT_REGISTERED: &str = "not-registered";

/// The error of a `register` that is refused because the client is a member.
pub const REGISTERED_ALREADY: &str = "registered already";

/// Groups of members. A fault strikes a client while it registers, while its entry changes, and while its change is
/// being read again by all who watch, itself among them.
pub const FAMILY: Family = Family {
    name: "membership",
    recipes: true,
    grants: false,
    ops: &[
        OpSpec {
            struck: &[STRUCK, READ_AGAIN],
            ..OpSpec::new(f::REGISTER, Role::Work).again()
        },
        OpSpec {
            struck: &[
                StrikePoint {
                    state: ClientState::Working,
                    ..STRUCK
                },
                StrikePoint { share: 2, ..READ_AGAIN },
            ],
            ..OpSpec::new(f::UPDATE, Role::Work)
        },
        OpSpec {
            struck: &[StrikePoint {
                state: ClientState::Releasing,
                ..STRUCK
            }],
            ..OpSpec::new(f::DEREGISTER, Role::Leave)
        },
    ],
    fields: &[ENTRIES, VIEWS, control::AUDITED, &control::session("foreign-znode")],
};

/// What is required of a member's own entry.
const ENTRIES: &[RequiredField] = &[
    RequiredField::new(REGISTERS, &["czxid"], FieldContent::Number, "foreign-znode")
        .unless(ClientLimit::Czxid, UNOWNED),
    RequiredField::new(REGISTERS, &["path"], FieldContent::Text, "foreign-znode").unless(ClientLimit::Czxid, UNOWNED),
    RequiredField::new(REGISTERS, &["session"], FieldContent::Session, "foreign-znode")
        .unless(ClientLimit::Session, UNOWNED),
    RequiredField::new(UPDATES, &["mzxid"], FieldContent::Number, "stale-view").unless(ClientLimit::Czxid, UNWRITTEN),
    RequiredField::new(UPDATES, &["path"], FieldContent::Text, "stale-view").unless(ClientLimit::Czxid, UNWRITTEN),
];

const REGISTERS: FieldSource = FieldSource::Answer(&[f::REGISTER]);
const UPDATES: FieldSource = FieldSource::Answer(&[f::UPDATE]);
const UNOWNED: &str = "the owners of these members' znodes are compared with nothing";
const UNWRITTEN: &str = "what these updates wrote is held against no transaction";

/// What is required of views, in answers and in notices. What of a view cannot be read its own checker doubts.
const VIEWS: &[RequiredField] = &[
    RequiredField::new(ANSWERS, &["zxid"], FieldContent::Number, "stale-view"),
    RequiredField::new(ANSWERS, &["view"], FieldContent::Object, "stale-view"),
    RequiredField::new(ANSWERS, &["registered"], FieldContent::ObjectOrNull, "lost-member"),
    RequiredField::new(ANSWERS, &["registered", "path"], FieldContent::Text, "lost-member")
        .unless(ClientLimit::Czxid, UNKNOWN_ENTRY),
    RequiredField::new(ANSWERS, &["registered", "czxid"], FieldContent::Number, "lost-member")
        .unless(ClientLimit::Czxid, UNKNOWN_ENTRY),
    shown(ANSWERS, &["view", "n"], FieldContent::Number, None),
    shown(
        ANSWERS,
        &["view", "session"],
        FieldContent::Session,
        Some(ClientLimit::Session),
    ),
    shown(ANSWERS, &["view", "members"], FieldContent::ListOrNull, None),
    shown(
        ANSWERS,
        &["view", "members", "path"],
        FieldContent::Text,
        Some(ClientLimit::Czxid),
    ),
    shown(
        ANSWERS,
        &["view", "members", "czxid"],
        FieldContent::Number,
        Some(ClientLimit::Czxid),
    ),
    shown(
        ANSWERS,
        &["view", "members", "mzxid"],
        FieldContent::Number,
        Some(ClientLimit::Czxid),
    ),
    shown(ANSWERS, &["view", "members", "value"], FieldContent::Number, None),
    shown(NOTICES, &["n"], FieldContent::Number, None),
    shown(NOTICES, &["session"], FieldContent::Session, Some(ClientLimit::Session)),
    shown(NOTICES, &["members"], FieldContent::ListOrNull, None),
    shown(
        NOTICES,
        &["members", "path"],
        FieldContent::Text,
        Some(ClientLimit::Czxid),
    ),
    shown(
        NOTICES,
        &["members", "czxid"],
        FieldContent::Number,
        Some(ClientLimit::Czxid),
    ),
    shown(
        NOTICES,
        &["members", "mzxid"],
        FieldContent::Number,
        Some(ClientLimit::Czxid),
    ),
    shown(NOTICES, &["members", "value"], FieldContent::Number, None),
    RequiredField::new(
        FieldSource::Announced {
            f: control::f::VIEW,
            notice: control::notice::VIEW,
            within: false,
        },
        &["view", "n"],
        FieldContent::Number,
        "view-regression",
    ),
];

const ANSWERS: FieldSource = FieldSource::Answer(&[control::f::VIEW]);
const NOTICES: FieldSource = FieldSource::Notice(control::notice::VIEW);
const UNKNOWN_ENTRY: &str = "whether the znode by which such a client believes to be a member is gone was not judged";

const fn shown(
    of: FieldSource,
    path: &'static [&'static str],
    content: FieldContent,
    cannot: Option<ClientLimit>,
) -> RequiredField {
    RequiredField {
        cannot,
        ..RequiredField::new(of, path, content, "view-regression").doubted()
    }
}

/// While the request is on its way.
const STRUCK: StrikePoint = StrikePoint {
    state: ClientState::Acquiring,
    answered: false,
    share: 1,
    delay: Delay::Between(0, 4),
    of: |_| true,
};

/// While lists and data are read again after the change.
const READ_AGAIN: StrikePoint = StrikePoint {
    state: ClientState::Waiting,
    answered: true,
    share: 1,
    delay: Delay::Between(0, 8),
    of: |_| true,
};

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum MembershipRequest {
    /// To be a member.
    Register {
        /// The name of the member, of which its znode's name is made.
        member: String,
        /// Its value, a number that is used once in a run.
        value: i64,
    },
    /// To change its value.
    Update {
        /// The new value, a number that is used once in a run.
        value: i64,
    },
    /// To be a member no more.
    Deregister {},
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MembershipAnswer {
    /// To `register`: its entry is there.
    Registered {
        #[serde(flatten)]
        znode: ZnodeName,
        /// The session that it lives with.
        session: String,
    },
    /// To `update`: the value is written.
    Updated {
        /// The path of its znode.
        path: String,
        /// zxid of the write.
        mzxid: i64,
    },
    /// To `deregister`: it is no member.
    Deregistered {
        /// The znode that this removed; `None` where the client cannot say which.
        removed: Option<ZnodeName>,
    },
}

/// What a recipe shows its application of the group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupView {
    /// How many views this process has shown before; it counts up within a process.
    pub n: u64,
    /// The session that it was read in, as `0x…`.
    pub session: String,
    /// The members, whole; `None` if the recipe has nothing that it may show.
    pub members: Option<Vec<MemberEntry>>,
}

/// One member in a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberEntry {
    /// Its name.
    pub member: String,
    /// The path of its znode.
    pub path: String,
    /// zxid of the transaction that created that; `None` where the client cannot know it.
    pub czxid: Option<i64>,
    /// zxid of the transaction that last wrote it; `None` likewise.
    pub mzxid: Option<i64>,
    pub value: i64,
}

/// The entry by which a client believes to be a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredMember {
    /// Its name.
    pub member: String,
    #[serde(flatten)]
    pub znode: ZnodeName,
}

impl Operation for MembershipRequest {}

fields! {
    /// The name of a member.
    MEMBER, member_name: str = "member";
    /// The value of a member's entry.
    VALUE, member_value: i64 = "value";
    /// The number of a view within its process.
    N, view_number: i64 = "n";
    /// The members that a view shows; `null` if the recipe has nothing that it may show.
    MEMBERS, view_members: AnyType = "members";
    /// The view that a client answers.
    VIEW, view: AnyType = "view";
    /// The entry by which a client believes to be a member.
    REGISTERED, registered: AnyType = "registered";
}
