use super::{cut, setting};
use crate::model::bounds::{ModelBounds, ModelNetwork};
use crate::model::search::{SearchEffort, search};
use zooquake_workloads::consensus::setting::ProtocolSetting;
use zooquake_workloads::consensus::variants::variant;

/// Explores all states within bounds, violating nothing; how many there are, and in how many of them something is
/// decided.
fn explore(name: &str, setting: &ProtocolSetting, bounds: ModelBounds) -> (usize, usize) {
    let goal = variant(name).expect("there is such a variant").goal;
    let outcome = search(setting, goal, bounds, SearchEffort::default()).expect("it has bounds");
    assert!(outcome.counterexample.is_none(), "{outcome}");
    (outcome.unique, outcome.decided)
}

#[test]
fn one_ballot_of_paxos_violates_nothing() {
    assert_eq!(
        explore("paxos", &setting("paxos", 1), ModelBounds::new(1, 0)),
        (2_058, 1_680)
    );
}

#[test]
fn messages_that_are_lost_or_arrive_again_violate_nothing() {
    let setting = setting("paxos", 1);
    let within = |network| {
        let bounds = ModelBounds {
            network,
            ..ModelBounds::new(1, 0)
        };
        cut(bounds, &setting, &["proposer1", "proposer2", "learner1:leader1"])
    };
    assert_eq!(explore("paxos", &setting, within(ModelNetwork::Losing)), (5_936, 520));
    assert_eq!(
        explore("paxos", &setting, within(ModelNetwork::Duplicating)),
        (10_807, 7_608)
    );
}

#[test]
fn processes_that_start_again_violate_nothing() {
    let setting = setting("paxos", 1);
    let bounds = ModelBounds {
        restarts: 1,
        ..ModelBounds::new(2, 0)
    };
    let bounds = cut(bounds, &setting, &["acceptor3", "proposer1", "proposer2"]);
    assert_eq!(explore("paxos", &setting, bounds), (22_320, 3_648));
}

#[test]
fn two_ballots_of_paxos_violate_nothing() {
    let setting = setting("paxos", 2);
    let bounds = cut(ModelBounds::new(2, 1), &setting, &["acceptor3", "proposer1"]);
    assert_eq!(explore("paxos", &setting, bounds), (4_135, 2_200));
}

#[test]
fn a_fast_round_violates_nothing() {
    assert_eq!(
        explore("fast-paxos", &setting("fast-paxos", 1), ModelBounds::new(1, 0)),
        (13_308, 1_152)
    );
}

#[test]
fn recovery_from_a_collision_violates_nothing() {
    let setting = setting("fast-paxos", 1);
    let names = [
        "proposer1",
        "proposer2",
        "proposer1:acceptor2",
        "proposer1:acceptor3",
        "proposer2:acceptor1",
        "acceptor3:coordinator1",
        "learner1:coordinator1",
    ];
    assert_eq!(
        explore("fast-paxos", &setting, cut(ModelBounds::new(2, 1), &setting, &names)),
        (93_572, 31_008)
    );
}

#[test]
fn elections_of_two_servers_violate_nothing() {
    let setting = setting("fast-leader-election", 0);
    let bounds = cut(ModelBounds::new(2, 1), &setting, &["server3"]);
    assert_eq!(explore("fast-leader-election", &setting, bounds), (6_023, 5_520));
}

#[test]
fn an_election_of_three_servers_violates_nothing() {
    let setting = setting("fast-leader-election-alone", 0);
    let bounds = cut(ModelBounds::new(1, 0), &setting, &["server2:server3"]);
    assert_eq!(
        explore("fast-leader-election-alone", &setting, bounds),
        (30_324, 21_546)
    );
}
