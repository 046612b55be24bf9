//! Finding what was done.

use super::kind::{Find, Kind};
use crate::history::EventType;
use crate::ops::Op;
use crate::run::Run;
use serde_json::Value;
use std::collections::HashSet;

/// Something that was done.
#[derive(Debug)]
pub struct Unit<'a> {
    /// The event at which it was known to be.
    pub at: usize,
    /// The client that did it.
    pub node: &'a str,
}

/// All that was done, in order.
pub fn of<'a>(run: &Run<'a>, kind: &Kind) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = match kind.find {
        Find::Grants => {
            let all = run.grants.all.iter();
            all.filter_map(|grant| {
                Some(Unit {
                    at: grant.read?,
                    node: grant.node,
                })
            })
            .collect()
        }
        Find::Answered(names, field) => answered(run, names)
            .filter(|(_, at)| field.is_none_or(|field| value(run, *at, field).is_some()))
            .map(|(op, at)| Unit { at, node: op.node })
            .collect(),
    };
    units.sort_by_key(|unit| unit.at);
    if let Find::Answered(_, Some(field)) = kind.find {
        let mut seen: HashSet<String> = HashSet::new();
        units.retain(|unit| value(run, unit.at, field).is_some_and(|value| seen.insert(value.to_string())));
    }
    units
}

/// Operations of these names that were answered `ok`, each with the event of its answer.
pub fn answered<'r, 'a>(run: &'r Run<'a>, names: &'r [&str]) -> impl Iterator<Item = (&'r Op<'a>, usize)> {
    let named = run.ops.work.iter().filter(|op| names.contains(&op.f));
    named
        .filter_map(|op| op.end.map(|end| (op, end)))
        .filter(|(_, end)| run.events[*end].kind == EventType::Ok)
}

/// A field of an event's value; `None` also if it is `null`.
pub fn value<'a>(run: &Run<'a>, at: usize, field: &str) -> Option<&'a Value> {
    run.events[at].value.get(field).filter(|value| !value.is_null())
}
