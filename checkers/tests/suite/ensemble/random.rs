//! Simulated elections against what is read from their logs.

use super::server_log_lines::{ServerLogWriter, kinds};
use super::simulator::Simulator;
use fastrand::Rng;
use std::collections::BTreeSet;
use zooquake_checkers::ensemble::elections;
use zooquake_history::server_log::{LeaderVote, ServerLog};

fn logs(simulator: &Simulator) -> Vec<ServerLog> {
    let told = |teller: &&ServerLogWriter| !teller.text.is_empty();
    simulator.tellers().filter(told).map(ServerLogWriter::log).collect()
}

/// Some servers' votes for themselves, at least a quorum, with epochs and zxids that are often equal.
fn votes(random: &mut Rng, count: i64) -> Vec<LeaderVote> {
    let mut sids: Vec<i64> = (1..=count).collect();
    random.shuffle(&mut sids);
    sids.truncate(random.usize(count as usize / 2 + 1..=count as usize));
    let vote = |leader| {
        let epoch = random.i64(3..5);
        let zxid = (random.i64(2..=epoch) << 32) | random.i64(1..4);
        LeaderVote { epoch, zxid, leader }
    };
    sids.into_iter().map(vote).collect()
}

/// Several elections one after the other, by servers that live on or are started again, each with later zxids.
fn several(seed: u64) -> Simulator {
    let mut random = Rng::with_seed(seed);
    let count = random.choice([3, 5]).expect("there are two");
    let mut simulator = Simulator::new(seed, count);
    for term in 0..random.i64(1..4) {
        let mut votes = votes(&mut random, count);
        for vote in &mut votes {
            vote.epoch += 10 * term;
            vote.zxid += (10 * term) << 32;
        }
        let restarted: BTreeSet<i64> = (1..=count).filter(|_| random.bool()).collect();
        simulator.elect(&votes, &restarted);
        simulator.establish(10 * term + 8);
    }
    simulator
}

#[test]
fn simulated_elections_are_understood_and_innocent() {
    let mut rules = BTreeSet::new();
    let (mut told, mut late) = (0, 0);
    for seed in 0..3000 {
        let simulator = several(seed);
        let logs = logs(&simulator);
        assert!(logs.iter().all(|log| log.cuts.is_empty()), "seed {seed}");
        let found = elections(&logs);
        assert_eq!(found.len(), simulator.truths.len(), "seed {seed}");
        for (found, truth) in found.iter().zip(&simulator.truths) {
            assert_eq!((found.winner, found.vote), (truth.winner, truth.vote), "seed {seed}");
            let counted: BTreeSet<i64> = truth.counted.keys().copied().collect();
            assert_eq!(found.counted, counted, "seed {seed}");
            let others = truth.counted.iter().filter(|(sid, _)| **sid != truth.winner);
            let highest = others
                .map(|(_, first)| *first)
                .max()
                .expect("a quorum is more than one");
            assert_eq!(found.rule, truth.vote.beats(highest), "seed {seed}");
            assert!(found.quorum_ms.is_some_and(|ms| ms <= found.won_ms), "seed {seed}");
            rules.extend(found.rule);
            told += 1;
            late += usize::from(truth.outranked);
        }
        assert_eq!(kinds(&logs, &[]), [""; 0], "seed {seed}");
    }
    assert_eq!(rules.len(), 3, "each rule decides some election");
    assert!(told > 3000, "only {told} elections");
    assert!(late > 50, "only {late} with a higher vote that came too late");
}

#[test]
fn a_planted_lesser_winner_is_always_found() {
    let mut random = Rng::with_seed(5);
    let mut planted = 0;
    for seed in 0..1000 {
        let count = random.choice([3, 5]).expect("there are two");
        let votes = votes(&mut random, count);
        let run = |liar| {
            let mut simulator = Simulator::new(seed, count);
            simulator.liar = liar;
            simulator.elect(&votes, &BTreeSet::new());
            simulator
        };
        let honest = run(None);
        // A follower of one who changed its mind would look again; the simulator leaves it at that.
        let Some(truth) = honest.truths.last() else { continue };
        planted += 1;
        let counted = truth.counted.keys().copied();
        let others: Vec<i64> = counted.filter(|sid| *sid != truth.winner).collect();
        let mut claimed = LeaderVote {
            leader: *random.choice(&others).expect("a quorum is more than one"),
            ..truth.vote
        };
        if claimed.leader < truth.winner || random.bool() {
            match random.bool() {
                true => claimed.epoch += 1,
                false => claimed.zxid += 1,
            }
        }
        let lying = logs(&run(Some(claimed)));
        assert_eq!(kinds(&lying, &[]), ["lesser-vote-won"], "seed {seed}");
        // A cut log of the liar would still show that something is wrong, but only its whole log proves it.
        let mut cut = lying;
        let log = cut
            .iter_mut()
            .find(|log| log.sid() == Some(claimed.leader))
            .expect("it votes");
        log.cuts.push("line 1".to_owned());
        assert_eq!(kinds(&cut, &[]), [""; 0], "seed {seed}");
    }
    assert!(planted > 900, "only {planted} were elected");
}
