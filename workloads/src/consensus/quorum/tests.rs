//! Quorums intersect as the algorithms need them to, and what is kept of a decision is passed on when it has to be.

use super::*;

/// All sets of so many of n acceptors.
fn sets(acceptors: u8, size: usize) -> Vec<NodeSet> {
    let all = (0..1 << acceptors).map(NodeSet);
    all.filter(|set| set.len() == size).collect()
}

#[test]
fn any_two_majorities_intersect() {
    for n in 1..=7 {
        let quorums = sets(n, majority(n));
        for &a in &quorums {
            assert!(quorums.iter().all(|&b| !a.intersection(b).is_empty()), "{n} acceptors");
        }
    }
}

#[test]
fn any_classic_quorum_and_any_two_fast_quorums_intersect() {
    for (n, size) in [(3, 3), (4, 3), (5, 4), (7, 6)] {
        assert_eq!(three_quarters(n), size);
        let fast = sets(n, size);
        for q in sets(n, majority(n)) {
            for &r in &fast {
                let both = q.intersection(r);
                assert!(fast.iter().all(|&s| !both.intersection(s).is_empty()), "{n} acceptors");
            }
        }
    }
}

#[test]
fn plain_majorities_are_no_fast_quorums() {
    for n in [3, 5, 7] {
        let quorums = sets(n, majority(n));
        let disjoint = |&q: &NodeSet| {
            let with_two = |&r: &NodeSet| quorums.iter().any(|&s| q.intersection(r).intersection(s).is_empty());
            quorums.iter().any(with_two)
        };
        assert!(quorums.iter().any(disjoint), "{n} acceptors");
    }
}

#[test]
fn roles_are_numbered_in_order() {
    let group = PaxosGroup {
        acceptors: 3,
        leaders: 2,
        learners: 2,
        proposers: 1,
    };
    let roles = group.roles("leader");
    let names: Vec<&str> = roles.iter().map(|role| role.name).collect();
    let expected = [
        "acceptor", "acceptor", "acceptor", "leader", "leader", "learner", "learner", "proposer",
    ];
    assert_eq!(names, expected);
    assert!(roles.iter().all(|role| role.client == (role.name == "proposer")));
    assert_eq!(group.learners(), 5..7);
}

#[test]
fn a_learner_learns_once_and_informs_who_still_asks() {
    let mut learner = LearnedVotes::boot(PaxosVote::NONE);
    let [first, second] = [1, 2].map(|ballot| PaxosVote { ballot, value: 7 });
    let takes = [
        (0, first, LearnerAction::Ignore),
        (0, first, LearnerAction::Ignore),
        (1, first, LearnerAction::Learn(first)),
        (2, first, LearnerAction::Ignore),
        // The leader repeats its `2a`.
        (0, first, LearnerAction::Inform(first)),
        (1, first, LearnerAction::Ignore),
        (2, first, LearnerAction::Ignore),
        (2, first, LearnerAction::Inform(first)),
        // Another leader conducts a ballot.
        (1, second, LearnerAction::Ignore),
        (2, second, LearnerAction::Inform(second)),
        (0, second, LearnerAction::Ignore),
        (0, first, LearnerAction::Ignore),
    ];
    for (acceptor, vote, action) in takes {
        assert_eq!(learner.take(acceptor, vote, 2), action, "{acceptor}: {vote}");
    }
    assert_eq!(learner.learned, first);
}

#[test]
fn a_restarted_learner_learns_nothing_anew_but_another_value() {
    let [same, other] = [(1, 7), (2, 8)].map(|(ballot, value)| PaxosVote { ballot, value });
    let mut learner = LearnedVotes::boot(same);
    assert_eq!(learner.take(0, same, 2), LearnerAction::Ignore);
    assert_eq!(learner.take(1, same, 2), LearnerAction::Inform(same));
    assert_eq!(learner.take(0, other, 2), LearnerAction::Ignore);
    assert_eq!(learner.take(2, other, 2), LearnerAction::Learn(other));
}
