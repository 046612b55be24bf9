//! What is counted and waited for where something is granted.

use crate::analysis::LatencyKind;
use crate::sample::{FamilyMeasures, UnitSource};

/// Of locks and semaphores.
pub const GRANTS: FamilyMeasures = FamilyMeasures {
    units: "grants",
    unit: "grant",
    wait: "hand-over",
    wait_sentence: "from the sending of a release to the reading of the next grant, where a client was waiting",
    compete: true,
    source: UnitSource::Grants,
    latency: LatencyKind::HandOver,
};

/// Of elections.
pub const TERMS: FamilyMeasures = FamilyMeasures {
    units: "terms",
    unit: "term",
    wait_sentence: "from the sending of a resignation to the reading of the next election, where a candidate was waiting",
    ..GRANTS
};
