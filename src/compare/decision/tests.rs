//! What is measured, number by number, against formulas that are written down here once more.

use super::*;
use zooquake_reports::decision::DecisionCost;

/// The number of learners.
const L: u32 = 2;

fn measured(seed: u64) -> DecisionComparison {
    comparison(&DecisionSetup::new(&[], &[], seed).unwrap()).unwrap()
}

/// The decisions of a protocol in a situation, each with its number of acceptors.
fn costs<'a>(all: &'a DecisionComparison, situation: &str, protocol: &str) -> Vec<(u32, &'a DecisionCost)> {
    let place = all.protocols.iter().position(|other| other.name == protocol).unwrap();
    let situation = all.situations.iter().find(|other| other.name == situation).unwrap();
    let costs: Vec<_> = situation.rows[place]
        .costs
        .iter()
        .map(|cost| (u32::from(cost.acceptors), cost))
        .collect();
    assert_eq!(costs.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [3, 4, 5, 7]);
    costs
}

/// Every decision takes so many delays, and so many messages by the number of acceptors, without a timeout.
#[track_caller]
fn takes(all: &DecisionComparison, (situation, protocol): (&str, &str), delays: u32, messages: impl Fn(u32) -> u32) {
    for (n, cost) in costs(all, situation, protocol) {
        let found = (cost.delays, cost.messages, cost.timeouts.len(), cost.waited_ms);
        assert_eq!(
            found,
            (delays, messages(n), 0, 0.0),
            "{situation}, {protocol}, {n} acceptors"
        );
        assert_eq!(cost.parts.iter().map(|part| part.count).sum::<u32>(), cost.messages);
        assert_eq!(cost.after, L * 4, "each learner informs two leaders and two proposers");
    }
}

const FAST: [&str; 3] = ["fast-paxos-restart", "fast-paxos", "fast-paxos-uncoordinated"];

/// The messages by which n acceptors make a recovery possible when that many of them vote in a fast round.
fn recovery(protocol: &str, n: u32, votes: u32) -> u32 {
    votes * if protocol == "fast-paxos-uncoordinated" { n } else { 1 }
}

#[test]
fn three_delays_in_paxos_and_two_in_a_fast_round_once_phase_1_is_done() {
    let all = measured(1);
    takes(&all, ("prepared", "paxos"), 3, |n| 1 + n + n * L);
    for protocol in FAST {
        takes(&all, ("prepared", protocol), 2, |n| {
            n + n * L + recovery(protocol, n, n)
        });
    }
}

#[test]
fn phase_1_takes_two_delays_more() {
    let all = measured(1);
    takes(&all, ("unprepared", "paxos"), 5, |n| 1 + 2 * n + n + n * L);
    for protocol in FAST {
        takes(&all, ("unprepared", protocol), 4, |n| {
            n + 2 * n + n + n * L + recovery(protocol, n, n)
        });
    }
}

#[test]
fn a_collision_takes_four_two_or_one_delays_more_and_none_in_paxos() {
    let all = measured(1);
    takes(&all, ("collision", "paxos"), 3, |n| 2 + n + n * L);
    let both_rounds = |n| 2 * n + 2 * n * L;
    takes(&all, ("collision", FAST[0]), 6, |n| both_rounds(n) + n + 3 * n);
    takes(&all, ("collision", FAST[1]), 4, |n| both_rounds(n) + n + n);
    takes(&all, ("collision", FAST[2]), 3, |n| both_rounds(n) + n * n);
}

#[test]
fn a_new_leader_takes_a_timeout_and_five_delays_and_a_fast_round_needs_none() {
    let all = measured(1);
    let with_timeouts = |situation: &str, protocol: &str, timeouts: usize, messages: &dyn Fn(u32) -> u32| {
        for (n, cost) in costs(&all, situation, protocol) {
            assert_eq!(
                (cost.delays, cost.messages),
                (5, messages(n)),
                "{situation}, {protocol}, {n}"
            );
            assert_eq!(cost.timeouts, vec!["proposer"; timeouts]);
            // Proposers wait for 120 to 240 ms.
            let (least, most) = (120.0 * timeouts as f64, 240.0 * timeouts as f64);
            assert!((least..most).contains(&cost.waited_ms), "{}", cost.waited_ms);
        }
    };
    for situation in ["leader-lost-early", "leader-lost"] {
        with_timeouts(situation, "paxos", 1, &|n| 2 + 3 * n + n * L);
    }
    for protocol in FAST {
        // It proposes three times, and asks two coordinators.
        with_timeouts("leader-lost-early", protocol, 2, &|n| 3 * n + 2 + 3 * n + n * L);
        takes(&all, ("leader-lost", protocol), 2, |n| {
            n + n * L + recovery(protocol, n, n)
        });
    }
}

#[test]
fn without_a_coordinator_only_acceptors_recover_from_a_collision_before_a_timeout() {
    let all = measured(1);
    let situation = "collision-without-leader";
    takes(&all, (situation, FAST[2]), 3, |n| 2 * n + 2 * n * L + n * n);
    for protocol in ["paxos", FAST[0], FAST[1]] {
        for (n, cost) in costs(&all, situation, protocol) {
            assert!(
                cost.delays == 5 && !cost.timeouts.is_empty(),
                "{protocol}, {n}: {cost:?}"
            );
            assert!(cost.waited_ms > 120.0);
        }
    }
}

#[test]
fn one_lost_acceptor_of_three_ends_fast_rounds() {
    let all = measured(1);
    takes(&all, ("acceptor-lost", "paxos"), 3, |n| 1 + n + (n - 1) * L);
    for (protocol, further) in FAST.into_iter().zip([4, 2, 4]) {
        for (n, cost) in costs(&all, "acceptor-lost", protocol) {
            if n == 3 {
                assert_eq!(
                    (cost.delays, cost.timeouts.as_slice()),
                    (further, &["coordinator".to_owned()][..])
                );
                assert!(cost.round > 1 && cost.claimed_delays.is_none());
                continue;
            }
            let messages = n + (n - 1) * L + recovery(protocol, n, n - 1);
            assert_eq!(
                (cost.delays, cost.messages, cost.round),
                (2, messages, 1),
                "{protocol}, {n} acceptors"
            );
        }
    }
}

#[test]
fn delays_are_as_claimed_whatever_the_seed_and_what_differs_is_explained() {
    for seed in 1..=20 {
        let all = measured(seed);
        let rows = || all.situations.iter().flat_map(|situation| &situation.rows);
        for cost in rows().flat_map(|row| &row.costs) {
            assert!(
                cost.claimed_delays.is_none_or(|claimed| claimed == cost.delays),
                "{cost:?}"
            );
            assert!(
                cost.claimed_messages.is_none_or(|claimed| claimed <= cost.messages),
                "{cost:?}"
            );
        }
        for row in rows() {
            assert_eq!(row.differs(), !row.claim.explanation.is_empty(), "{:?}", row.claim);
            assert!(row.claim.source.contains("Paxos"), "{:?}", row.claim);
            assert!(
                !row.differs() || row.claim.explanation.contains(", section "),
                "{:?}",
                row.claim
            );
        }
        assert_eq!(rows().count(), 7 * 4);
    }
}

#[test]
fn only_the_timeouts_of_colliding_proposals_without_a_leader_change_what_is_sent() {
    let without_waits = |seed| {
        let mut all = measured(seed);
        all.seed = 0;
        all.situations
            .retain(|situation| situation.name != "collision-without-leader");
        let rows = all.situations.iter_mut().flat_map(|situation| &mut situation.rows);
        rows.flat_map(|row| &mut row.costs)
            .for_each(|cost| cost.waited_ms = 0.0);
        all
    };
    let first = without_waits(1);
    assert_eq!(first.situations.len(), 6);
    assert!((2..=20).all(|seed| without_waits(seed) == first));
}

#[test]
fn a_comparison_is_the_same_again() {
    assert_eq!(measured(3), measured(3));
}

#[test]
fn variants_and_sizes_that_cannot_be_compared_are_refused() {
    let refused = |variants: &[&str], sizes: &[usize]| {
        let variants: Vec<String> = variants.iter().map(ToString::to_string).collect();
        DecisionSetup::new(&variants, sizes, 1).unwrap_err()
    };
    assert!(refused(&["fast-paxo"], &[]).contains("did you mean `fast-paxos`?"));
    let zen = refused(&["consensus/zen"], &[]);
    assert!(
        zen.contains("zooquake explore consensus/zen") && zen.contains("paxos, fast-paxos-restart"),
        "{zen}"
    );
    assert_eq!(
        refused(&["paxos", "consensus/paxos"], &[]),
        "consensus/paxos is there twice"
    );
    assert_eq!(refused(&[], &[5, 3, 5]), "5 acceptors are there twice");
    assert!(refused(&[], &[2]).contains("give --servers 3 to 7"));
    let chosen = DecisionSetup::new(&["fast-paxos".into(), "paxos".into()], &[7, 6], 1).unwrap();
    let names: Vec<&str> = chosen.protocols().map(|(variant, _)| variant.name).collect();
    assert_eq!((names, chosen.acceptors), (vec!["paxos", "fast-paxos"], vec![6, 7]));
}
