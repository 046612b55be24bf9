//! Costs without faults and with collisions, agreement and progress with faults, and the conviction of the planted bug.

use super::rounds::{PickedValue, RoundPlace};
use super::*;
use crate::consensus::protocol::NodeSet;
use crate::consensus::quorum::VotesByAcceptor;
use crate::consensus::quorum::harness::{Harness, UNIT, all_decide, convicted_within, value};
use crate::consensus::test_network::schedules;

const RECOVERIES: [CollisionRecovery; 3] = [
    CollisionRecovery::Restart,
    CollisionRecovery::Coordinated,
    CollisionRecovery::Uncoordinated,
];

fn config(acceptors: u8, recovery: CollisionRecovery) -> FastPaxosConfig {
    FastPaxosConfig {
        acceptors,
        coordinators: 2,
        learners: 2,
        proposers: 3,
        recovery,
        bug: FastPaxosBug::None,
    }
}

/// A run whose first fast round is open.
fn opened(config: FastPaxosConfig, dead: &[Node]) -> Harness<FastPaxos> {
    let mut run = Harness::orderly(config);
    run.start_without(dead);
    run.play(3 * UNIT);
    run.sent.clear();
    run
}

/// The messages of a kind that were sent before a moment to nodes of some roles.
fn sent(run: &Harness<FastPaxos>, until: u64, kind: &str, to: Range<Node>) -> usize {
    let before = run.sent.iter().filter(|sent| sent.0 < until && to.contains(&sent.2));
    before.filter(|sent| FastPaxos::figure(&sent.3).kind == kind).count()
}

/// When the learners have learned, counted in message delays from a moment.
fn delays(run: &Harness<FastPaxos>, from: u64) -> Vec<u64> {
    assert!(!run.disagrees(), "{:?}", run.learned);
    run.learned.iter().map(|learned| (learned.0 - from) / UNIT).collect()
}

#[test]
fn without_a_collision_a_value_is_learned_after_two_delays() {
    for n in [3, 4, 5, 7] {
        for recovery in RECOVERIES {
            let config = config(n, recovery);
            let group = config.group();
            let mut run = opened(config, &[]);
            run.request(group.proposers().start);
            let (began, end) = (run.now, run.now + 2 * UNIT);
            run.play(began + 20 * UNIT);
            assert_eq!(delays(&run, began), [2, 2]);
            let all = usize::from(n);
            assert_eq!(sent(&run, end, "request", 0..n), all);
            assert_eq!(sent(&run, end, "2b", group.learners()), 2 * all);
            // Beside the paper's count: for recovery.
            assert_eq!(sent(&run, end, "2b", group.leaders()), all);
            let others = if recovery == CollisionRecovery::Uncoordinated {
                all * (all - 1)
            } else {
                0
            };
            assert_eq!(sent(&run, end, "2b", group.acceptors()), others);
            assert_eq!(run.sent.iter().filter(|sent| sent.0 < end).count(), 4 * all + others);
            // All that follows: each learner informs two coordinators and three proposers.
            assert_eq!(run.sent.len(), 4 * all + others + 2 * 5);
            assert_eq!(run.answers, [value(0)]);
        }
    }
}

#[test]
fn phase_1_costs_two_delays_more() {
    let config = config(5, CollisionRecovery::Coordinated);
    let mut run = Harness::<FastPaxos>::orderly(config);
    run.start_without(&[]);
    run.request(config.group().proposers().start);
    run.play(20 * UNIT);
    assert_eq!(delays(&run, 0), [4, 4]);
    let phase_1 = ["1a", "1b"].map(|kind| sent(&run, 4 * UNIT, kind, 0..config.group().leaders().end));
    assert_eq!(phase_1, [5, 5]);
}

#[test]
fn recovery_from_a_collision_costs_one_two_or_four_delays() {
    for (recovery, further) in RECOVERIES.into_iter().zip([4, 2, 1]) {
        for n in [3, 4, 5, 7] {
            let config = config(n, recovery);
            let mut run = opened(config, &[]);
            let proposers = [0, 1].map(|turn| config.group().proposers().start + turn);
            proposers.iter().for_each(|&proposer| run.request(proposer));
            let began = run.now;
            // Acceptors are reached by the two proposers in different orders, one message delay after these sent.
            for acceptor in config.group().acceptors() {
                let turn = u32::from(acceptor % 2);
                let message = FastPaxosMessage::Request { value: value(turn) };
                run.inject(began + UNIT - 1, proposers[turn as usize], acceptor, message);
            }
            run.play(began + 30 * UNIT);
            assert_eq!(delays(&run, began - 1), [2 + further; 2], "{recovery:?}, {n} acceptors");
        }
    }
}

#[test]
fn where_a_fast_quorum_is_dead_a_classic_round_decides() {
    for recovery in RECOVERIES {
        let config = config(3, recovery);
        let mut run = opened(config, &[2]);
        run.request(config.group().proposers().start);
        let began = run.now;
        let (shortest, longest) = (60, 110);
        run.play(began + shortest * UNIT);
        assert_eq!(run.learned, []);
        run.play(began + longest * UNIT);
        assert_eq!(run.learned.len(), 2, "{recovery:?}");
        let round = if recovery == CollisionRecovery::Coordinated {
            2
        } else {
            3
        };
        let rounds = FastRounds::new(&config);
        assert!(
            run.learned
                .iter()
                .all(|learned| learned.3 == round && !rounds.is_fast(round))
        );
    }
}

#[test]
fn rounds_have_owners_and_places() {
    let rounds = FastRounds::new(&config(3, CollisionRecovery::Uncoordinated));
    let owners: Vec<Node> = (1..=9).map(|round| rounds.owner(round)).collect();
    assert_eq!(owners, [3, 3, 3, 4, 4, 4, 3, 3, 3]);
    let fast: Vec<u32> = (1..=9).filter(|&round| rounds.is_fast(round)).collect();
    assert_eq!(fast, [1, 2, 4, 5, 7, 8]);
    assert_eq!(rounds.next(0, 3, RoundPlace::Opening), 1);
    assert_eq!(rounds.next(1, 3, RoundPlace::Opening), 7);
    assert_eq!(rounds.next(1, 3, RoundPlace::Closing), 3);
    assert_eq!(rounds.next(0, 4, RoundPlace::Closing), 6);
}

/// A value that may be chosen in round 1 by the votes of a classic quorum: the acceptors outside may all have voted for
/// it. By brute force over all votes in round 1.
#[test]
fn what_may_be_chosen_is_picked() {
    for n in [3, 4, 5] {
        let rounds = FastRounds::new(&config(n, CollisionRecovery::Coordinated));
        for code in 0..3_u32.pow(u32::from(n)) {
            let mut votes = VotesByAcceptor::default();
            let value = |acceptor: Node| code / 3_u32.pow(u32::from(acceptor)) % 3;
            for acceptor in (0..n).filter(|&acceptor| value(acceptor) > 0) {
                let vote = PaxosVote {
                    ballot: 1,
                    value: value(acceptor),
                };
                votes.record(acceptor, vote);
            }
            let count = |wanted| (0..n).filter(|&acceptor| value(acceptor) == wanted).count();
            let chosen = [1, 2].into_iter().find(|&wanted| count(wanted) >= rounds.quorum(1));
            for quorum in (0..1 << n)
                .map(NodeSet)
                .filter(|set| set.len() == rounds.classic_quorum())
            {
                let picked = rounds.pick(&votes, quorum);
                if let Some(chosen) = chosen {
                    assert_eq!(
                        picked,
                        PickedValue::Bound(chosen),
                        "{n} acceptors: {votes:?}, {quorum:?}"
                    );
                }
                let voted = quorum.iter().any(|acceptor| value(acceptor) > 0);
                assert_eq!(picked == PickedValue::Free(None), !voted);
            }
        }
    }
}

#[test]
fn random_schedules_decide_on_one_value() {
    for recovery in RECOVERIES {
        for n in [3, 4, 5, 7] {
            all_decide::<FastPaxos>(config(n, recovery), schedules(300) / 12);
        }
    }
}

#[test]
fn three_coordinators_and_one_decide_too() {
    for recovery in RECOVERIES {
        for coordinators in [1, 3] {
            let config = FastPaxosConfig {
                coordinators,
                ..config(3, recovery)
            };
            all_decide::<FastPaxos>(config, schedules(60) / 6);
        }
    }
}

#[test]
fn plain_majorities_as_fast_quorums_are_convicted() {
    for recovery in RECOVERIES {
        for n in [3, 5] {
            let config = FastPaxosConfig {
                bug: FastPaxosBug::PlainMajority,
                ..config(n, recovery)
            };
            assert!(convicted_within::<FastPaxos>(config, 20_000).is_some());
        }
    }
}
