//! What a family calls the things that all exclusive grants have in common: a lock is acquired, a leadership is won.

/// Names of operations, anomalies and things of one family of exclusive grants.
#[derive(Debug)]
pub struct GrantTerms {
    /// The operation that asks for a grant.
    pub acquire: &'static str,
    /// The operation by which a holder works under it.
    pub work: &'static str,
    /// The operation that gives it back.
    pub release: &'static str,
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

/// Of a family that grants nothing.
pub const NONE: GrantTerms = GrantTerms {
    acquire: "",
    work: "",
    release: "",
    thing: "",
    double: "",
    stale_holder: "",
    regression: "",
    pending: "",
    idle: "",
};

/// Of a lock.
pub const LOCK: GrantTerms = GrantTerms {
    acquire: "acquire",
    work: "write",
    release: "release",
    thing: "the lock",
    double: "double-grant",
    stale_holder: "stale-holder",
    regression: "fencing-regression",
    pending: "lost-wakeup",
    idle: "idle-lock",
};

/// Of an election.
pub const ELECTION: GrantTerms = GrantTerms {
    acquire: "elect",
    work: "write",
    release: "resign",
    thing: "the leadership",
    double: "two-leaders",
    stale_holder: "stale-leader",
    regression: "epoch-regression",
    pending: "no-leader",
    idle: "leaderless",
};

/// Of a semaphore. With one lease, too, two clients are more than may hold.
pub const SEMAPHORE: GrantTerms = GrantTerms {
    work: "work",
    thing: "a lease",
    double: "over-capacity",
    regression: "",
    ..LOCK
};

/// What a family calls them.
pub fn for_family(family: &str) -> &'static GrantTerms {
    match family {
        "lock" | "rwlock" => &LOCK,
        "election" => &ELECTION,
        "semaphore" => &SEMAPHORE,
        _ => &NONE,
    }
}
