//! The resource: it accepts no write of an older exclusive grant after one of a newer grant that excludes it.
//!
//! A grant's age is the czxid of the znode it rests on. Where that is not known, or the older grant is shared, only
//! interleaving convicts: accepted writes of grants A, B, A in this order fit no order of grants that exclude each
//! other. Writes whose outcome is unknown never count. A resource outside of ZooKeeper takes writes in the order in
//! which their replies were read; of one in ZooKeeper the zxids give the order, and the replies do not.

use crate::analysis::{Analysis, Write};
use crate::cause::removal::Removals;
use crate::findings::{Finding, Findings};
use crate::grants::highest_excluder::HighestExcluder;
use crate::text::count;
use zooquake_history::operation::{Mode, grant::VALUE};
use zooquake_history::plan::Resource;

/// Looks for writes out of the order of their grants; at most one anomaly for each grant, its first.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let writes = ordered(run);
    let without = run.grants.writes.len() - writes.len();
    if without > 0 {
        out.reasons.push(format!(
            "{without} of {} gave no transaction (`mzxid`), which alone orders the writes of a resource in ZooKeeper: \
             their order was not judged",
            count(run.grants.writes.len(), "accepted write")
        ));
    }
    let grants = &run.grants.all;
    let mut convicted = vec![false; grants.len()];
    let mut before: Vec<Option<usize>> = vec![None; grants.len()];
    // The grants of the lawful writes by their ages and by their last such write, and the first such write of each.
    let (mut newest, mut latest) = (HighestExcluder::NONE, HighestExcluder::NONE);
    let mut first: Vec<Option<Write>> = vec![None; grants.len()];
    // Writes that convict nobody: a stale one must not make the holder that it disturbed look interleaved too.
    let mut lawful: Vec<Write> = Vec::new();
    let mut removals = None;
    for write in &writes {
        let number = write.grant;
        if convicted[number] {
            continue;
        }
        let age = grants[number].czxid;
        let exclusive = grants[number].mode == Some(Mode::Exclusive);
        if let (Some(age), Some((latest, newer)), true) = (age, newest.highest(run, number), exclusive)
            && age < latest
            && let Some(newer) = first[newer]
        {
            convicted[number] = true;
            let removals = removals.get_or_insert_with(|| Removals::new(run));
            older(run, *write, newer, removals, out);
            continue;
        }
        if let (Some(own), Some((between, _))) = (before[number], latest.highest(run, number))
            && own < between
        {
            convicted[number] = true;
            let removals = removals.get_or_insert_with(|| Removals::new(run));
            interleaved(run, [lawful[own], lawful[between], *write], removals, out);
            continue;
        }
        before[number] = Some(lawful.len());
        latest.insert(run, number, lawful.len());
        first[number].get_or_insert(*write);
        if let Some(age) = age {
            newest.insert(run, number, age);
        }
        lawful.push(*write);
    }
    out.ran("stale-write", writes.len());
}

/// The accepted writes in the order in which the resource took them.
fn ordered(run: &Analysis<'_>) -> Vec<Write> {
    let mut writes = run.grants.writes.clone();
    if run.record.plan.workload.resource == Resource::Zookeeper {
        writes.retain(|write| write.mzxid.is_some());
        writes.sort_by_key(|write| write.mzxid);
    }
    writes
}

fn taken(run: &Analysis<'_>, write: Write) -> String {
    let value = run.events[write.read]
        .get(VALUE)
        .map(|value| format!(" of {value}"))
        .unwrap_or_default();
    match (run.record.plan.workload.resource, write.mzxid) {
        (Resource::Zookeeper, Some(mzxid)) => format!("a write{value} as transaction 0x{mzxid:x}"),
        _ => format!("a write{value} at {}", run.at(write.read)),
    }
}

fn older(run: &Analysis<'_>, write: Write, newer: Write, removals: &Removals<'_, '_>, out: &mut Findings) {
    let grants = &run.grants.all;
    let (Some(read_old), Some(read_new)) = (grants[write.grant].read, grants[newer.grant].read) else {
        return;
    };
    let why = format!(
        "The resource accepted {} under {}, read at {}, after {} under {}, read at {}. The second grant is the newer one: its \
         znode was created later. So a write was accepted under an older grant of {} after one under a newer.",
        taken(run, write),
        run.grant(write.grant),
        run.at(read_old),
        taken(run, newer),
        run.grant(newer.grant),
        run.at(read_new),
        run.names.thing,
    );
    let mut witness = vec![read_old, read_new, newer.read, write.read];
    witness.extend(run.telling_modes([write.grant, newer.grant]));
    let cause = removals.of_write(write, newer.grant);
    out.add(run, found(witness, why).caused(cause));
}

fn interleaved(
    run: &Analysis<'_>,
    [first, between, second]: [Write; 3],
    removals: &Removals<'_, '_>,
    out: &mut Findings,
) {
    let why = format!(
        "The resource accepted {} under {}, then {} under {}, then {} under the former again. Whichever of the two grants \
         came first, one of these writes was made under a grant of {} that was not held then.",
        taken(run, first),
        run.grant(first.grant),
        taken(run, between),
        run.grant(between.grant),
        taken(run, second),
        run.names.thing,
    );
    let mut witness = vec![first.read, between.read, second.read];
    witness.extend(run.telling_modes([first.grant, between.grant]));
    let cause = removals.of_grant(first.grant, between.grant);
    out.add(run, found(witness, why).caused(cause));
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("stale-write", "mutual exclusion", witness, why)
}
