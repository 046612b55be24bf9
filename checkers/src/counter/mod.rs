//! The family `counter`: increments, each of which is given the value that it made as an id that no other one has.
//!
//! `counts` reads out of a history what was asked and answered, `sure` what a client or the znode tree found that no
//! server can have kept back. The checkers: `duplicate`, `lost`, `phantom`. Where they find nothing there is an order
//! of the increments that fits: each id is the place of its increment, and no one that is missing below it lacks an
//! increment that may have been there.

mod certain_values;
mod duplicate_id;
mod increments;
mod lost_increment;
mod phantom_increment;

use crate::analysis::{Analysis, LatencyKind};
use crate::cause::overwrite::Overwrites;
use crate::families::FamilyChecks;
use crate::findings::Findings;
use crate::inferred_plan::{Inference, answers};
use crate::liveness::refused_for_ever;
use crate::sample::{FamilyMeasures, UnitSource};
use crate::verdict::Requirements;
use crate::{Results, liveness, verdict};
use certain_values::CertainValues;
use increments::Increments;
use zooquake_history::Record;
use zooquake_history::operation::counter::{self, ID, f};

/// The znode that is the counter.
const PATH: &str = "/counter";

/// The family of counters.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &counter::FAMILY,
    check,
    checkers: &[
        "duplicate-id",
        "lost-increment",
        "phantom-increment",
        refused_for_ever::NAME,
    ],
    measures: Some(FamilyMeasures {
        units: "increments",
        unit: "increment",
        wait: "answer",
        wait_sentence: "from the sending of an increment or a get to its answer",
        compete: false,
        source: UnitSource::Answered(&[f::INCREMENT], None),
        latency: LatencyKind::Answer,
    }),
    infer: |history| {
        let given = answers(history).any(|event| event.f == f::INCREMENT && event.get(ID.any()).is_some());
        given.then(|| Inference::family("increments are given ids, so it was judged as a counter that began at 0"))
    },
    needs_plan: &[],
};

const NEEDS: Requirements = Requirements {
    progress: &[&[f::INCREMENT], &[f::GET]],
    tree: "what the counter held at last was not looked at",
    logged: &[],
};

/// The whole verdict over a run of a counter.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let counts = Increments::new(&run);
    let sure = CertainValues::new(&run, &counts, PATH, &mut found);
    let overwrites = Overwrites::new(&run, PATH);
    duplicate_id::check(&run, &counts, &overwrites, &mut found);
    lost_increment::check(&run, (&counts, &sure), &overwrites, &mut found);
    phantom_increment::check(&run, &counts, &sure, &mut found);
    found.doubt("values of the counter cannot be read", &counts.unread);
    liveness::check(&run, true, &mut found);
    verdict::close(&run, found, &NEEDS)
}
