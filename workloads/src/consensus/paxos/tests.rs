//! Costs without faults, agreement and progress with them, and the conviction of the planted bug.

use super::*;
use crate::consensus::quorum::harness::{Harness, UNIT, all_decide, convicted_within, value};
use crate::consensus::test_network::schedules;

fn config(acceptors: u8, bug: PaxosBug) -> PaxosConfig {
    PaxosConfig {
        acceptors,
        leaders: 2,
        learners: 2,
        proposers: 2,
        bug,
    }
}

fn kinds(run: &Harness<Paxos>, until: u64) -> [usize; 5] {
    let count = |kind: &str| {
        let sent = run.sent.iter().filter(|sent| sent.0 < until);
        sent.filter(|sent| Paxos::figure(&sent.3).kind == kind).count()
    };
    ["request", "1a", "1b", "2a", "2b"].map(count)
}

#[test]
fn with_phase_1_done_before_a_request_costs_three_delays() {
    for n in [3, 4, 5, 7] {
        let config = config(n, PaxosBug::None);
        let mut run = Harness::<Paxos>::orderly(config);
        run.start_without(&[]);
        run.play(2 * UNIT);
        run.sent.clear();
        run.request(config.group().proposers().start);
        run.play(20 * UNIT);
        let [one, two] = [0, 1].map(|learner| config.group().learners().start + learner);
        let at = 5 * UNIT;
        assert_eq!(run.learned, [(at, one, value(0), 1), (at, two, value(0), 1)]);
        let n = usize::from(n);
        assert_eq!(kinds(&run, at), [1, 0, 0, n, 2 * n]);
        // All that follows: each learner informs two leaders and two proposers.
        assert_eq!(run.sent.len(), 1 + n + 2 * n + 2 * 4);
        assert_eq!(run.answers, [value(0)]);
    }
}

#[test]
fn phase_1_costs_two_delays_more() {
    for n in [3, 4, 5, 7] {
        let config = config(n, PaxosBug::None);
        let group = config.group();
        let mut run = Harness::<Paxos>::orderly(config);
        run.start_without(&[group.leaders().start, group.proposers().start]);
        run.request(group.proposers().start);
        let (second, proposer) = (group.leaders().start + 1, group.proposers().start);
        run.inject(UNIT, proposer, second, PaxosMessage::Request { value: value(0) });
        run.play(20 * UNIT);
        assert!(
            run.learned.iter().all(|learned| learned.0 == 5 * UNIT),
            "{:?}",
            run.learned
        );
        assert_eq!(run.learned.len(), 2);
        let n = usize::from(n);
        assert_eq!(kinds(&run, 5 * UNIT), [0, n, n, n, 2 * n]);
    }
}

#[test]
fn a_minority_of_dead_acceptors_does_not_matter() {
    let config = config(5, PaxosBug::None);
    let mut run = Harness::<Paxos>::orderly(config);
    run.start_without(&[0, 4]);
    run.request(config.group().proposers().start);
    run.play(20 * UNIT);
    assert_eq!(run.learned.len(), 2);
    assert!(!run.disagrees());
}

#[test]
fn a_repeated_ballot_costs_each_learner_one_message() {
    let config = config(5, PaxosBug::None);
    let mut run = Harness::<Paxos>::orderly(config);
    run.start_without(&[]);
    run.request(config.group().proposers().start);
    run.play(20 * UNIT);
    for _ in 0..2 {
        run.sent.clear();
        let proposal = PaxosVote {
            ballot: 1,
            value: value(0),
        };
        for acceptor in config.group().acceptors() {
            let leader = config.group().leaders().start;
            run.inject(run.now, leader, acceptor, PaxosMessage::Phase2a { proposal });
        }
        run.play(run.now + 20 * UNIT);
        let informed = run
            .sent
            .iter()
            .filter(|sent| matches!(sent.3, PaxosMessage::Learned { .. }));
        assert_eq!(informed.count(), 2);
    }
}

#[test]
fn a_restarted_leader_uses_no_ballot_twice() {
    let config = config(3, PaxosBug::None);
    let node = config.group().leaders().start;
    let mut disk = Paxos::new_disk(&config, node);
    let mut last = 0;
    for _ in 0..3 {
        let outputs = Paxos::boot(&config, node, &disk).step(Input::Start);
        let Some(Output::Write(written)) = outputs.first() else {
            panic!("{outputs:?} names a ballot before it is written");
        };
        disk = written.clone();
        assert!(disk.ballot > last && leader::owner(config.group(), disk.ballot) == node);
        last = disk.ballot;
    }
}

#[test]
fn an_acceptor_refuses_lower_ballots_unless_it_forgets() {
    let refusing = |bug| {
        let config = config(3, bug);
        let mut acceptor = Paxos::boot(&config, 0, &PaxosDisk::default());
        let [low, high] = [1, 2].map(|ballot| PaxosVote { ballot, value: 9 });
        let mut receive = |message| acceptor.step(Input::Receive { from: 3, message });
        receive(PaxosMessage::Phase1a { ballot: high.ballot });
        receive(PaxosMessage::Phase2a { proposal: low })
    };
    let nack = Output::Send {
        to: 3,
        message: PaxosMessage::Nack { promised: 2 },
    };
    assert_eq!(refusing(PaxosBug::None), [nack]);
    assert!(matches!(refusing(PaxosBug::ForgetsPromise)[0], Output::Write(_)));
}

#[test]
fn random_schedules_decide_on_one_value() {
    for n in [3, 4, 5, 7] {
        all_decide::<Paxos>(config(n, PaxosBug::None), schedules(300) / 4);
    }
}

#[test]
fn three_leaders_and_one_decide_too() {
    for leaders in [1, 3] {
        let config = PaxosConfig {
            leaders,
            proposers: 3,
            ..config(3, PaxosBug::None)
        };
        all_decide::<Paxos>(config, schedules(100) / 2);
    }
}

#[test]
fn a_forgotten_promise_is_convicted() {
    for n in [3, 4, 5] {
        assert!(convicted_within::<Paxos>(config(n, PaxosBug::ForgetsPromise), 20_000).is_some());
    }
}
