//! The family `counter`: increments, each of which is given the value that it made as an id that no other one has.
//!
//! [`increments`] reads out of a history what was asked and answered, and what a client or the znode tree found that no
//! server can have kept back. The checkers: `duplicate-id` (two increments were given one id) is here, the others are
//! files of their own. Where they find nothing there is an order of the increments that fits: each id is the place of
//! its increment, and no one that is missing below it lacks an increment that may have been there.

mod increments;
mod lost_increment;
mod phantom_increment;

use crate::analysis::{Analysis, LatencyKind};
use crate::family_checks::{FamilyChecks, FamilyMeasures, Inference, UnitSource, answers};
use crate::findings::{Finding, Findings};
use crate::liveness::refused_for_ever;
use crate::text::{count, if_any};
use crate::verdict::Requirements;
use crate::{Results, liveness, verdict};
use increments::{CertainValues, CounterAnswer, Increments};
use lost_increment::Overwrites;
use std::collections::BTreeMap;
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
    duplicate_ids(&run, &counts, &overwrites, &mut found);
    lost_increment::check(&run, (&counts, &sure), &overwrites, &mut found);
    phantom_increment::check(&run, &counts, &sure, &mut found);
    found.doubt("values of the counter cannot be read", &counts.unread);
    liveness::check(&run, true, &mut found);
    verdict::close(&run, found, &NEEDS)
}

/// Looks for ids that were given more than once. One report for each id.
fn duplicate_ids(run: &Analysis<'_>, counts: &Increments<'_>, overwrites: &Overwrites<'_, '_>, out: &mut Findings) {
    let mut by_id: BTreeMap<i64, Vec<&CounterAnswer<'_>>> = BTreeMap::new();
    for told in &counts.given {
        by_id.entry(told.value).or_default().push(told);
    }
    for (id, all) in &by_id {
        let [first, second, more @ ..] = all.as_slice() else {
            continue;
        };
        let more = if_any(more.len(), |more| {
            format!(" It was also given to {}.", count(more, "more increment"))
        });
        let why = format!(
            "The id {id} was given twice: to an increment of {}, answered at {}, and to one of {}, answered at \
             {}.{more} Each increment adds 1, so no two of them make the same value.",
            first.node,
            run.at(first.read),
            second.node,
            run.at(second.read),
        );
        let found = Finding::new("duplicate-id", "ids are unique", vec![first.read, second.read], why);
        let first = all.iter().filter_map(|told| run.events[told.read].mzxid()).min();
        out.add(run, found.caused(first.and_then(|first| overwrites.after(first))));
    }
    out.ran("duplicate-id", counts.given.len());
}
