//! Operations of the members of a barrier, and of those who keep a gate or wait at it.

use super::{
    Delay, Family, FieldContent, FieldSource, OpSpec, Operation, Replacement, RequiredField, Role, StrikePoint,
    ZnodeName, control, fields,
};
use crate::plan::{BarrierKind, Capabilities, ClientState, Workload};
use crate::protocol::ClientLimit;
use serde::{Deserialize, Serialize};

/// Names of the operations.
pub mod f {
    /// To join as a member, which does not wait for the others.
    pub const JOIN: &str = "join";
    /// To wait until the barrier opens.
    pub const ENTER: &str = "enter";
    /// To wait until all have left.
    pub const LEAVE: &str = "leave";
    /// To close its session of the round.
    pub const CLOSE: &str = "close";
    /// To raise a gate.
    pub const RAISE: &str = "raise";
    /// To wait until the gate is lifted; where none stands, not at all.
    pub const WAIT: &str = "wait";
    /// To lift the gate.
    pub const LIFT: &str = "lift";
}

/// Barriers. One that dies between its join and its close leaves its znode to the next round.
pub const FAMILY: Family = Family {
    name: "barrier",
    recipes: true,
    grants: false,
    ops: &[
        OpSpec {
            struck: &[
                JOINING,
                StrikePoint {
                    state: ClientState::Working,
                    ..JOINING
                },
                StrikePoint {
                    answered: true,
                    share: 2,
                    delay: Delay::Between(0, 100),
                    state: ClientState::Working,
                    ..JOINING
                },
                StrikePoint {
                    state: ClientState::Waiting,
                    ..JOINING
                },
            ],
            ..OpSpec::new(f::JOIN, Role::Work)
        },
        OpSpec {
            struck: &[StrikePoint {
                state: ClientState::Releasing,
                delay: Delay::Between(0, 2),
                ..JOINING
            }],
            ..OpSpec::new(f::CLOSE, Role::Leave)
        },
        OpSpec {
            waits: true,
            again: Replacement::Same,
            struck: &[
                ENTERING,
                StrikePoint {
                    state: ClientState::Working,
                    ..ENTERING
                },
                StrikePoint {
                    state: ClientState::Waiting,
                    ..ENTERING
                },
            ],
            ..OpSpec::new(f::ENTER, Role::Wait)
        },
        OpSpec {
            waits: true,
            struck: &[StrikePoint {
                state: ClientState::Releasing,
                delay: Delay::Same,
                ..ENTERING
            }],
            ..OpSpec::new(f::LEAVE, Role::Leave)
        },
        OpSpec {
            again: Replacement::Same,
            struck: &[
                RAISING,
                // While the gate stands, and its keeper does nothing.
                StrikePoint {
                    answered: true,
                    delay: Delay::Between(0, 100),
                    state: ClientState::Working,
                    ..RAISING
                },
            ],
            ..OpSpec::new(f::RAISE, Role::Work)
        },
        OpSpec {
            waits: true,
            again: Replacement::Same,
            struck: &[
                StrikePoint {
                    state: ClientState::Waiting,
                    ..RAISING
                },
                StrikePoint {
                    share: 2,
                    state: ClientState::Working,
                    ..RAISING
                },
            ],
            ..OpSpec::new(f::WAIT, Role::Wait)
        },
        OpSpec {
            again: Replacement::Same,
            struck: &[StrikePoint {
                state: ClientState::Releasing,
                ..RAISING
            }],
            ..OpSpec::new(f::LIFT, Role::Leave)
        },
    ],
    fields: &[MEMBER_FIELDS, control::AUDITED, &control::session("stuck-barrier")],
};

/// What is required of members: of those that enter, their znodes and what they removed; of all, their sessions.
const MEMBER_FIELDS: &[RequiredField] = &[
    RequiredField::new(ENTERS, &["czxid"], FieldContent::Number, "early-release")
        .unless(
            ClientLimit::Czxid,
            "a client that entered so is not shown to have been inside when others left; early entries are judged",
        )
        .asked(enter_together),
    RequiredField::new(ENTERS, &["path"], FieldContent::Text, "stolen-znode")
        .unless(
            ClientLimit::Czxid,
            "deletes in the transaction logs convict nobody of these places",
        )
        .asked(enter_together),
    RequiredField {
        once: true,
        ..RequiredField::new(
            FieldSource::Answer(&[f::LEAVE]),
            &["removed"],
            FieldContent::Znode,
            "early-release",
        )
        .unless(
            ClientLimit::Removed,
            "a client that left so is not shown to have been inside when others left; early entries are judged",
        )
        .asked(enter_together)
    },
    RequiredField::new(ENTERS, &["session"], FieldContent::Session, "stuck-barrier")
        .unless(ClientLimit::Session, GONE)
        .asked(enter_together),
    RequiredField::new(
        FieldSource::Answer(&[f::JOIN]),
        &["session"],
        FieldContent::Session,
        "stuck-barrier",
    )
    .unless(ClientLimit::Session, GONE)
    .asked(|workload| workload.capabilities().members),
];

const ENTERS: FieldSource = FieldSource::Answer(&[f::ENTER]);

const GONE: &str = "such a member counts as gone when any session of its client ends";

fn enter_together(workload: &Workload) -> bool {
    all_enter(&workload.capabilities())
}

const JOINING: StrikePoint = StrikePoint {
    state: ClientState::Acquiring,
    answered: false,
    share: 1,
    delay: Delay::Between(2, 8),
    of: |capabilities| capabilities.members,
};

const ENTERING: StrikePoint = StrikePoint {
    delay: Delay::AtMost(60),
    of: all_enter,
    ..JOINING
};

const RAISING: StrikePoint = StrikePoint {
    delay: Delay::Same,
    of: |capabilities| capabilities.gate,
    ..JOINING
};

fn all_enter(capabilities: &Capabilities) -> bool {
    capabilities.barrier_kind() == BarrierKind::Double
}

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum BarrierRequest {
    /// To join as a member, which does not wait for the others.
    Join {
        /// The round, from 1.
        round: i64,
        /// The number of members at which the barrier opens.
        members: usize,
        /// Which of them it is.
        #[serde(default)]
        member: u64,
    },
    /// To wait until the barrier opens.
    Enter {
        round: i64,
        /// The number of members at which the barrier opens.
        members: usize,
    },
    /// To wait until all have left.
    Leave { round: i64 },
    /// To close its session of the round.
    Close { round: i64 },
    /// To raise the gate of the round.
    Raise { round: i64 },
    /// To wait until the gate of the round is lifted.
    Wait { round: i64 },
    /// To lift the gate of the round.
    Lift { round: i64 },
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum BarrierAnswer {
    /// To `join`: it is a member. To `enter`, where members enter: all are there.
    Member {
        round: i64,
        #[serde(flatten)]
        znode: ZnodeName,
        /// The session that it lives with.
        session: String,
    },
    /// To `enter`, where members join: the barrier has opened.
    Opened {
        round: i64,
        /// The session that saw it.
        session: String,
    },
    /// To `leave`: all have left.
    Left {
        round: i64,
        /// Its znode; `None` where the client cannot prove that it removed that itself.
        removed: Option<ZnodeName>,
    },
    /// To `close`: its session is closed. To `raise`: the gate stands. To `lift`, and to `wait`: it does not, or no
    /// more.
    Round { round: i64 },
}

impl Operation for BarrierRequest {}

fields! {
    ROUND, round: i64 = "round";
    /// The number of members at which the barrier opens.
    MEMBERS, members: i64 = "members";
    /// Which of the members a client is.
    MEMBER, member: i64 = "member";
}
