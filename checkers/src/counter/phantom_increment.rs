//! `phantom-increment`: the counter holds more than the increments that were sent allow.
//!
//! A value was made by as many increments: by acknowledged ones whose ids are not greater, and by others that may have
//! happened, all of them sent before the value was known. One report for each value of which more is made up than of
//! those known before.

use super::increments::{CertainValues, Increments};
use crate::analysis::Analysis;
use crate::analysis::search_trees::Ranks;
use crate::findings::{Finding, Findings};

/// A value that the counter had, and where that was known.
struct ObservedValue<'r> {
    value: i64,
    known: usize,
    /// The client, and where it read it; `None` for the znode tree.
    by: Option<&'r str>,
}

/// Looks for values that are too great.
pub fn check(run: &Analysis<'_>, counts: &Increments<'_>, sure: &CertainValues<'_>, out: &mut Findings) {
    let told = counts.given.iter().chain(&counts.got).map(|told| ObservedValue {
        value: told.value,
        known: told.read,
        by: Some(told.node),
    });
    let tree = sure.tree.iter().map(|found| ObservedValue {
        value: found.value,
        known: found.known,
        by: None,
    });
    let mut seen: Vec<ObservedValue<'_>> = told.chain(tree).collect();
    // A reading of the tree is complete before the event whose place it has.
    seen.sort_by_key(|seen| (seen.known, seen.by.is_some()));
    let mut ids: Vec<i64> = counts.given.iter().map(|told| told.value).collect();
    ids.sort_unstable();
    let mut sent: Vec<(Option<usize>, i64)> = counts.given.iter().map(|told| (told.sent, told.value)).collect();
    sent.sort_unstable();
    let mut sent = sent.into_iter().peekable();
    let mut smaller = Ranks::new(ids.len());
    let mut most = 0;
    for seen in &seen {
        while let Some((_, id)) = sent.next_if(|&(at, _)| at.is_none_or(|at| at < seen.known)) {
            smaller.add(ids.partition_point(|&other| other < id));
        }
        let acknowledged = smaller.below(ids.partition_point(|&id| id <= seen.value));
        let maybe = counts.maybe_before(seen.known);
        let made_up = seen.value.saturating_sub_unsigned((acknowledged + maybe) as u64);
        if made_up > most {
            most = made_up;
            phantom(run, seen, (acknowledged, maybe), out);
        }
    }
    out.ran("phantom-increment", seen.len());
}

fn phantom(run: &Analysis<'_>, seen: &ObservedValue<'_>, (acknowledged, maybe): (usize, usize), out: &mut Findings) {
    let who = match seen.by {
        Some(node) => format!(
            "{node} received at {} the answer that the counter held {}",
            run.at(seen.known),
            seen.value
        ),
        None => format!(
            "The znode tree, read at the end, has a counter that holds {}",
            seen.value
        ),
    };
    let why = format!(
        "{who}. Of the increments that had been sent by then only {} can have made that: {acknowledged} that were \
         given an id not greater, and {maybe} of unknown outcome. So no client invoked {} of them.",
        acknowledged + maybe,
        seen.value.saturating_sub_unsigned((acknowledged + maybe) as u64),
    );
    let witness = seen.by.map(|_| seen.known).into_iter().collect();
    let found = Finding::new("phantom-increment", "nothing is made up", witness, why);
    match seen.by {
        Some(_) => out.add(run, found),
        None => out.add_at_end(run, found, None),
    }
}
