//! Drawing a plan from a seed.

use super::names;
use crate::faults::{Fault, Topology};
use zooquake_history::Node;
use zooquake_history::fault;
use zooquake_history::operation::{barrier, commit};
use zooquake_history::plan::{
    Capabilities, ClientPlan, ClusterPlan, Cycle, On, Plan, PlannedTransaction, Scheduler, Target, Timing, Trigger,
    Window, Workload,
};

/// How many different cycles a client goes through before it begins again.
const CYCLES: usize = 48;

/// Milliseconds of operations before the first fault, so that there is something to break.
pub const FIRST_FAULT_MS: u64 = 2_000;

/// Milliseconds of operations after the last fault.
pub const LAST_MS: u64 = 1_000;

/// The longest that a site works before it votes, in milliseconds.
pub const LONGEST_VOTE_MS: u64 = 400;

/// Between two windows: half a session timeout, and so many milliseconds.
const GAP_MS: std::ops::Range<u64> = 1_000..2_000;

/// The timing of a run for which none was given.
pub fn timing(workload: &Workload) -> Timing {
    let usual = Timing::default();
    if !workload.pinned {
        return usual;
    }
    // A leader that is deposed while it is frozen serves only sessions that have not expired meanwhile, so they last as
    // long as ZooKeeper allows: 20 ticks.
    Timing {
        session_ms: 20 * usual.tick_ms,
        ..usual
    }
}

/// Draws the plan of a run; the same arguments always give the same plan.
pub fn plan(seed: u64, workload: Workload, cluster: ClusterPlan, time_ms: u64, faults: &[String]) -> Plan {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut clients: Vec<ClientPlan> = (0..cluster.clients)
        .map(|_| client(&mut rng, &cluster.timing))
        .collect();
    if workload.family == barrier::FAMILY.name {
        slow_members(seed, &cluster.timing, &mut clients);
    }
    let transactions = match workload.family.as_str() {
        family if family == commit::FAMILY.name && cluster.clients > 1 => transactions(seed, cluster.clients - 1),
        _ => Vec::new(),
    };
    let topology = Topology::new(&workload, &cluster);
    let windows = windows(&mut rng, (&topology, &transactions), time_ms, faults);
    Plan {
        format: Plan::FORMAT,
        record: Vec::new(),
        on: On::Docker,
        scheduler: Scheduler::default(),
        seed,
        workload,
        cluster,
        time_ms,
        faults: faults.to_vec(),
        windows,
        clients,
        transactions,
        scenes: Vec::new(),
        replay_of: None,
        drawn_for: None,
    }
}

/// Whether the clients of two workloads do the same, so that one plan serves both.
pub fn alike(a: &Workload, b: &Workload) -> bool {
    let drawn_by = |workload: &Workload| {
        let Capabilities {
            delivery,
            members,
            gate,
            ..
        } = workload.capabilities();
        (workload.family.clone(), workload.pinned, delivery, members, gate)
    };
    drawn_by(a) == drawn_by(b)
}

/// In one round of so many a member is slow: it stays beyond a session timeout, and is as late for the next round.
const SLOW_EVERY: usize = 8;

/// The first round with a slow member.
const SLOW_FIRST: usize = 3;

fn slow_members(seed: u64, timing: &Timing, clients: &mut [ClientPlan]) {
    // A stream of its own, as that of the transactions.
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x51_0e_2b_a1);
    for round in (SLOW_FIRST..CYCLES).step_by(SLOW_EVERY) {
        if let Some(client) = rng.choice(clients.iter_mut()) {
            client.cycles[round].think_ms = timing.session_ms + rng.u64(200..600);
        }
    }
}

/// Half of the transactions have only yes votes, the others one no or more.
fn transactions(seed: u64, sites: usize) -> Vec<PlannedTransaction> {
    // A stream of its own: other families' plans do not depend on it.
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x2bc0_22bc);
    let transaction = |number: usize| {
        let mut votes = vec![true; sites];
        if number % 2 == 1 {
            (0..rng.usize(1..=2)).for_each(|_| votes[rng.usize(..sites)] = false);
        }
        PlannedTransaction {
            votes,
            work_ms: (0..sites).map(|_| rng.u64(10..LONGEST_VOTE_MS)).collect(),
            early: rng.bool(),
        }
    };
    (0..CYCLES).map(transaction).collect()
}

/// Mostly short work, some that gives a fault time to strike in it, now and then one longer than the session timeout.
fn work(rng: &mut fastrand::Rng, session_ms: u64) -> u64 {
    match rng.u32(0..60) {
        0..41 => rng.u64(1..25),
        41..59 => rng.u64(350..700),
        _ => session_ms + rng.u64(200..600),
    }
}

fn client(rng: &mut fastrand::Rng, timing: &Timing) -> ClientPlan {
    let cycle = |rng: &mut fastrand::Rng| Cycle {
        think_ms: rng.u64(0..120),
        writes: writes(rng, timing),
    };
    ClientPlan {
        cycles: (0..CYCLES).map(|_| cycle(rng)).collect(),
        ops: None,
    }
}

fn writes(rng: &mut fastrand::Rng, timing: &Timing) -> Vec<u64> {
    if timing.hazardous() {
        // Here a client is served after its session has expired; only one that holds for long and goes on writing
        // shows it, and no write may be so long that it outlasts the session by itself.
        return (0..8).map(|_| rng.u64(310..timing.session_ms.max(640) / 2)).collect();
    }
    (0..rng.usize(1..=2)).map(|_| work(rng, timing.session_ms)).collect()
}

/// Rounds of all kinds in a shuffled order, so that a short run has at least one window of each, if they fit. Where one
/// does not fit into the first round, the others of it have theirs all the same, and there is no second.
fn windows(
    rng: &mut fastrand::Rng,
    (topology, transactions): (&Topology, &[PlannedTransaction]),
    time_ms: u64,
    faults: &[String],
) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    let mut from_ms = FIRST_FAULT_MS;
    let mut round = 0;
    // Whether a window did not fit any more.
    let mut full = false;
    let all: Vec<&Fault> = names::ensemble_faults(faults);
    if all.is_empty() {
        return windows;
    }
    loop {
        let mut faults = all.clone();
        rng.shuffle(&mut faults);
        // Which operation this one strikes is counted, so that no fault may come before.
        let first = kill_in_doubt(transactions, FIRST_FAULT_MS).filter(|_| round == 0);
        faults.sort_by_key(|fault| first.as_ref().is_none_or(|first| first.fault != fault.kind.name));
        for fault in faults {
            let window = match &first {
                Some(first) if first.fault == fault.kind.name => first.clone(),
                _ => fault.draw(rng, topology, round, windows.len() + 1, from_ms),
            };
            let until = until_ms(&window);
            full |= until + LAST_MS > time_ms;
            if full && round > 0 {
                return windows;
            }
            if until + LAST_MS <= time_ms {
                windows.push(window);
                from_ms = until + topology.timing.session_ms / 2 + rng.u64(GAP_MS);
            }
        }
        if full {
            return windows;
        }
        round += 1;
    }
}

/// When a window that begins as soon as it can is over, in milliseconds of operations.
pub fn until_ms(window: &Window) -> u64 {
    let (Trigger::At { at_ms: from_ms }
    | Trigger::State { from_ms, .. }
    | Trigger::Op { by_ms: from_ms, .. }
    | Trigger::Count { by_ms: from_ms, .. }) = window.trigger;
    from_ms + window.duration_ms
}

/// How long a window of each of these kinds lasts at most, in milliseconds.
pub fn longest_ms(workload: &Workload, cluster: &ClusterPlan, kinds: &[String]) -> Vec<u64> {
    let topology = Topology::new(workload, cluster);
    let faults = names::ensemble_faults(kinds).into_iter();
    let longest = faults.map(|fault| match (workload.family.as_str(), fault.kind.name) {
        ("commit", "kill") => IN_DOUBT_LONGEST_MS.max((fault.longest_ms)(&topology)),
        _ => (fault.longest_ms)(&topology),
    });
    longest.collect()
}

/// The longest time between two windows, in milliseconds.
pub fn longest_gap_ms(timing: &Timing) -> u64 {
    timing.session_ms / 2 + GAP_MS.end
}

/// The kill of a site in doubt: of so many transactions with yes votes only, the one in which a site waits longest for
/// the decision.
const IN_DOUBT_CANDIDATES: u64 = 3;

/// How long the site in doubt stays dead, in milliseconds.
const IN_DOUBT_DEAD_MS: u64 = 1_500;

/// Every second transaction has only yes votes: the last candidate is over so many milliseconds after the earliest
/// moment.
const IN_DOUBT_OVER_MS: u64 = (2 * IN_DOUBT_CANDIDATES + 1) * LONGEST_VOTE_MS;

/// How long after the earliest moment the kill in doubt is over at the latest, if it begins as soon as it can, in
/// milliseconds.
const IN_DOUBT_LONGEST_MS: u64 = IN_DOUBT_OVER_MS + IN_DOUBT_DEAD_MS;

/// The kill of a site that has voted yes in a transaction with yes votes only, and waits for the decision: the n-th
/// that it is asked for, if no fault comes before. The transaction begins at `from_ms` milliseconds of operations or
/// later, and ends before `from_ms` and [`IN_DOUBT_OVER_MS`]. `None` with fewer than two sites, since nobody waits
/// there.
fn kill_in_doubt(transactions: &[PlannedTransaction], from_ms: u64) -> Option<Window> {
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
    let candidates = yes.take(IN_DOUBT_CANDIDATES as usize);
    let each = candidates.filter_map(|(number, transaction, _, over_ms)| Some((number, waits(transaction)?, over_ms)));
    let (number, (site, waits_ms), by_ms) = each.max_by_key(|(_, (_, waits_ms), _)| *waits_ms)?;
    let client = Node::client(site + 2);
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
        duration_ms: IN_DOUBT_DEAD_MS,
        beside: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::{ClusterPlan, Target};

    fn drawn(seed: u64, time_ms: u64) -> Plan {
        let cluster = ClusterPlan {
            servers: 3,
            observers: 0,
            clients: 5,
            image: None,
            timing: Timing::default(),
            hosts: Vec::new(),
        };
        let faults = ["kill", "pause", "partition"].map(String::from);
        plan(seed, Workload::default(), cluster, time_ms, &faults)
    }

    #[test]
    fn the_same_seed_gives_the_same_plan() {
        assert_eq!(drawn(7, 60_000), drawn(7, 60_000));
        assert_ne!(drawn(7, 60_000), drawn(8, 60_000));
    }

    #[test]
    fn a_minute_has_every_kind_twice_and_ends_before_its_time() {
        for seed in 0..200 {
            let plan = drawn(seed, 60_000);
            for kind in &plan.faults {
                let windows = plan.windows.iter().filter(|w| &w.fault == kind).count();
                assert!(windows >= 2, "seed {seed}: {windows} windows of {kind}");
            }
            assert!(plan.windows.iter().enumerate().all(|(n, w)| w.id == n + 1));
        }
    }

    #[test]
    fn where_clients_are_pinned_leaders_are_frozen_long_enough_to_be_deposed_and_sessions_outlast_it() {
        let workload = Workload {
            pinned: true,
            ..Workload::default()
        };
        let cluster = ClusterPlan {
            servers: 3,
            observers: 0,
            clients: 5,
            image: None,
            timing: timing(&workload),
            hosts: Vec::new(),
        };
        for seed in 0..200 {
            let plan = plan(seed, workload.clone(), cluster.clone(), 9_000, &["pause".to_string()]);
            let frozen = plan.windows.iter().find(|window| window.target == Target::Leader);
            let frozen = frozen.expect("a frozen leader").duration_ms;
            assert!((2_400..cluster.timing.session_ms - 500).contains(&frozen), "{frozen}");
        }
    }

    #[test]
    fn a_barrier_has_slow_members_in_some_rounds_only() {
        let barrier = Workload {
            family: "barrier".to_string(),
            ..Workload::default()
        };
        let cluster = ClusterPlan {
            clients: 5,
            timing: Timing::default(),
            ..ClusterPlan::default()
        };
        let session_ms = cluster.timing.session_ms;
        for seed in 0..50 {
            let plan = plan(seed, barrier.clone(), cluster.clone(), 60_000, &[]);
            let slow = |round: &usize| {
                let all = plan.clients.iter();
                all.filter(|client| client.cycles[*round].think_ms > session_ms).count() == 1
            };
            let slow: Vec<usize> = (0..CYCLES).filter(slow).collect();
            assert_eq!(slow, [3, 11, 19, 27, 35, 43], "seed {seed}");
        }
    }

    #[test]
    fn some_work_outlasts_the_session() {
        let plan = drawn(7, 60_000);
        let longest = plan
            .clients
            .iter()
            .flat_map(|c| &c.cycles)
            .flat_map(|c| &c.writes)
            .max();
        assert!(longest.is_some_and(|ms| *ms > plan.cluster.timing.session_ms));
    }

    #[test]
    fn the_first_kill_of_a_commit_is_of_the_site_that_waits_longest_for_a_commit() {
        for seed in 0..100 {
            let workload = zooquake_workloads::recipes::workload("commit", "atomic").expect("a variant");
            let cluster = ClusterPlan {
                servers: 3,
                clients: 4,
                ..ClusterPlan::default()
            };
            let plan = plan(seed, workload, cluster, 60_000, &["pause", "kill"].map(String::from));
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
            let earliest = FIRST_FAULT_MS;
            let work = |all: &[PlannedTransaction]| all.iter().filter_map(|one| one.work_ms.iter().max()).sum::<u64>();
            assert!(!rest[0].votes.contains(&false), "seed {seed}: {:?}", rest[0]);
            assert!(
                (earliest..=*by_ms).contains(&work(before)) && *by_ms < earliest + IN_DOUBT_OVER_MS,
                "seed {seed}"
            );
            let site = client.number().expect("a number");
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
        assert_eq!(kill_in_doubt(&vec![one; 20], 2_000), None);
    }
}
