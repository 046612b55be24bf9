//! Excerpts of real logs, of ZooKeeper 3.8.0 and 3.9.3: leaders killed, frozen and cut off.

use zooquake_checkers::ensemble::{Election, elections};
use zooquake_history::server_log::{ServerLog, VoteRule};

/// The logs of three servers of a version.
fn logs(version: &str) -> Vec<(String, Vec<u8>)> {
    let folder = format!("{}/tests/fixtures/elections-{version}", env!("CARGO_MANIFEST_DIR"));
    let read = |server: &str| std::fs::read(format!("{folder}/{server}.log")).expect("the fixture is there");
    ["n1", "n2", "n3"]
        .map(|server| (server.to_owned(), read(server)))
        .into()
}

fn read(logs: &[(String, Vec<u8>)]) -> Vec<ServerLog> {
    logs.iter()
        .map(|(server, bytes)| ServerLog::read(server, bytes))
        .collect()
}

/// The same entries as the official image writes them.
fn official(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let retold = text.lines().map(|line| {
        let parts = || {
            let (head, rest) = line.split_at_checked(23)?;
            let (thread, rest) = rest.strip_prefix(" [")?.rsplit_once("] INFO org.apache.zookeeper.")?;
            let (class, text) = rest.split_once(" - ")?;
            let class = format!("o.a.z.{}", class.replace("server.quorum.", "s.q."));
            Some(format!("{head} [myid:1] - INFO  [{thread}:{class}@77] - {text}\n"))
        };
        parts().unwrap_or_else(|| format!("{line}\n"))
    });
    retold.collect::<String>().into_bytes()
}

/// Winner, round, rule, those counted, and the epoch it came to lead in.
fn brief(election: &Election) -> (i64, i64, Option<VoteRule>, Vec<i64>, Option<i64>) {
    let epoch = election.established.as_ref().map(|led| led.epoch);
    let counted = election.counted.iter().copied().collect();
    (election.winner, election.round, election.rule, counted, epoch)
}

#[test]
fn every_election_of_a_real_run_is_understood() {
    let by_sid = Some(VoteRule::Sid);
    let expected = [
        (3, 1, by_sid, vec![2, 3], Some(1)),
        (2, 2, by_sid, vec![1, 2], Some(2)),
        (3, 3, by_sid, vec![1, 3], Some(3)),
        (2, 4, by_sid, vec![1, 2], Some(4)),
        (3, 5, by_sid, vec![1, 3], Some(5)),
    ];
    let logs = read(&logs("3.8.0"));
    assert!(logs.iter().all(|log| log.cuts.is_empty()));
    assert_eq!(logs.iter().map(|log| log.lives.len()).collect::<Vec<_>>(), [1, 1, 2]);
    let found = elections(&logs);
    assert_eq!(found.iter().map(brief).collect::<Vec<_>>(), expected);
    let before = |election: &Election| election.quorum_ms.is_some_and(|ms| ms < election.won_ms);
    assert!(found.iter().all(before));
}

#[test]
fn a_newer_version_is_understood_too() {
    let by_sid = Some(VoteRule::Sid);
    let expected = [
        (3, 1, by_sid, vec![1, 2, 3], Some(1)),
        (2, 2, by_sid, vec![1, 2], Some(2)),
        (3, 3, by_sid, vec![1, 3], Some(3)),
    ];
    let logs = read(&logs("3.9.3"));
    assert!(logs.iter().all(|log| log.cuts.is_empty()));
    assert_eq!(elections(&logs).iter().map(brief).collect::<Vec<_>>(), expected);
}

/// In the last election server 2, cut off from the others, proposed itself with a higher zxid than the winner's; no
/// server received it, so it was not counted.
#[test]
fn a_higher_vote_that_nobody_heard_is_told_and_not_counted() {
    let found = elections(&read(&logs("3.8.0")));
    let last = found.last().expect("there are five");
    let unheard: Vec<_> = last.ballots.iter().filter(|ballot| !ballot.counted).collect();
    assert_eq!(unheard.len(), 1);
    assert_eq!((unheard[0].sid, unheard[0].cast.round), (2, last.round));
    assert!(unheard[0].cast.vote > last.vote);
}

#[test]
fn votes_are_told_in_order_with_what_changed_them() {
    let found = elections(&read(&logs("3.8.0")));
    let ballots = found[2].ballots.iter();
    let told = ballots.map(|one| (one.sid, one.cast.vote.leader, one.cast.vote.zxid, one.rule));
    let zxid = 0x2_0000_002a;
    let expected = [
        (1, 1, zxid, None),
        (3, 3, zxid, None),
        (1, 3, zxid, Some(VoteRule::Sid)),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn the_official_images_layout_says_the_same() {
    for version in ["3.8.0", "3.9.3"] {
        let ours = logs(version);
        let mut retold = ours.clone();
        for (_, bytes) in &mut retold {
            *bytes = official(bytes);
        }
        assert_ne!(ours, retold);
        assert_eq!(elections(&read(&retold)), elections(&read(&ours)));
    }
}

/// Wherever a log ends, nothing is made up: every election that is still found is one of those of the whole logs.
#[test]
fn a_log_that_is_cut_off_tells_no_other_elections() {
    let whole = logs("3.8.0");
    let all: Vec<_> = elections(&read(&whole)).iter().map(brief).collect();
    for server in 0..3 {
        for share in 0..40 {
            let mut cut = whole.clone();
            let bytes = &mut cut[server].1;
            bytes.truncate(bytes.len() * share / 40);
            for found in elections(&read(&cut)) {
                let same = |known: &(i64, i64, _, _, _)| (known.0, known.1) == (found.winner, found.round);
                assert!(all.iter().any(same), "server {server} cut at {share} of 40: {found:?}");
            }
            let mut behead = whole.clone();
            let bytes = &mut behead[server].1;
            bytes.drain(..bytes.len() * (share + 1) / 42);
            let log = &read(&behead)[server];
            // What is left may begin with a start of the process; all of that life is there then.
            let lives = read(&whole)[server].lives.len();
            let whole = log.lives[0].whole && log.lives.len() < lives;
            assert!(whole || !log.cuts.is_empty(), "server {server} from {share} of 42");
        }
    }
}
