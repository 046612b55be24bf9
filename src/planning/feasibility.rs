//! Plans that cannot end `valid`, found before they are run: a plan without shortfalls may still end unknown.

use super::{drawing, network};
use zooquake_checkers::ENOUGH_TRANSACTIONS as ENOUGH;
use zooquake_history::{
    FaultKind,
    plan::{ClusterPlan, Plan, PlannedTransaction, Workload},
};

/// The longest time of operations, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 3_600_000;

/// Milliseconds that a transaction takes beside the work of its sites, on a slow machine.
const TRANSACTION_MS: u64 = 150;

/// What forbids a valid verdict whatever happens, a clause each.
pub fn shortfalls(plan: &Plan) -> Vec<String> {
    // Scenes have no windows, no clients and their own time.
    if !plan.scenes.is_empty() {
        return Vec::new();
    }
    if network::variant(&plan.workload).is_some() {
        return of_faults(plan).into_iter().collect();
    }
    [
        of_faults(plan),
        of_servers(plan),
        of_clients(plan),
        of_transactions(plan),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Each kind of fault that is asked for needs a window.
fn of_faults(plan: &Plan) -> Option<String> {
    let planned = |fault: &str| plan.windows.iter().any(|window| window.fault == fault);
    let mut lacking: Vec<&str> = Vec::new();
    for fault in &plan.faults {
        if !planned(fault) && !lacking.contains(&fault.as_str()) {
            lacking.push(fault);
        }
    }
    (!lacking.is_empty()).then(|| {
        format!(
            "no window of {} fits into {}",
            lacking.join(", "),
            seconds(plan.time_ms)
        )
    })
}

/// A server that falls behind must not be needed for a majority, or nothing is committed without it.
fn of_servers(plan: &Plan) -> Option<String> {
    let lags = plan
        .faults
        .iter()
        .any(|fault| FaultKind::by_name(fault).between_servers);
    let none = plan.cluster.servers < 3 && plan.cluster.observers == 0;
    (lags && none).then(|| {
        format!(
            "no server can fall behind of {}: lag needs three that vote, or one that observes",
            plan.cluster.servers
        )
    })
}

/// Where one client waits, or coordinates, another one has to do something.
fn of_clients(plan: &Plan) -> Option<String> {
    let Workload { family, .. } = &plan.workload;
    let two = matches!(family.as_str(), "commit" | "queue") || plan.workload.capabilities().members;
    (two && plan.cluster.clients < 2).then(|| format!("{} does nothing with one client", plan.workload.name()))
}

/// Transactions come one after the other, and each takes as long as its slowest site works; faults may cut it short.
fn of_transactions(plan: &Plan) -> Option<String> {
    if !plan.windows.is_empty() {
        return None;
    }
    let needed = needed(&plan.transactions);
    let last_begins: u64 = needed.iter().rev().skip(1).map(work_ms).sum();
    (last_begins >= plan.time_ms && !needed.is_empty()).then(|| {
        format!(
            "a valid run has {ENOUGH} commits and {ENOUGH} aborts at least, which {} are too short for",
            seconds(plan.time_ms)
        )
    })
}

/// The transactions up to the last abort that a valid run needs; the commits among them are enough with the one at the
/// end.
fn needed(transactions: &[PlannedTransaction]) -> &[PlannedTransaction] {
    let aborts = (0..transactions.len()).filter(|&n| transactions[n].votes.contains(&false));
    let last = aborts.take(ENOUGH).last();
    &transactions[..last.map_or(0, |last| last + 1)]
}

fn work_ms(transaction: &PlannedTransaction) -> u64 {
    transaction.work_ms.iter().copied().max().unwrap_or(0)
}

/// The shortest time for which a plan has no shortfalls, in milliseconds: what is drawn for that time has none. `None`
/// if no time would do.
pub fn shortest_ms(draw: impl Fn(u64) -> Plan) -> Option<u64> {
    let mut time_ms = 30_000;
    loop {
        let plan = draw(time_ms);
        if shortfalls(&plan).is_empty() {
            return Some(needed_ms(&plan));
        }
        if time_ms >= LONGEST_MS {
            return None;
        }
        time_ms = (2 * time_ms).min(LONGEST_MS);
    }
}

/// The time that a plan without shortfalls would have needed.
fn needed_ms(plan: &Plan) -> u64 {
    let first = |fault: &String| plan.windows.iter().find(|window| window.fault == *fault);
    let windows: Vec<_> = plan.faults.iter().filter_map(first).collect();
    let until = windows
        .iter()
        .map(|window| drawing::until_ms(window) + drawing::LAST_MS)
        .max();
    let needed = needed(&plan.transactions);
    // While a fault is on, no transaction may come to its end.
    let faulty: u64 = windows.iter().map(|window| window.duration_ms).sum();
    let transactions = match needed.len() as u64 {
        0 => 0,
        count => needed.iter().map(work_ms).sum::<u64>() + count * TRANSACTION_MS + faulty,
    };
    until.unwrap_or(0).max(transactions).max(drawing::LAST_MS)
}

/// A time, in milliseconds, for which a plan of these has no shortfalls whatever it is drawn from; `None` if none would
/// do.
pub fn enough_ms(workload: &Workload, cluster: &ClusterPlan, kinds: &[String]) -> Option<u64> {
    shortest_ms(|time_ms| drawing::plan(0, workload.clone(), cluster.clone(), time_ms, kinds))?;
    let longest: Vec<u64> = drawing::longest_ms(workload, cluster, kinds);
    let faulty: u64 = longest.iter().sum();
    let gaps = longest.len().saturating_sub(1) as u64 * drawing::longest_gap_ms(&cluster.timing);
    let transactions = match workload.family.as_str() {
        "commit" => 2 * ENOUGH as u64 * (drawing::LONGEST_VOTE_MS + TRANSACTION_MS) + faulty,
        _ => 0,
    };
    let windows = if longest.is_empty() {
        0
    } else {
        drawing::FIRST_FAULT_MS + faulty + gaps
    };
    Some((windows + drawing::LAST_MS).max(transactions))
}

/// The message about plans with shortfalls: each with its name, and the way out.
pub fn refusal(plans: &[(String, Vec<String>)], way_out: &str) -> String {
    const SHOWN: usize = 20;
    let mut lines = vec!["the verdict could not be valid:".to_string()];
    let line = |(name, shortfalls): &(String, Vec<String>)| format!("  {name}: {}", shortfalls.join("; "));
    lines.extend(plans.iter().take(SHOWN).map(line));
    if plans.len() > SHOWN {
        lines.push(format!("  and {} more", plans.len() - SHOWN));
    }
    lines.push(format!("The way out: {way_out}; --anyway runs it all the same."));
    lines.join("\n")
}

/// `5 s`, `5.25 s`.
pub fn seconds(ms: u64) -> String {
    format!("{} s", ms as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults;
    use crate::planning::names;

    /// The plan of a run with the settings that are usual.
    fn drawn(seed: u64, workload: &Workload, clients: usize, time_ms: u64, kinds: &[String]) -> Plan {
        drawing::plan(seed, workload.clone(), cluster(workload, clients), time_ms, kinds)
    }

    fn cluster(workload: &Workload, clients: usize) -> ClusterPlan {
        ClusterPlan {
            servers: 3,
            clients,
            timing: drawing::timing(workload),
            ..ClusterPlan::default()
        }
    }

    fn workload_of(name: &str) -> Workload {
        names::workload(name).unwrap()
    }

    /// Variants of which each has other words for what its clients do.
    fn variants() -> Vec<Workload> {
        let mut kinds: Vec<Workload> = Vec::new();
        for workload in names::variants().iter().map(|name| workload_of(name)) {
            if !kinds.iter().any(|other| drawing::alike(other, &workload)) {
                kinds.push(workload);
            }
        }
        kinds
    }

    #[test]
    fn the_shortest_time_is_enough_and_less_is_not() {
        let names = faults::names();
        for workload in variants() {
            for chosen in 0..1_u32 << names.len() {
                let kinds: Vec<String> = (0..names.len())
                    .filter(|n| chosen >> n & 1 == 1)
                    .map(|n| names[n].clone())
                    .collect();
                let enough = enough_ms(&workload, &cluster(&workload, 5), &kinds).unwrap();
                for seed in 1..=20 {
                    let plan = |time_ms| drawn(seed, &workload, 5, time_ms, &kinds);
                    let shortest = shortest_ms(plan).unwrap();
                    let why = format!("{} {kinds:?} seed {seed}: {shortest} ms", workload.name());
                    assert_eq!(shortfalls(&plan(shortest)), Vec::<String>::new(), "{why}");
                    assert!(shortest <= enough, "{why}, for any seed {enough} ms");
                    if !kinds.is_empty() && workload.family != "commit" {
                        assert!(!shortfalls(&plan(shortest - 1)).is_empty(), "{why}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_what_is_certain_is_said() {
        let kinds = |list: &str| names::faults(list).unwrap();
        let lock = workload_of("lock/fenced");
        assert_eq!(
            shortfalls(&drawn(1, &lock, 5, 60_000, &kinds("kill,pause,partition"))),
            [""; 0]
        );
        assert_eq!(
            shortfalls(&drawn(1, &lock, 1, 1_000, &[])),
            [""; 0],
            "the last operations will do"
        );
        let short = shortfalls(&drawn(1, &lock, 5, 4_000, &kinds("pause,disconnect,pause")));
        assert_eq!(short, ["no window of pause, disconnect fits into 4 s"]);

        let commit = workload_of("commit/atomic");
        assert_eq!(shortfalls(&drawn(1, &commit, 5, 5_000, &[])), [""; 0]);
        let short = shortfalls(&drawn(1, &commit, 5, 1_000, &[]));
        assert!(short[0].contains("5 commits and 5 aborts"), "{short:?}");
        // Faults cut transactions short, so that nothing is certain.
        assert_eq!(shortfalls(&drawn(1, &commit, 5, 3_000, &kinds("drop-reply"))), [""; 0]);
    }

    #[test]
    fn a_follower_falls_behind_only_where_a_majority_does_without_it() {
        let lock = workload_of("lock/fenced");
        for (servers, observers, can) in [(1, 0, false), (1, 1, true), (3, 0, true), (3, 1, true), (5, 0, true)] {
            let cluster = ClusterPlan {
                servers,
                observers,
                ..cluster(&lock, 5)
            };
            let lag = ["lag".to_string()];
            let plan = drawing::plan(1, lock.clone(), cluster.clone(), 20_000, &lag);
            assert_eq!(shortfalls(&plan).is_empty(), can, "{servers}, {observers}");
            assert_eq!(
                enough_ms(&lock, &cluster, &lag).is_some(),
                can,
                "{servers}, {observers}"
            );
            let other = drawing::plan(1, lock.clone(), cluster, 20_000, &["kill".to_string()]);
            assert_eq!(shortfalls(&other), [""; 0]);
        }
    }

    #[test]
    fn no_time_makes_up_for_a_client_that_is_not_there() {
        for (name, lacking) in [
            ("queue/fifo", true),
            ("barrier/tutorial", true),
            ("commit/atomic", true),
            ("barrier/double", false),
            ("lock/fenced", false),
            ("register/read", false),
        ] {
            let workload = workload_of(name);
            let shortest = shortest_ms(|time_ms| drawn(1, &workload, 1, time_ms, &[]));
            assert_eq!(shortest.is_none(), lacking, "{name}");
            assert_eq!(
                enough_ms(&workload, &cluster(&workload, 1), &[]).is_none(),
                lacking,
                "{name}"
            );
            assert_eq!(shortfalls(&drawn(1, &workload, 2, 60_000, &[])), [""; 0], "{name}");
        }
    }
}
