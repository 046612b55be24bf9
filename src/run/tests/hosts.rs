//! Faults of whole hosts: all that stands on one is hit together, and the clients elsewhere go on.

use super::{Ran, plan, run};
use crate::planning::placement;
use zooquake_checkers::Verdict;
use zooquake_history::Node;
use zooquake_history::plan::{Plan, Target, Window};

const FAULTS: [&str; 3] = ["host-kill", "host-pause", "host-partition"];

/// A run over so many hosts, with a window of each kind of fault of whole hosts.
fn spread(name: &str, seed: u64, count: usize) -> Plan {
    let mut bare = plan(name, seed, 40_000, &[]);
    let addresses: Vec<String> = (1..=count).map(|n| format!("unix:///run/{n}.sock")).collect();
    bare.cluster.hosts = placement::hosts(&addresses, &[], &bare.cluster).unwrap();
    crate::planning::drawing::plan(seed, bare.workload, bare.cluster, 40_000, &FAULTS.map(String::from))
}

/// The nodes that a window hit, as its first event has them.
fn hit(ran: &Ran, window: &Window) -> Vec<Node> {
    let id = i64::try_from(window.id).unwrap();
    let mut events = ran.record.history.events.iter();
    let begun = events.find(|event| event.window() == Some(id) && event.phase() == Some("begin"));
    let target = begun.and_then(|event| event.target()).unwrap_or_default();
    Node::list(target).collect()
}

#[test]
fn a_whole_host_is_killed_frozen_and_cut_off_and_comes_back() {
    for (name, hosts) in [("lock/fenced", 2), ("lock/fenced", 3), ("queue/claimed", 3)] {
        for seed in 1..=4 {
            let ran = run(spread(name, seed, hosts));
            let what = format!("{name} on {hosts}, seed {seed}");
            assert_eq!(ran.news(), [""; 0], "{what}");
            assert_eq!(ran.results.verdict, Verdict::Valid, "{what}: {:?}", ran.results.reasons);
            let mut kinds = Vec::new();
            for window in &ran.record.plan.windows {
                let Target::Host(host) = &window.target else {
                    panic!("{window:?}")
                };
                assert_eq!(
                    hit(&ran, window),
                    ran.record.plan.cluster.nodes_on(host).unwrap(),
                    "{what}"
                );
                kinds.push(window.fault.as_str());
            }
            assert!(FAULTS.iter().all(|fault| kinds.contains(fault)), "{what}: {kinds:?}");
            let counting = ran.results.windows.iter().filter(|window| window.counts).count();
            assert!(counting >= FAULTS.len(), "{what}: {:?}", ran.results.windows);
        }
    }
}

#[test]
fn what_is_known_under_a_pause_is_known_under_that_of_a_host() {
    let kinds: Vec<String> = (1..=6)
        .flat_map(|seed| {
            let ran = run(spread("lock/predecessor", seed, 2));
            assert_eq!(ran.news(), [""; 0], "seed {seed}");
            ran.kinds().into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert!(kinds.contains(&"stale-write".to_owned()), "{kinds:?}");
}
