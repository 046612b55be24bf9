//! Two leaders in one epoch, and what looks like it and is none.

use super::anomalies::{LEADERS, logs, winner, wins, z};
use super::server_log_lines::{ServerLogWriter, judge, kinds, sample, tells};

#[test]
fn two_servers_established_in_one_epoch_convict() {
    let one = wins(winner(false));
    let three = ServerLogWriter::new(3, true)
        .starts(0)
        .looks(1000, z(1, 5))
        .casts(1001, 2, (1, z(1, 5), 3))
        .becomes(1500, "LEADING");
    // It won and is not acknowledged ("Follower is ahead of the leader"), although it proposes the same epoch.
    assert_eq!(kinds(&logs(&[&one, &three]), &[]), [""; 0]);
    let three = three.leads(1600, 2, "3, 2");
    let found = judge(&logs(&[&one, &three]), &[]);
    assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [LEADERS]);
    tells(&found[0], "epoch 2: n1 at 1.300 s");
    tells(&found[0], "n3 at 1.600 s, acknowledged by the servers 2, 3");
}

#[test]
fn two_servers_that_answer_as_leader_of_one_epoch_convict() {
    let resumed = [
        sample(100, "n1", "leader", z(3, 7)),
        sample(100, "n2", "follower", z(3, 7)),
        sample(900, "n1", "silent", 0),
        sample(900, "n2", "leader", z(4, 0)),
        // A leader that was frozen still answers with its old role, for its own epoch.
        sample(1200, "n1", "leader", z(3, 7)),
        sample(1200, "n2", "leader", z(4, 1)),
        sample(1500, "n1", "follower", z(4, 1)),
    ];
    assert_eq!(kinds(&[], &resumed), [""; 0]);
    // Both took transactions of epoch 3 while they led.
    let two = [
        sample(100, "n1", "leader", z(3, 7)),
        sample(900, "n2", "leader", z(3, 8)),
        sample(1200, "n1", "leader", z(3, 9)),
        sample(1200, "n2", "leader", z(3, 10)),
    ];
    let found = judge(&[], &two);
    assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [LEADERS]);
    assert_eq!(found[0].span, Some((100_000_000, 900_000_000)));
    // The same answers from a server that took none may be those of the leader of a later epoch.
    let mut still = two.clone();
    still[3].zxid = still[1].zxid;
    assert_eq!(kinds(&[], &still), [""; 0]);
    // For a moment a new leader still has the zxid of the epoch before.
    let mut early = resumed.to_vec();
    early.insert(3, sample(880, "n2", "leader", z(3, 7)));
    assert_eq!(kinds(&[], &early), [""; 0]);
    let frozen = ServerLogWriter::new(2, false)
        .starts(0)
        .looks(500, z(3, 7))
        .casts(501, 1, (3, z(3, 7), 2))
        .becomes(800, "LEADING")
        .leads(879, 4, "2, 3");
    let then_silent = [early[0].clone(), early[3].clone(), sample(1300, "n2", "silent", 0)];
    assert_eq!(kinds(&logs(&[&frozen]), &then_silent), [""; 0]);
}

#[test]
fn a_new_leaders_answer_with_its_old_zxid_makes_no_second_leader() {
    let until = |last: &[zooquake_history::evidence::ServerSample]| {
        let mut all = vec![
            sample(100, "n1", "leader", z(4, 5)),
            sample(100, "n2", "follower", z(4, 5)),
            sample(350, "n1", "leader", z(4, 9)),
            sample(600, "n2", "leader", z(4, 9)),
        ];
        all.extend_from_slice(last);
        all
    };
    let silent = sample(850, "n2", "silent", 0);
    for last in [
        vec![],
        vec![silent.clone()],
        vec![silent.clone(), sample(1100, "n2", "follower", z(6, 1))],
        vec![
            sample(850, "n2", "leader", z(4, 9)),
            sample(1100, "n2", "leader", z(5, 1)),
        ],
        vec![sample(850, "n2", "follower", z(4, 9))],
    ] {
        assert_eq!(kinds(&[], &until(&last)), [""; 0], "{last:?}");
    }
    // Of its log no more is left than that it starts.
    let mut cut = ServerLogWriter::new(2, false).starts(0);
    cut.text +=
        "2026-01-02 03:00:05,000 [QuorumPeer] INFO org.apache.zookeeper.server.quorum.Leader - Have quorum of supp";
    let last = [silent, sample(1100, "n2", "follower", z(6, 1))];
    assert_eq!(kinds(&logs(&[&cut]), &until(&last)), [""; 0]);
    // It goes on in epoch 4, which a leader of another one never does.
    assert_eq!(kinds(&[], &until(&[sample(850, "n2", "leader", z(4, 10))])), [LEADERS]);
    let resumed = [sample(850, "n2", "silent", 0), sample(1100, "n2", "leader", z(4, 10))];
    assert_eq!(kinds(&[], &until(&resumed)), [LEADERS]);
}
