//! Whether the transactions that answers name agree with each other, with real time and with the transaction logs.
//!
//! Disagreement is a reason against `valid`: either a client reported a wrong number, or the ensemble lost what it had
//! acknowledged and gave its numbers anew.

use super::accesses::{Access, Accesses, RegisterValue};
use super::contradictions::show;
use crate::analysis::Analysis;
use crate::findings::Findings;
use crate::text::count;
use crate::znodes::evidence_consistency::LoggedTransactions;
use std::collections::{BTreeMap, HashMap};

/// How many disagreements are named; of more only the number.
const NAMED: usize = 5;

pub fn check(run: &Analysis<'_>, accesses: &Accesses<'_>, tree: &[Access<'_>], path: &str, out: &mut Findings) {
    let mut found = Vec::new();
    let looked_at = values(run, accesses.all.iter().chain(tree), &mut found) + order(run, accesses, &mut found);
    match logs(run, accesses, path, &mut found) {
        Some(logged) => out.ran("evidence", looked_at + logged),
        None => {
            out.ran("evidence", looked_at);
            out.reasons
                .push("note: no transaction log was read; the verdict rests on the other evidence".to_owned());
        }
    }
    let more = found.len().saturating_sub(NAMED);
    let first = found.into_iter().take(NAMED);
    out.reasons
        .extend(first.map(|what| format!("evidence disagrees: {what}")));
    if more > 0 {
        out.reasons.push(format!("evidence disagrees {more} more times"));
    }
    if !accesses.ambiguous.is_empty() {
        let values: Vec<String> = accesses.ambiguous.iter().take(NAMED).map(i64::to_string).collect();
        out.reasons.push(format!(
            "{} may have been written more than once and could not be judged, such as {}",
            count(accesses.ambiguous.len(), "value"),
            values.join(", ")
        ));
    }
    if accesses.unreadable > 0 {
        out.reasons.push(format!(
            "the values of {} could not be read",
            count(accesses.unreadable, "operation")
        ));
    }
}

/// A value has one transaction, and a transaction one value.
fn values<'r, 'a: 'r>(run: &Analysis<'_>, all: impl Iterator<Item = &'r Access<'a>>, found: &mut Vec<String>) -> usize {
    let mut by_value: BTreeMap<RegisterValue, (i64, &Access<'_>)> = BTreeMap::new();
    let mut by_mzxid: HashMap<i64, (RegisterValue, &Access<'_>)> = HashMap::new();
    let mut looked_at = 0;
    let when = |access: &Access<'_>| match access.end {
        Some(end) => format!("{} reported at {}", access.node, run.at(end)),
        None => "the znode tree shows".to_owned(),
    };
    for access in all {
        let value = access.action.written().or(access.action.observed());
        let (Some(value), Some(mzxid)) = (value, access.mzxid) else {
            continue;
        };
        looked_at += 1;
        let &mut (other, before) = by_value.entry(value).or_insert((mzxid, access));
        if other != mzxid {
            found.push(format!(
                "{} that {} is of transaction 0x{mzxid:x}, while {} that it is of 0x{other:x}",
                when(access),
                show(value),
                when(before)
            ));
            continue;
        }
        let &mut (other, before) = by_mzxid.entry(mzxid).or_insert((value, access));
        if other != value {
            found.push(format!(
                "{} that transaction 0x{mzxid:x} is of {}, while {} that it is of {}",
                when(access),
                show(value),
                when(before),
                show(other)
            ));
        }
    }
    looked_at
}

/// A write that was sent when another had been acknowledged has the later transaction.
fn order(run: &Analysis<'_>, accesses: &Accesses<'_>, found: &mut Vec<String>) -> usize {
    let acknowledged = |access: &Access<'_>| {
        access.action.written()?;
        Some((access.end?, access.mzxid?, access.invoke?))
    };
    let mut writes: Vec<(usize, i64, usize)> = accesses.all.iter().filter_map(acknowledged).collect();
    writes.sort_unstable();
    let newest: Vec<(i64, usize)> = writes
        .iter()
        .scan((i64::MIN, 0), |newest, &(end, mzxid, _)| {
            *newest = (*newest).max((mzxid, end));
            Some(*newest)
        })
        .collect();
    for &(end, mzxid, invoke) in &writes {
        let before = writes.partition_point(|&(end, ..)| end < invoke).checked_sub(1);
        if let Some((newer, earlier)) = before.map(|before| newest[before]).filter(|&(newer, _)| newer > mzxid) {
            found.push(format!(
                "a write was acknowledged at {} as transaction 0x{mzxid:x}, though it was sent after one had been \
                 acknowledged at {} as transaction 0x{newer:x}",
                run.at(end),
                run.at(earlier)
            ));
        }
    }
    writes.len()
}

/// Every acknowledged write is in the transaction logs. Returns how many were looked for; `None` without logs.
fn logs(run: &Analysis<'_>, accesses: &Accesses<'_>, path: &str, found: &mut Vec<String>) -> Option<usize> {
    let logged = LoggedTransactions::new(run)?;
    let mut looked_at = 0;
    for access in accesses.all.iter().filter(|access| access.action.written().is_some()) {
        let (Some(end), Some(mzxid)) = (access.end, access.mzxid) else {
            continue;
        };
        // No log contains what came before the oldest one that is left.
        if mzxid < logged.first {
            continue;
        }
        looked_at += 1;
        let Some(there) = logged.instead_of(mzxid, path, |op| op == "setData") else {
            continue;
        };
        found.push(format!(
            "a write of {} was acknowledged to {} at {} as transaction 0x{mzxid:x}, but the transaction log has {there}",
            show(access.action.written().flatten()),
            access.node,
            run.at(end)
        ));
    }
    Some(looked_at)
}
