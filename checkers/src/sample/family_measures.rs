//! What is counted and waited for, in the terms of each family.

use crate::analysis::LatencyKind;
use crate::plan::Workload;

/// What a family does, in words and by its operations.
#[derive(Debug, PartialEq, Eq)]
pub struct FamilyMeasures {
    /// What is done, in the plural.
    pub units: &'static str,
    /// One of them.
    pub unit: &'static str,
    /// What is waited for, as a heading.
    pub wait: &'static str,
    /// From what to what, in a sentence.
    pub wait_sentence: &'static str,
    /// Whether the clients compete, so that it makes sense to ask whether all get the same share.
    pub compete: bool,
    /// How units are found.
    pub(super) find: Find,
    /// The latencies that the waits are.
    pub latency: LatencyKind,
}

/// How units are found in a history.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// Grants that were read.
    Grants,
    /// Operations of these names that were answered `ok`; if a field is named, the first of each of its values, and
    /// none without a value.
    Answered(&'static [&'static str], Option<&'static str>),
}

const LOCK: FamilyMeasures = FamilyMeasures {
    units: "grants",
    unit: "grant",
    wait: "hand-over",
    wait_sentence: "from the sending of a release to the reading of the next grant, where somebody was waiting",
    compete: true,
    find: Find::Grants,
    latency: LatencyKind::HandOver,
};

const ELECTION: FamilyMeasures = FamilyMeasures {
    units: "terms",
    unit: "term",
    wait_sentence: "from the sending of a resignation to the reading of the next election, where somebody stood",
    ..LOCK
};

const ITEMS: FamilyMeasures = FamilyMeasures {
    units: "items",
    unit: "item",
    wait: "delivery",
    wait_sentence: "from the answer to an item's enqueue to the first answer that gave it to a client",
    compete: false,
    find: Find::Answered(&["dequeue"], Some("item")),
    latency: LatencyKind::Delivery,
};

const ROUNDS: FamilyMeasures = FamilyMeasures {
    units: "rounds",
    unit: "round",
    wait: "opening",
    wait_sentence: "from the sending of the last request by which a member arrives to each answer that lets a client in",
    compete: false,
    find: Find::Answered(&["enter"], Some("round")),
    latency: LatencyKind::Opening,
};

const COMMIT: FamilyMeasures = FamilyMeasures {
    units: "transactions",
    unit: "transaction",
    wait: "decision",
    wait_sentence: "from the sending of a transaction's begin to each answer that tells a site its decision",
    compete: false,
    find: Find::Answered(&["decided"], Some("tx")),
    latency: LatencyKind::Decision,
};

const REGISTER: FamilyMeasures = FamilyMeasures {
    units: "operations",
    unit: "operation",
    wait: "answer",
    wait_sentence: "from the sending of a read, write or compare-and-set to its answer",
    compete: false,
    find: Find::Answered(&["read", "write", "cas"], None),
    latency: LatencyKind::Answer,
};

const COUNTER: FamilyMeasures = FamilyMeasures {
    units: "increments",
    unit: "increment",
    wait_sentence: "from the sending of an increment or a get to its answer",
    find: Find::Answered(&["increment"], None),
    ..REGISTER
};

/// What a workload does.
pub fn kind(workload: &Workload) -> &'static FamilyMeasures {
    match workload.family.as_str() {
        "election" => &ELECTION,
        "barrier" => &ROUNDS,
        "queue" => &ITEMS,
        "commit" => &COMMIT,
        "register" => &REGISTER,
        "counter" => &COUNTER,
        _ => &LOCK,
    }
}
