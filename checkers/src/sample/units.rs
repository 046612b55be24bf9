//! Finding what was done.

use super::kind::{Find, Kind};
use crate::Value;
use crate::analysis::Analysis;
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
pub fn of<'a>(run: &Analysis<'a>, kind: &Kind) -> Vec<Unit<'a>> {
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
        Find::Answered(names, field) => run
            .answered(names)
            .filter(|(_, at)| field.is_none_or(|field| run.value(*at, field).is_some()))
            .map(|(op, at)| Unit { at, node: op.node })
            .collect(),
    };
    units.sort_by_key(|unit| unit.at);
    if let Find::Answered(_, Some(field)) = kind.find {
        let mut seen: HashSet<&Value> = HashSet::new();
        units.retain(|unit| run.value(unit.at, field).is_some_and(|value| seen.insert(value)));
    }
    units
}
