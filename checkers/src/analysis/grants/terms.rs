//! What a family calls the things that all exclusive grants have in common: a lock is acquired, a leadership is won.

use zooquake_history::operation::{GrantOps, election, lock, rwlock, semaphore};

/// Names of operations, anomalies and things of one family of exclusive grants.
#[derive(Debug)]
pub struct GrantTerms {
    /// The operations.
    pub ops: GrantOps,
    /// What is granted, for texts.
    pub thing: &'static str,
    /// Anomaly: two clients confirmed that each holds.
    pub double: &'static str,
    /// Anomaly, advisory: certain holds overlap otherwise.
    pub stale_holder: &'static str,
    /// Anomaly: a later grant has no higher token.
    pub regression: &'static str,
    /// Anomaly: nobody is granted though nobody holds.
    pub pending: &'static str,
    /// Anomaly, advisory: for long nobody holds though somebody waits, and no fault is near.
    pub idle: &'static str,
}

/// The families that grant.
pub const GRANTING: &[(&str, &GrantTerms)] = &[
    (lock::FAMILY.name, &LOCK),
    (rwlock::FAMILY.name, &RWLOCK),
    (election::FAMILY.name, &ELECTION),
    (semaphore::FAMILY.name, &SEMAPHORE),
];

/// Of a family that grants nothing: no operation and no anomaly has these names.
const NOTHING: GrantTerms = GrantTerms {
    ops: GrantOps {
        takes: "",
        reads: None,
        works: "",
        gives: "",
    },
    thing: "",
    double: "",
    stale_holder: "",
    regression: "",
    pending: "",
    idle: "",
};

const LOCK: GrantTerms = GrantTerms {
    ops: lock::FAMILY.grant_ops(),
    thing: "the lock",
    double: "double-grant",
    stale_holder: "stale-holder",
    regression: "fencing-regression",
    pending: "lost-wakeup",
    idle: "idle-lock",
};

/// Of a read-write lock.
const RWLOCK: GrantTerms = GrantTerms {
    ops: rwlock::FAMILY.grant_ops(),
    ..LOCK
};

const ELECTION: GrantTerms = GrantTerms {
    ops: election::FAMILY.grant_ops(),
    thing: "the leadership",
    double: "two-leaders",
    stale_holder: "stale-leader",
    regression: "epoch-regression",
    pending: "no-leader",
    idle: "leaderless",
};

/// Of a semaphore. With one lease, too, two clients are more than may hold.
const SEMAPHORE: GrantTerms = GrantTerms {
    ops: semaphore::FAMILY.grant_ops(),
    thing: "a lease",
    double: "over-capacity",
    regression: "",
    ..LOCK
};

/// What a family calls them.
pub fn for_family(family: &str) -> &'static GrantTerms {
    let found = GRANTING.iter().find(|(name, _)| *name == family);
    found.map_or(&NOTHING, |(_, terms)| terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::operation::FAMILIES;

    #[test]
    fn each_family_that_grants_has_terms() {
        let granting = FAMILIES.iter().filter(|family| family.grants).map(|family| family.name);
        assert!(granting.eq(GRANTING.iter().map(|(name, _)| *name)));
    }
}
