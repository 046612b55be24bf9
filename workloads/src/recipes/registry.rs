//! Every variant there is, with what it promises and what is known to go wrong with it.

use std::sync::Arc;

use zooquake_checkers::plan::{Accepted, Resource, Workload};

use super::lock::{Children, PARENT, Predecessor, Protected, Shipped};
use super::{Env, Recipe};

/// A variant of a recipe.
pub struct Variant {
    /// `lock`, …
    pub family: &'static str,
    /// `predecessor`, …
    pub name: &'static str,
    /// What it is and promises, in a sentence.
    pub promise: &'static str,
    /// Where the protected resource lives.
    pub resource: Resource,
    /// Whether its grants carry a token.
    pub fenced: bool,
    /// Parents of its contender znodes.
    pub contenders: &'static [&'static str],
    /// What is known to go wrong.
    pub accepted: &'static [Known],
    /// Makes a client's recipe object.
    pub build: fn(&Env) -> anyhow::Result<Recipe>,
}

/// An anomaly that is known and accepted.
pub struct Known {
    /// Its name.
    pub anomaly: &'static str,
    /// The kinds of fault under which it is.
    pub faults: &'static [&'static str],
    /// Why it happens.
    pub reason: &'static str,
    /// Where that is known from.
    pub source: &'static str,
}

impl Variant {
    /// Its description in a plan.
    pub fn workload(&self) -> Workload {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        Workload {
            family: self.family.to_string(),
            variant: self.name.to_string(),
            promise: self.promise.to_string(),
            resource: self.resource,
            fenced: self.fenced,
            contenders: owned(self.contenders),
            accepted: self
                .accepted
                .iter()
                .map(|known| Accepted {
                    anomaly: known.anomaly.to_string(),
                    faults: owned(known.faults),
                    reason: known.reason.to_string(),
                    source: known.source.to_string(),
                })
                .collect(),
        }
    }
}

/// All variants, by family, in the order in which they are shown.
pub fn registry() -> &'static [Variant] {
    REGISTRY
}

/// The variant of this name.
pub fn variant(family: &str, name: &str) -> Option<&'static Variant> {
    REGISTRY
        .iter()
        .find(|variant| variant.family == family && variant.name == name)
}

/// The description of a variant in a plan.
pub fn workload(family: &str, name: &str) -> Option<Workload> {
    variant(family, name).map(Variant::workload)
}

const REGISTRY: &[Variant] = &[
    Variant {
        family: "lock",
        name: "children",
        promise: "the tutorial's: everybody watches the list of children; exclusive while nobody loses a session",
        resource: Resource::External,
        fenced: false,
        contenders: &[PARENT],
        accepted: &[
            FROZEN,
            CUT_OFF,
            Known {
                reason: CHILDREN_ORPHAN,
                ..ORPHAN
            },
            Known {
                reason: CHILDREN_STUCK,
                ..STUCK
            },
        ],
        build: |env| Ok(Recipe::Lock(Arc::new(Children::new(env)))),
    },
    Variant {
        family: "lock",
        name: "predecessor",
        promise: "the tutorial's: watches the znode before its own, releases by closing the session; exclusive while nobody \
                  loses a session",
        resource: Resource::External,
        fenced: false,
        contenders: &[PARENT],
        accepted: &[FROZEN, CUT_OFF, ORPHAN, STUCK],
        build: |env| Ok(Recipe::Lock(Arc::new(Predecessor::new(env)))),
    },
    Variant {
        family: "lock",
        name: "protected",
        promise: "finds its znode again, gives up when disconnected, leaves nothing behind: exclusive but for a holder that \
                  is frozen or cut off for longer than its session",
        resource: Resource::External,
        fenced: false,
        contenders: &[PARENT],
        accepted: &[PROTECTED_FROZEN, PROTECTED_CUT_OFF],
        build: |env| Ok(Recipe::Lock(Arc::new(Protected::new(env, false)))),
    },
    Variant {
        family: "lock",
        name: "fenced",
        promise: "protected, and each write carries the czxid of its lock znode: no stale write under any fault",
        resource: Resource::External,
        fenced: true,
        contenders: &[PARENT],
        accepted: &[],
        build: |env| Ok(Recipe::Lock(Arc::new(Protected::new(env, true)))),
    },
    Variant {
        family: "lock",
        name: "crate",
        promise: "zookeeper-client's own `Client::lock`: writes in ZooKeeper are guarded by its lock znode, so none is stale",
        resource: Resource::Zookeeper,
        fenced: false,
        contenders: &[PARENT],
        accepted: &[SHIPPED_ORPHAN, SHIPPED_STUCK],
        build: |env| Ok(Recipe::Lock(Arc::new(Shipped::new(env)?))),
    },
];

const FROZEN: Known = Known {
    anomaly: "stale-write",
    faults: &["pause"],
    reason: "a holder frozen for longer than its session timeout goes on with its work when it thaws, and believes in its \
             lock until it releases it, since session events are ignored",
    source: "Curator TN10, CURATOR-206",
};

const CUT_OFF: Known = Known {
    anomaly: "stale-write",
    faults: &["partition"],
    reason: "session events are ignored, so a holder that is cut off for longer than its session timeout goes on working \
             while the next one is granted",
    source: "twitter/commons 5, Curator TN10",
};

const ORPHAN: Known = Known {
    anomaly: "orphan-node",
    faults: &["kill", "pause", "partition"],
    reason: "a request whose reply is lost ends the attempt with an error; the session stays open, and with it the znode \
             that was created",
    source: "ZOOKEEPER-1262",
};

const STUCK: Known = Known {
    anomaly: "lost-wakeup",
    faults: &["kill", "pause", "partition"],
    reason: "an error or the session's end inside the watch callback is only printed, and the attempt never ends; and \
             everybody waits behind the znode of an attempt that ended with an error",
    source: "ZOOKEEPER-1262, the tutorial's text",
};

const CHILDREN_ORPHAN: &str = "a create or delete whose reply is lost, or a listing that fails, ends the operation with an \
                               error and leaves the znode to the session, which lives on";

const CHILDREN_STUCK: &str = "everybody waits behind the znode of an attempt or release that ended with an error, whose \
                              session lives on";

const PROTECTED_FROZEN: Known = Known {
    anomaly: "stale-write",
    faults: &["pause"],
    reason: "a holder frozen for longer than its session timeout between its check and its write writes when it thaws; only \
             a fencing token stops it",
    source: "Curator TN10, CURATOR-206",
};

const PROTECTED_CUT_OFF: Known = Known {
    anomaly: "stale-write",
    faults: &["partition"],
    reason: "work that began before the cut and lasts longer than the session is not interrupted; and where syncLimit × \
             tickTime exceeds the session timeout, a cut-off server serves a holder whose session has expired",
    source: "Curator TN10, ZOOKEEPER-1675",
};

const SHIPPED_ORPHAN: Known = Known {
    anomaly: "orphan-node",
    faults: &["kill", "pause", "partition"],
    reason: "only `ConnectionLoss` is retried: after a stall or a reset (`Error::Custom`) a create is cleaned up by a bare \
             child name, which is no path, and the delete of a dropped lock is not repeated; the session lives on",
    source: "zookeeper-client 0.11.2, src/client/mod.rs: delete_ephemeral_background, delete_foreground",
};

const SHIPPED_STUCK: Known = Known {
    anomaly: "lost-wakeup",
    faults: &["kill", "pause", "partition"],
    reason: "everybody waits behind the lock znode that a failed acquire or a dropped lock has left to its live session",
    source: "zookeeper-client 0.11.2, src/client/mod.rs: create_lock, LockClient::drop",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for variant in registry() {
            let workload = workload(variant.family, variant.name).unwrap();
            assert_eq!(workload.name(), format!("{}/{}", variant.family, variant.name));
            let same = registry()
                .iter()
                .filter(|other| (other.family, other.name) == (variant.family, variant.name));
            assert_eq!(same.count(), 1);
        }
        assert!(workload("lock", "no-such").is_none());
    }

    #[test]
    fn nothing_is_accepted_without_faults() {
        for variant in registry() {
            for known in variant.accepted {
                assert!(
                    !known.faults.is_empty() && !known.faults.contains(&"none"),
                    "{}",
                    variant.name
                );
                assert!(!known.reason.is_empty() && !known.source.is_empty());
            }
        }
        assert!(variant("lock", "fenced").unwrap().accepted.is_empty());
    }
}
