//! What each variant keeps and breaks, without faults and under them.

use super::{Ran, plan, run, variants};
use std::collections::BTreeSet;
use zooquake_checkers::analysis::{Analysis, Hold};
use zooquake_checkers::{Anomaly, Verdict};
use zooquake_history::operation::Mode;
use zooquake_history::{Event, EventType, Node, Process};

#[test]
fn without_faults_every_variant_is_valid_that_is_not_known_to_break_so() {
    for name in variants() {
        let plans = (7..27).map(|seed| plan(&name, seed, 6_000, &[]));
        let accepted = plan(&name, 7, 6_000, &[]).workload.accepted;
        let without = accepted
            .iter()
            .filter(|known| known.faults.iter().any(|fault| fault == "none"));
        let known: BTreeSet<&str> = without.map(|known| known.anomaly.as_str()).collect();
        // A race that breaks a variant need not be lost with every seed.
        let mut runs = plans.map(run).take(if known.is_empty() { 1 } else { 20 });
        let shows = |ran: &Ran| known.is_empty() || ran.results.verdict == Verdict::Invalid;
        let ran = runs
            .find(shows)
            .unwrap_or_else(|| panic!("{name} is valid with each seed"));
        let verdict = match known.is_empty() {
            true => {
                let mut kinds = ran.kinds();
                // A follower that lags answers plain reads: advisory.
                kinds.retain(|kind| (name.as_str(), *kind) != ("register/read", "stale-read"));
                assert_eq!(kinds, [""; 0], "{name}");
                Verdict::Valid
            }
            false => {
                let found = ran.results.anomalies.iter().filter(|one| !one.advisory);
                assert_eq!(
                    found.map(|one| one.kind.as_str()).collect::<BTreeSet<_>>(),
                    known,
                    "{name}"
                );
                assert_eq!(ran.news(), [""; 0], "{name}");
                Verdict::Invalid
            }
        };
        assert_eq!(ran.results.verdict, verdict, "{name}: {:?}", ran.results.reasons);
        assert_eq!(ran.phases().last(), Some(&"done"), "{name}: {:?}", ran.phases());
    }
}

#[test]
fn a_semaphore_that_counts_before_it_creates_breaks_without_faults() {
    for seed in 0..5 {
        let ran = run(plan("semaphore/counted", seed, 6_000, &[]));
        assert_eq!(ran.results.verdict, Verdict::Invalid, "seed {seed}");
        let all = ran.results.anomalies.iter();
        let odd = |one: &&Anomaly| one.kind != "over-capacity" || !one.accepted || one.witness.len() != 9;
        assert_eq!(all.filter(|one| !one.advisory).find(odd), None, "seed {seed}");
    }
}

#[test]
fn under_faults_no_variant_breaks_in_a_way_that_it_is_not_known_for() {
    for name in variants() {
        let mut counting = 0;
        for (seed, faults) in [
            (1, ["kill", "pause", "partition"].as_slice()),
            (2, &["drop-reply", "disconnect"]),
            (3, &["expire"]),
            (4, &["lag", "kill"]),
            (5, &["hold-reply", "latency"]),
            (6, &["stall"]),
            (7, &["move", "pin"]),
        ] {
            let ran = run(plan(&name, seed, 25_000, faults));
            assert_eq!(ran.unknown(), [""; 0], "{name} seed {seed}");
            assert!(ran.phases().contains(&"recovered"), "{name}: {:?}", ran.phases());
            counting += ran.results.windows.iter().filter(|window| window.counts).count();
        }
        assert!(counting > 4, "{name}: {counting} windows count");
    }
}

#[test]
fn a_fenced_lock_keeps_its_promise_whatever_the_seed() {
    for name in ["lock/fenced", "rwlock/fenced"] {
        for seed in 0..20 {
            let ran = run(plan(name, seed, 20_000, &["kill", "pause", "partition"]));
            assert_eq!(ran.news(), [""; 0], "{name} seed {seed}");
            assert_eq!(ran.phases().last(), Some(&"done"), "{name} seed {seed}");
        }
    }
}

#[test]
fn readers_hold_together_and_writers_alone() {
    let ran = run(plan("rwlock/fenced", 7, 30_000, &[]));
    let run = Analysis::new(&ran.record);
    let holds = run.holds();
    let together = |one: &Hold<'_>, other: &Hold<'_>| {
        let during = |a: &Hold<'_>, b: &Hold<'_>| a.from < b.from && a.until.is_none_or(|until| until > b.from);
        during(one, other) || during(other, one)
    };
    let beside = |mode: Mode, other: Mode| {
        let of = |mode| holds.iter().filter(move |hold| hold.mode == Some(mode));
        of(mode)
            .flat_map(|one| of(other).filter(move |other| together(one, other)))
            .count()
    };
    assert!(beside(Mode::Shared, Mode::Shared) > 20);
    assert_eq!(
        beside(Mode::Exclusive, Mode::Shared) + beside(Mode::Exclusive, Mode::Exclusive),
        0
    );
    let read = |event: &&Event| event.f == "read" && event.kind == EventType::Ok && event.value["value"].is_u64();
    assert!(ran.record.history.events.iter().filter(read).count() > 40);
}

#[test]
fn the_tutorial_s_lock_breaks_as_it_does() {
    let broken = (0..10).any(|seed| {
        let ran = run(plan("lock/predecessor", seed, 20_000, &["kill", "pause", "partition"]));
        ran.kinds().contains(&"stale-write")
    });
    assert!(broken, "a pause lets an older grant write after a newer one");
}

#[test]
fn a_client_does_as_many_operations_as_its_plan_has_and_the_run_goes_on_without_waiting() {
    for name in variants() {
        let mut plan = plan(&name, 5, 60_000, &[]);
        plan.clients.iter_mut().for_each(|client| client.ops = Some(6));
        let ran = run(plan);
        let events = &ran.record.history.events;
        let until = events.iter().position(|event| event.entered() == Some("heal")).unwrap();
        for client in 1..=5 {
            let own = |event: &&Event| {
                event.client() == Some(Node::client(client))
                    && matches!((&event.process, event.kind), (Process::Number(_), EventType::Invoke))
            };
            let asked = events[..until].iter().filter(own).count();
            // What was begun is ended: a grant is given back, a claimed item acknowledged, a round left.
            assert!(asked <= 9, "{name}: c{client} was asked {asked} times");
        }
        assert_eq!(ran.phases().last(), Some(&"done"), "{name}");
    }
}
