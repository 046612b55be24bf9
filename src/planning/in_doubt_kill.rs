//! The window that kills a site in doubt: it has voted yes, and has not learned whether all have.

use super::drawing::LONGEST_VOTE_MS;
use zooquake_history::{
    fault,
    plan::{PlannedTransaction, Target, Trigger, Window},
};

/// Of so many transactions with yes votes only the one is chosen in which a site waits longest for the decision.
const CANDIDATES: u64 = 3;

const DURATION_MS: u64 = 1_500;

/// Every second transaction has only yes votes: the last candidate is over so many milliseconds after the earliest
/// moment.
const LATEST_MS: u64 = (2 * CANDIDATES + 1) * LONGEST_VOTE_MS;

/// How long after the earliest moment the window is over at the latest, if it begins as soon as it can, in
/// milliseconds.
pub const LONGEST_MS: u64 = LATEST_MS + DURATION_MS;

/// The kill of a site that has voted yes in a transaction with yes votes only, and waits for the decision: the n-th
/// that it is asked for, if no fault comes before. The transaction begins at `from_ms` milliseconds of operations or
/// later, and ends before `from_ms` and [`LATEST_MS`]. `None` with fewer than two sites, since nobody waits there.
pub fn window(transactions: &[PlannedTransaction], from_ms: u64) -> Option<Window> {
    let mut over_ms = 0;
    let timed = transactions.iter().enumerate().map(|(number, transaction)| {
        let begins_ms = over_ms;
        over_ms += transaction.work_ms.iter().max().copied().unwrap_or(0);
        (number, transaction, begins_ms, over_ms)
    });
    let waits = |transaction: &PlannedTransaction| {
        let (first, least) = transaction.work_ms.iter().enumerate().min_by_key(|(_, work)| **work)?;
        Some((first, transaction.work_ms.iter().max()? - least))
    };
    let late = timed.filter(|(_, _, begins_ms, _)| *begins_ms >= from_ms);
    let yes = late.filter(|(_, transaction, ..)| !transaction.votes.contains(&false));
    let candidates = yes.take(CANDIDATES as usize);
    let each = candidates.filter_map(|(number, transaction, _, over_ms)| Some((number, waits(transaction)?, over_ms)));
    let (number, (site, waits_ms), by_ms) = each.max_by_key(|(_, (_, waits_ms), _)| *waits_ms)?;
    let client = format!("c{}", site + 2);
    (waits_ms > 0).then(|| Window {
        id: 1,
        fault: fault::KILL.name.to_string(),
        target: Target::Node(client.clone()),
        payload: None,
        trigger: Trigger::Op {
            client,
            f: "decided".to_string(),
            nth: number as u64 + 1,
            work_ms: 0,
            after_ms: 0,
            by_ms,
        },
        duration_ms: DURATION_MS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::drawing;
    use zooquake_history::plan::ClusterPlan;

    #[test]
    fn the_first_kill_of_a_commit_is_of_the_site_that_waits_longest_for_a_commit() {
        for seed in 0..100 {
            let workload = zooquake_workloads::recipes::workload("commit", "atomic").expect("a variant");
            let cluster = ClusterPlan {
                servers: 3,
                clients: 4,
                ..ClusterPlan::default()
            };
            let plan = drawing::plan(seed, workload, cluster, 60_000, &["pause", "kill"].map(String::from));
            let first = &plan.windows[0];
            let Trigger::Op {
                client, f, nth, by_ms, ..
            } = &first.trigger
            else {
                panic!("seed {seed}: {first:?}");
            };
            assert_eq!((first.fault.as_str(), f.as_str(), first.id), ("kill", "decided", 1));
            assert_eq!(first.target, Target::Node(client.clone()));
            let (before, rest) = plan.transactions.split_at(*nth as usize - 1);
            let earliest = drawing::FIRST_FAULT_MS;
            let work = |all: &[PlannedTransaction]| all.iter().filter_map(|one| one.work_ms.iter().max()).sum::<u64>();
            assert!(!rest[0].votes.contains(&false), "seed {seed}: {:?}", rest[0]);
            assert!(
                (earliest..=*by_ms).contains(&work(before)) && *by_ms < earliest + LATEST_MS,
                "seed {seed}"
            );
            let site: usize = client[1..].parse().expect("a number");
            assert_eq!(
                rest[0].work_ms.iter().min(),
                Some(&rest[0].work_ms[site - 2]),
                "seed {seed}"
            );
            assert_eq!(plan.windows[1].fault, "pause", "seed {seed}");
        }
    }

    #[test]
    fn with_one_site_nobody_waits_for_another_s_vote() {
        let one = PlannedTransaction {
            votes: vec![true],
            work_ms: vec![300],
            early: true,
        };
        assert_eq!(window(&vec![one; 20], 2_000), None);
    }
}
