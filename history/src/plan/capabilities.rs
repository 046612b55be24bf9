//! What a variant promises beyond what its family does.

use super::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::time::Duration;

/// What a variant promises beyond what every variant of its family does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// Of a queue: how often it delivers an item.
    #[serde(skip_serializing_if = "is_default")]
    pub delivery: Delivery,
    /// Of a register: what its reads show.
    #[serde(skip_serializing_if = "is_default")]
    pub reads: RegisterReads,
    /// Of an election: whether the leader writes an acknowledgement znode before its first write.
    #[serde(skip_serializing_if = "is_default")]
    pub acknowledges: bool,
    /// Of a barrier: whether members join, and others wait for the start; else all enter and leave together.
    #[serde(skip_serializing_if = "is_default")]
    pub members: bool,
    /// Of a barrier: whether it is a gate, which one client raises and lifts, and at which the others wait meanwhile.
    #[serde(skip_serializing_if = "is_default")]
    pub gate: bool,
    /// Of what grants: how many may hold exclusively at a time.
    #[serde(skip_serializing_if = "is_one")]
    pub capacity: NonZeroUsize,
    /// Of what grants, and of a barrier whose members enter and leave together: whether a client may remove another
    /// one's znode.
    #[serde(skip_serializing_if = "is_default")]
    pub helpers: bool,
    /// Of a semaphore: milliseconds for which a lease lasts by its client's clock; 0 for one that lasts until it is
    /// given back or its session ends.
    #[serde(skip_serializing_if = "is_default")]
    pub lease_ms: u64,
    /// Of leases that last for a time: milliseconds by which their clients' clocks may differ.
    #[serde(skip_serializing_if = "is_default")]
    pub margin_ms: u64,
}

/// The kinds of barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierKind {
    /// All clients enter together and leave together.
    Double,
    /// Members join, and one client waits for the start.
    Tutorial,
    /// One client raises it and lifts it, and the others wait at it.
    Gate,
}

/// For how long a lease lasts by its client's clock, which begins it between the sending of its request and the reading
/// of its grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// What the client is granted.
    pub lasts: Duration,
    /// By how much clocks may differ.
    pub margin: Duration,
}

impl LeaseTerm {
    /// How long after the sending of its request a lease certainly lasts.
    pub fn least(self) -> Duration {
        self.lasts.saturating_sub(self.margin)
    }

    /// How long after the reading of its grant a lease lasts at most.
    pub fn most(self) -> Duration {
        self.lasts.saturating_add(self.margin)
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::NONE
    }
}

/// How often a queue delivers an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// Once at most: a dequeue removes the item.
    #[default]
    AtMostOnce,
    /// Until it is acknowledged.
    AtLeastOnce,
}

/// What the reads of a register show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterReads {
    /// Any state since the last write of their session.
    #[default]
    Session,
    /// What was written last.
    Linearizable,
}

fn is_one(capacity: &NonZeroUsize) -> bool {
    *capacity == NonZeroUsize::MIN
}

impl Capabilities {
    /// Nothing beyond its family.
    pub const NONE: Self = Self {
        delivery: Delivery::AtMostOnce,
        reads: RegisterReads::Session,
        acknowledges: false,
        members: false,
        gate: false,
        capacity: NonZeroUsize::MIN,
        helpers: false,
        lease_ms: 0,
        margin_ms: 0,
    };

    /// Of a barrier: its kind.
    pub fn barrier_kind(&self) -> BarrierKind {
        match (self.members, self.gate) {
            (true, _) => BarrierKind::Tutorial,
            (false, true) => BarrierKind::Gate,
            (false, false) => BarrierKind::Double,
        }
    }

    /// For how long leases last; `None` if not for a time.
    pub fn lease_term(&self) -> Option<LeaseTerm> {
        (self.lease_ms > 0).then(|| LeaseTerm {
            lasts: Duration::from_millis(self.lease_ms),
            margin: Duration::from_millis(self.margin_ms),
        })
    }

    /// Those of a variant whose plan does not name them, as plans of earlier versions do not, by its name. A planted
    /// variant is named after the one that it was made from.
    pub fn of_former(family: &str, variant: &str) -> Self {
        let is = |of: &str, name: &str| family == of && variant.starts_with(name);
        Self {
            delivery: match is("queue", "claimed") {
                true => Delivery::AtLeastOnce,
                false => Delivery::AtMostOnce,
            },
            reads: match is("register", "quorum-read") {
                true => RegisterReads::Linearizable,
                false => RegisterReads::Session,
            },
            acknowledges: (family, variant) == ("election", "acknowledged"),
            members: family == "barrier" && !is("barrier", "double") && !is("barrier", "gate"),
            gate: is("barrier", "gate"),
            ..Self::NONE
        }
    }
}
