//! `duplicate-id`: two increments were given one id. One report for each id.

use super::increments::{CounterAnswer, Increments};
use crate::analysis::Analysis;
use crate::cause::overwrite::Overwrites;
use crate::findings::{Finding, Findings};
use crate::text::{count, if_any};
use std::collections::BTreeMap;

/// Looks for ids that were given more than once.
pub fn check(run: &Analysis<'_>, counts: &Increments<'_>, overwrites: &Overwrites<'_, '_>, out: &mut Findings) {
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
