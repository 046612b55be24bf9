use super::*;
use zooquake_history::plan::ConsensusGoal;

const NAMES: [&str; 5] = ["server1", "server2", "server3", "observer1", "observer2"];

/// The violations of these steps, each at its place in the list, with what is violated at the end.
fn judged(goal: ConsensusGoal, names: &[&str], steps: &[ConsensusStep]) -> (Vec<&'static str>, Vec<&'static str>) {
    let names: Vec<Node> = names.iter().map(|&name| name.into()).collect();
    let mut judge = ConsensusJudge::new(goal, NodeSets::from_names(&names));
    let taken = steps
        .iter()
        .enumerate()
        .filter_map(|(place, step)| judge.take(place, *step));
    let during = taken.map(|violation| violation.kind.anomaly()).collect();
    let closed = judge.close(steps.len(), steps.len() + 1);
    (
        during,
        closed.iter().map(|violation| violation.kind.anomaly()).collect(),
    )
}

fn announces(node: u8, announcement: Announcement) -> ConsensusStep {
    ConsensusStep::Announcement { node, announcement }
}

fn leads(node: u8, round: u32) -> ConsensusStep {
    announces(node, Announcement::Leading { round })
}

fn follows(node: u8, leader: u8, round: u32) -> ConsensusStep {
    announces(node, Announcement::Following { leader, round })
}

fn learns(node: u8, value: u32) -> ConsensusStep {
    announces(node, Announcement::Learned { value, round: 1 })
}

fn asks(node: u8, value: u32) -> ConsensusStep {
    ConsensusStep::Request { node, value }
}

fn answers(node: u8, value: u32) -> ConsensusStep {
    announces(node, Announcement::Answered { value })
}

#[test]
fn learners_agree_on_a_proposed_value_which_all_learn() {
    let names = ["learner1", "learner2", "proposer1", "proposer2"];
    let value = |steps: &[ConsensusStep]| judged(ConsensusGoal::Value, &names, steps);
    let both = [asks(2, 7), asks(3, 8)];
    let with = |more: &[ConsensusStep]| value(&[&both, more].concat());
    assert_eq!(
        with(&[learns(0, 8), learns(1, 8), answers(2, 8), answers(3, 8)]),
        (vec![], vec![])
    );
    assert_eq!(
        with(&[learns(0, 8), learns(1, 7), answers(2, 8), answers(3, 8)]).0,
        ["disagreement"]
    );
    assert_eq!(with(&[learns(0, 8), learns(0, 7)]).0, ["disagreement"]);
    assert_eq!(with(&[learns(0, 9)]).0, ["invalid-value"]);
    assert_eq!(with(&[answers(2, 9)]).0, ["invalid-value"]);
    // A value that is learned before it is proposed is invalid, though it is proposed later.
    assert_eq!(value(&[learns(0, 7), asks(2, 7)]).0, ["invalid-value"]);
    assert_eq!(
        with(&[learns(0, 8), answers(2, 8), answers(3, 8)]),
        (vec![], vec!["no-decision"])
    );
    assert_eq!(with(&[learns(0, 8), learns(1, 8), answers(2, 8)]).1, ["no-decision"]);
    // Nobody waits for the answer to a process that has died, and what only such processes proposed need not be chosen.
    let died = ConsensusStep::Death { node: 3 };
    let other = ConsensusStep::Death { node: 2 };
    assert_eq!(with(&[died, other]), (vec![], vec![]));
    assert_eq!(
        with(&[died, other, learns(0, 8)]).1,
        ["no-decision"],
        "the other learner"
    );
    assert_eq!(with(&[died]).1, ["no-decision"]);
    assert_eq!(
        with(&[learns(0, 8), learns(1, 8), answers(2, 8), died]),
        (vec![], vec![])
    );
}

#[test]
fn two_lead_at_once_only_while_the_first_has_not_resigned_died_or_looked() {
    let one = |steps: &[ConsensusStep]| judged(ConsensusGoal::OneLeader, &NAMES, steps).0;
    assert_eq!(one(&[leads(0, 1), leads(1, 1)]), ["two-leaders"]);
    let ends = [
        announces(0, Announcement::Resigned { round: 1 }),
        announces(0, Announcement::Looking { round: 2 }),
        ConsensusStep::Death { node: 0 },
        follows(0, 1, 1),
    ];
    for end in ends {
        assert!(one(&[leads(0, 1), end, leads(1, 1)]).is_empty(), "{end:?}");
    }
    assert!(
        one(&[leads(0, 1), leads(0, 2)]).is_empty(),
        "one node leads one term after the other"
    );
    // Where it is not promised it is no violation.
    assert!(
        judged(ConsensusGoal::Election, &NAMES, &[leads(0, 1), leads(1, 1)])
            .0
            .is_empty()
    );
}

#[test]
fn an_epoch_has_one_leader_also_if_they_lead_one_after_the_other() {
    let epoch = |steps: &[ConsensusStep]| judged(ConsensusGoal::EpochLeader, &NAMES, steps).0;
    let resigns = announces(0, Announcement::Resigned { round: 1 });
    assert_eq!(epoch(&[leads(0, 1), resigns, leads(1, 1)]), ["two-ensemble-leaders"]);
    assert!(
        epoch(&[leads(0, 1), leads(1, 2)]).is_empty(),
        "each leads an epoch of its own"
    );
    assert!(
        epoch(&[leads(0, 1), resigns, leads(0, 1)]).is_empty(),
        "one server leads it again"
    );
}

#[test]
fn a_greater_vote_among_those_that_elected_is_a_lesser_vote_that_won() {
    let has = |node, epoch, zxid| announces(node, Announcement::Credentials { epoch, zxid });
    let looks = |node, round| announces(node, Announcement::Looking { round });
    let elected = |node, voters| announces(node, Announcement::Elected { round: 1, voters });
    let election = |steps: &[ConsensusStep]| judged(ConsensusGoal::Election, &NAMES, steps).0;
    let start = [
        has(0, 1, 9),
        has(1, 1, 9),
        has(2, 2, 3),
        looks(0, 1),
        looks(1, 1),
        looks(2, 1),
    ];
    let with = |step| election(&[&start[..], &[step]].concat());
    assert_eq!(with(elected(1, 0b110)), ["lesser-vote-won"], "a higher epoch");
    assert_eq!(
        with(elected(0, 0b011)),
        ["lesser-vote-won"],
        "the same, and a higher number"
    );
    assert!(with(elected(1, 0b011)).is_empty());
    assert!(with(elected(2, 0b111)).is_empty());
    // What a server has after it has voted is no matter, nor what it had in another round.
    let voted = [has(0, 1, 1), has(1, 1, 2), looks(0, 1), looks(1, 1)];
    let later = |more: &[ConsensusStep]| election(&[&voted, more, &[elected(1, 0b011)]].concat());
    assert!(later(&[has(0, 3, 3)]).is_empty());
    assert!(
        later(&[has(0, 3, 3), looks(0, 1)]).is_empty(),
        "the lowest of a round counts"
    );
    assert!(later(&[has(0, 3, 3), looks(0, 2)]).is_empty());
    let other = [has(0, 3, 3), has(1, 1, 2), looks(0, 2), looks(1, 1), elected(1, 0b011)];
    assert!(election(&other).is_empty());
    let greater = [has(0, 3, 3), has(1, 1, 2), looks(0, 1), looks(1, 1), elected(1, 0b011)];
    assert_eq!(election(&greater), ["lesser-vote-won"]);
}

#[test]
fn a_leader_is_established_by_a_majority_of_voters_that_follow_it() {
    let end = |steps: &[ConsensusStep]| judged(ConsensusGoal::Election, &NAMES, steps).1;
    assert_eq!(end(&[leads(0, 1)]), ["no-leader"]);
    assert!(end(&[leads(0, 1), follows(1, 0, 1)]).is_empty());
    assert_eq!(
        end(&[leads(0, 1), follows(3, 0, 1), follows(4, 0, 1)]),
        ["no-leader"],
        "observers"
    );
    assert_eq!(
        end(&[leads(0, 2), follows(1, 0, 1)]),
        ["no-leader"],
        "a follower of an earlier round"
    );
    assert_eq!(
        end(&[leads(0, 1), follows(1, 0, 1), leads(2, 1)]),
        ["no-leader"],
        "two lead"
    );
}

#[test]
fn what_was_acknowledged_is_in_the_log_of_the_last_leader() {
    let names = ["replica1", "replica2", "replica3", "producer1"];
    let stores = |node, offset, value| {
        let round = Some(1);
        announces(node, Announcement::Stored { offset, round, value })
    };
    let cuts = |node, offset| announces(node, Announcement::Truncated { offset });
    let log = |steps: &[ConsensusStep]| {
        let elected = [leads(0, 1), follows(1, 0, 1)];
        let (during, closed) = judged(ConsensusGoal::Log, &names, &[steps, &elected].concat());
        [during, closed].concat()
    };
    let asked = [asks(3, 5), asks(3, 6)];
    let with = |more: &[ConsensusStep]| log(&[&asked, more].concat());
    let both = [stores(0, 0, 5), stores(0, 1, 6), answers(3, 5), answers(3, 6)];
    assert!(with(&both).is_empty());
    assert_eq!(with(&[&both[..], &[cuts(0, 1)]].concat()), ["lost-message"]);
    assert_eq!(
        with(&[&both[..], &[cuts(0, 0)]].concat()),
        ["lost-message", "lost-message"]
    );
    assert!(with(&[&both[..], &[cuts(0, 1), stores(0, 1, 6)]].concat()).is_empty());
    assert!(
        with(&[&both[..], &[cuts(1, 0)]].concat()).is_empty(),
        "another replica's log"
    );
    assert_eq!(
        with(&[stores(0, 0, 5), answers(3, 5)]),
        ["no-decision"],
        "6 was not answered"
    );
    // What another one stored at its place has taken it away.
    assert_eq!(
        with(&[&both[..], &[stores(0, 0, 9)]].concat()),
        ["lost-message", "lost-message"]
    );
}

#[test]
fn a_leader_of_an_earlier_epoch_has_lost_nothing_when_the_latest_one_is_dead() {
    let names = ["replica1", "replica2", "replica3", "producer1"];
    let stored = Announcement::Stored {
        offset: 0,
        round: Some(2),
        value: 5,
    };
    let death = ConsensusStep::Death { node: 2 };
    let acknowledged = [
        leads(0, 1),
        asks(3, 5),
        leads(2, 2),
        announces(2, stored),
        death,
        answers(3, 5),
    ];
    let during = |steps: &[ConsensusStep]| judged(ConsensusGoal::Log, &names, steps).0;
    assert!(
        during(&acknowledged).is_empty(),
        "replica1 still takes itself for the leader of 1"
    );
    let later = |node, round| during(&[&acknowledged[..], &[leads(node, round)]].concat());
    assert!(later(0, 1).is_empty(), "it begins again with the epoch of before");
    assert_eq!(later(1, 3), ["lost-message"], "the leader of a later epoch");
    assert!(later(2, 3).is_empty(), "the one that has it");
}

#[test]
fn proposers_are_answered_what_is_chosen() {
    let names = ["learner1", "learner2", "proposer1", "proposer2"];
    let with = |goal, more: &[ConsensusStep]| judged(goal, &names, &[&[asks(2, 7), asks(3, 8)], more].concat()).0;
    let value = |more: &[ConsensusStep]| with(ConsensusGoal::Value, more);
    assert_eq!(value(&[learns(0, 7), answers(2, 7), answers(3, 8)]), ["disagreement"]);
    assert_eq!(value(&[answers(3, 8), learns(0, 7)]), ["disagreement"]);
    assert_eq!(value(&[answers(2, 7), answers(3, 8)]), ["disagreement"]);
    assert!(value(&[answers(2, 7), learns(0, 7), answers(3, 7)]).is_empty());
    // Each message to a log has an answer of its own.
    assert!(with(ConsensusGoal::Log, &[answers(2, 7), answers(3, 8)]).is_empty());
}

#[test]
fn an_epoch_of_a_partition_has_one_leader() {
    let names = ["replica1", "replica2"];
    let log = |steps: &[ConsensusStep]| judged(ConsensusGoal::Log, &names, steps).0;
    assert_eq!(log(&[leads(0, 1), follows(1, 0, 1), leads(1, 1)]), ["two-leaders"]);
    assert_eq!(
        log(&[leads(0, 1), ConsensusStep::Death { node: 0 }, leads(1, 1)]),
        ["two-leaders"]
    );
    assert!(log(&[leads(0, 1), leads(1, 2), leads(0, 1), leads(1, 2)]).is_empty());
}
