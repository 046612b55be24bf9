//! Each anomaly of the ensemble, and what looks like it and is none.

use super::server_log_lines::{BEGUN_MS, ServerLogWriter, judge, kinds, sample, tells};
use zooquake_checkers::ensemble::elections;
use zooquake_history::server_log::{ServerLog, VoteRule};

const LESSER: &str = "lesser-vote-won";
pub const LEADERS: &str = "two-ensemble-leaders";
const REGRESSION: &str = "ensemble-epoch-regression";

/// A zxid.
pub fn z(epoch: i64, counter: i64) -> i64 {
    (epoch << 32) | counter
}

pub fn logs(tellers: &[&ServerLogWriter]) -> Vec<ServerLog> {
    tellers.iter().map(|teller| teller.log()).collect()
}

/// Server 1 wins round 2 with the votes of 1 and 2; both layouts.
pub fn winner(official: bool) -> ServerLogWriter {
    ServerLogWriter::new(1, official)
        .starts(0)
        .looks(1000, z(1, 5))
        .casts(1001, 2, (1, z(1, 5), 1))
}

/// Server 2 puts itself forward with `own` in round 2 and then votes for server 1.
fn voter(own: (i64, i64, i64)) -> ServerLogWriter {
    ServerLogWriter::new(2, false)
        .starts(0)
        .looks(1000, own.1)
        .casts(1002, 2, own)
        .casts(1010, 2, (1, z(1, 5), 1))
        .becomes(1230, "FOLLOWING")
}

pub fn wins(one: ServerLogWriter) -> ServerLogWriter {
    one.hears(1012, 2, "LOOKING", 2, (1, z(1, 5), 1))
        .becomes(1220, "LEADING")
        .leads(1300, 2, "1, 2")
}

#[test]
fn a_voter_that_had_more_makes_the_winner_a_lesser_one() {
    let one = wins(winner(true));
    for (own, rule) in [
        ((2, z(1, 1), 2), "epoch"),
        ((1, z(1, 6), 2), "zxid"),
        ((1, z(1, 5), 2), "sid"),
    ] {
        let found = judge(&logs(&[&one, &voter(own)]), &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, LESSER);
        tells(&found[0], &format!("higher by its {rule}"));
        tells(&found[0], "n1 won round 2 at 1.220 s");
        assert_eq!(found[0].span, Some((1_000_000_000, 1_220_000_000)));
    }
    assert_eq!(kinds(&logs(&[&one, &voter((1, z(1, 4), 2))]), &[]), [""; 0]);
}

#[test]
fn only_whole_logs_convict() {
    let (one, two) = (wins(winner(false)), voter((1, z(1, 6), 2)));
    let whole = logs(&[&one, &two]);
    assert_eq!(kinds(&whole, &[]), [LESSER]);
    assert_eq!(kinds(&whole[..1], &[]), [""; 0], "the voter's log is missing");
    for (cut, other) in [(&one, &two), (&two, &one)] {
        let mut behead = cut.clone();
        behead.text = behead.text.split_once('\n').expect("it has lines").1.to_owned();
        let mut torn = cut.clone();
        torn.text.pop();
        for damaged in [behead, torn] {
            let damaged = logs(&[&damaged, other]);
            assert!(!damaged[0].cuts.is_empty());
            assert_eq!(kinds(&damaged, &[]), [""; 0]);
        }
    }
}

#[test]
fn a_late_joiner_with_a_higher_zxid_lawfully_follows() {
    let one = wins(winner(false));
    let two = voter((1, z(1, 3), 2));
    // It comes when the others have decided, and joins those whose notifications name them as following and leading.
    let three = ServerLogWriter::new(3, false)
        .starts(0)
        .looks(1215, z(1, 9))
        .casts(1216, 2, (1, z(1, 9), 3))
        .hears(1240, 1, "LEADING", 2, (2, z(1, 5), 1))
        .hears(1241, 2, "FOLLOWING", 2, (2, z(1, 5), 1))
        .becomes(1242, "FOLLOWING");
    assert_eq!(kinds(&logs(&[&one, &two, &three]), &[]), [""; 0]);
    let found = elections(&logs(&[&one, &two, &three]));
    assert_eq!(found[0].counted, [1, 2].into());
    assert_eq!(found[0].rule, Some(VoteRule::Zxid));
}

#[test]
fn a_vote_that_arrives_after_the_wait_is_not_counted() {
    // Server 3's higher vote was still on its way, and is written down when the winner leads already.
    let one = wins(winner(false)).hears(1225, 3, "LOOKING", 2, (1, z(1, 9), 3));
    let three = ServerLogWriter::new(3, false)
        .starts(0)
        .looks(1100, z(1, 9))
        .casts(1101, 2, (1, z(1, 9), 3))
        .becomes(1400, "FOLLOWING");
    assert_eq!(kinds(&logs(&[&one, &voter((1, z(1, 3), 2)), &three]), &[]), [""; 0]);
}

#[test]
fn followers_and_observers_prove_nothing() {
    // A FOLLOWING vote carries the zxid of its old election, and an observer has no vote at all.
    let one =
        winner(false)
            .hears(1003, 3, "FOLLOWING", 2, (1, z(1, 9), 3))
            .hears(1004, 4, "OBSERVING", 2, (9, z(9, 9), 4));
    let one = wins(one);
    let three = ServerLogWriter::new(3, false)
        .starts(0)
        .looks(900, z(1, 9))
        .casts(901, 2, (1, z(1, 9), 3))
        .hears(902, 1, "LEADING", 2, (1, z(1, 5), 1))
        .becomes(903, "FOLLOWING")
        .hears(1010, 3, "FOLLOWING", 2, (1, z(1, 5), 1));
    let four = ServerLogWriter::new(4, false)
        .starts(0)
        .looks(1000, i64::MIN)
        .hears(1001, 1, "LOOKING", 2, (1, z(1, 5), 1))
        .becomes(1230, "OBSERVING");
    let all = logs(&[&one, &voter((1, z(1, 3), 2)), &three, &four]);
    assert_eq!(kinds(&all, &[]), [""; 0]);
    let found = elections(&all);
    assert_eq!(found[0].counted, [1, 2].into());
    let voters = found[0].ballots.iter().all(|ballot| ballot.sid < 4);
    assert!(voters, "an observer casts no vote");
    let told = found[0].quorum_ms.map(|ms| ms - BEGUN_MS);
    assert_eq!(told, Some(1012), "two of three voters");
}

#[test]
fn votes_before_the_voters_last_start_prove_nothing() {
    let one = wins(winner(false));
    // Rounds begin at 1 again with every start: round 2 of its first life is another round 2.
    let two = ServerLogWriter::new(2, false)
        .starts(0)
        .looks(990, z(1, 9))
        .casts(991, 2, (1, z(1, 9), 2))
        .starts(1000)
        .looks(1001, z(1, 3))
        .casts(1002, 1, (1, z(1, 3), 2))
        .casts(1010, 2, (1, z(1, 5), 1))
        .becomes(1230, "FOLLOWING");
    assert_eq!(kinds(&logs(&[&one, &two]), &[]), [""; 0]);
}

#[test]
fn a_round_that_comes_back_within_a_life_is_another_round() {
    let one = wins(winner(false));
    // It joined a leader of a lower round, which lowers its own, and lost an entry that was never committed.
    let two = ServerLogWriter::new(2, false)
        .starts(0)
        .looks(500, z(1, 9))
        .casts(501, 2, (1, z(1, 9), 2))
        .becomes(700, "FOLLOWING")
        .looks(1000, z(1, 4))
        .casts(1002, 2, (1, z(1, 4), 2))
        .casts(1010, 2, (1, z(1, 5), 1))
        .becomes(1230, "FOLLOWING");
    assert_eq!(kinds(&logs(&[&one, &two]), &[]), [""; 0]);
}

#[test]
fn an_epoch_that_goes_back_across_a_restart_convicts() {
    let one = wins(winner(false));
    let one = one.starts(5000).looks(5100, z(1, 7)).casts(5101, 1, (2, z(1, 7), 1));
    // Its last zxid is of epoch 1 still, and its own epoch the second.
    assert_eq!(kinds(&logs(&[&one]), &[]), [""; 0]);
    let one = one.starts(9000).looks(9100, 0).casts(9101, 1, (0, 0, 1));
    let found = judge(&logs(&[&one]), &[]);
    assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [REGRESSION]);
    tells(&found[0], "epoch 2 at 1.300 s");
    tells(&found[0], "epoch 0 at 9.101 s");
}

#[test]
fn answers_convict_only_from_a_committed_transaction_on() {
    let lost = [
        sample(100, "n1", "follower", z(5, 3)),
        sample(200, "n1", "silent", 0),
        sample(900, "n1", "follower", z(1, 2)),
    ];
    assert_eq!(kinds(&[], &lost), [REGRESSION]);
    // A leader without a transaction of its own epoch goes back to the last entry it has.
    let mut none = lost.clone();
    none[0] = sample(100, "n1", "leader", z(5, 0));
    assert_eq!(kinds(&[], &none), [""; 0]);
    assert_eq!(kinds(&[], &lost[..2]), [""; 0], "silence is no epoch");
}
