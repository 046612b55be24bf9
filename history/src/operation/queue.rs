//! Operations on the items of a queue.

use super::{
    Delay, Family, FieldContent, FieldSource, OpSpec, Operation, Replacement, RequiredField, Role, StrikePoint,
    ZnodeName, control, fields,
};
use crate::plan::{ClientState, Delivery};
use crate::protocol::ClientLimit;
use serde::{Deserialize, Serialize};

/// Names of the operations.
pub mod f {
    /// To put an item at the end.
    pub const ENQUEUE: &str = "enqueue";
    /// To take the first item.
    pub const DEQUEUE: &str = "dequeue";
    /// To end the life of an item that was delivered.
    pub const ACKNOWLEDGE: &str = "acknowledge";
}

/// Queues.
pub const FAMILY: Family = Family {
    name: "queue",
    recipes: true,
    grants: false,
    ops: &[
        OpSpec {
            again: Replacement::Same,
            struck: &[
                SOON,
                StrikePoint {
                    state: ClientState::Waiting,
                    ..SOON
                },
            ],
            ..OpSpec::new(f::ENQUEUE, Role::Work)
        },
        OpSpec {
            again: Replacement::Same,
            struck: &[
                StrikePoint {
                    state: ClientState::Working,
                    ..SOON
                },
                StrikePoint {
                    state: ClientState::Releasing,
                    of: |capabilities| capabilities.delivery == Delivery::AtMostOnce,
                    ..SOON
                },
            ],
            ..OpSpec::new(f::DEQUEUE, Role::Take)
        },
        OpSpec {
            struck: &[
                ACKNOWLEDGING,
                StrikePoint {
                    state: ClientState::Working,
                    ..ACKNOWLEDGING
                },
            ],
            ..OpSpec::new(f::ACKNOWLEDGE, Role::Leave)
        },
    ],
    fields: &[
        &[
            TAKING,
            RequiredField::new(
                FieldSource::Notice(control::notice::TAKING),
                &["item"],
                FieldContent::Number,
                "lost-item",
            ),
            RequiredField::new(
                FieldSource::Answer(&[f::DEQUEUE]),
                &["item"],
                FieldContent::NumberOrNull,
                "lost-item",
            )
            .doubted(),
        ],
        &control::confirmed("lost-item"),
        control::AUDITED,
    ],
};

/// An item is named before it is taken: of a dequeue that is not answered nobody will know otherwise what it took.
pub const TAKING: RequiredField = RequiredField::new(
    FieldSource::Announced {
        f: f::DEQUEUE,
        notice: control::notice::TAKING,
        within: true,
    },
    &["item"],
    FieldContent::NumberOrNull,
    "lost-item",
)
.unless(ClientLimit::Taking, "");

/// While the request is on its way.
const SOON: StrikePoint = StrikePoint {
    state: ClientState::Acquiring,
    answered: false,
    share: 1,
    delay: Delay::Between(0, 2),
    of: |_| true,
};

const ACKNOWLEDGING: StrikePoint = StrikePoint {
    state: ClientState::Releasing,
    of: |capabilities| capabilities.delivery == Delivery::AtLeastOnce,
    ..SOON
};

/// What a client is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum QueueRequest {
    /// To put an item at the end.
    Enqueue {
        /// The item, a number that is used once in a run.
        item: i64,
    },
    /// To take the first item.
    Dequeue {},
    /// To end the life of an item that it was given.
    Acknowledge { item: i64 },
}

/// What a client answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum QueueAnswer {
    /// To `enqueue`: it is there. To `dequeue`: it is claimed by the client.
    Stored {
        item: i64,
        /// Its znode, or that of the claim.
        #[serde(flatten)]
        znode: ZnodeName,
    },
    /// To `dequeue`: the item it was given, `None` if the queue was empty. To `acknowledge`: the item.
    Item { item: Option<i64> },
}

impl Operation for QueueRequest {}

fields! {
    ITEM, item: i64 = "item";
}
