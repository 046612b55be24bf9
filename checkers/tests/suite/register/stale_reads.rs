//! What sessions and servers show: order within a session, and staleness with who answered.

use super::{VARIANTS, plain};
use crate::expect::{edited, explains, explains_all, found, innocent, none, one, proven_by};
use crate::script::{changed, run};
use zooquake_checkers::{Verdict, check};
use zooquake_history::ServerSample;

#[test]
fn a_session_does_not_go_back() {
    let text = "
        c1 invoke read; c1 ok read value=null mzxid=9 session=0x1
        c1 invoke read; c1 ok read value=null mzxid=8 session=0x1";
    for variant in VARIANTS {
        let register = |text: &str| run(variant, text);
        assert!(!proven_by(&register(text), "session-order", &[1, 2, 3]).advisory);
        assert_eq!(check(&register(text)).verdict, Verdict::Invalid);
        let table = "mzxid=8 => mzxid=9\n mzxid=8 session=0x1 => mzxid=8 session=0x2";
        innocent(register, text, table);
        let overlaps = "
            c2 invoke read; c1 invoke read
            c2 ok read value=null mzxid=9 session=0x1; c1 ok read value=null mzxid=8 session=0x1";
        none(&register(overlaps));
    }
}

#[test]
fn a_session_reads_its_own_writes() {
    let text = "
        c1 invoke write value=1; c1 ok write value=1 mzxid=9 session=0x1
        c1 invoke read; c1 ok read value=null mzxid=8 session=0x1";
    found(&plain(text), &["session-order", "stale-read"]);
    let table = "c1 ok write value=1 mzxid=9 session=0x1 => c1 info write value=1";
    innocent(plain, text, table);
}

const STALE: &str = "
    1 c1 invoke write value=1; 2 c1 ok write value=1 mzxid=11
    3 c1 invoke write value=2; 4 c1 ok write value=2 mzxid=12
    5 c2 invoke read; 6 c2 ok read value=null mzxid=10 server=n2
    7 c2 invoke read; 8 c2 ok read value=1 mzxid=11 server=n2
    9 c2 invoke read; 10 c2 ok read value=2 mzxid=12 server=n2";

#[test]
fn stale_reads_of_a_server_are_one_episode() {
    let stale = proven_by(&plain(STALE), "stale-read", &[1, 4, 5]);
    assert!(stale.advisory);
    explains_all(
        &stale,
        &[
            "n2 answered nil",
            "3000 ms before",
            "1 more read of it",
            "in the 2000 ms",
            "worst it was 2 acknowledged",
        ],
    );
    let results = check(&run("sync-read", STALE));
    assert_eq!(results.stats["stale_reads"], 2);
    assert_ne!(results.verdict, Verdict::Invalid);
    // A fresh read between them, or another server, makes them two.
    for two in [
        "7 c2 invoke => 6.2 c2 invoke read; 6.5 c2 ok read value=2 mzxid=12 server=n2; 7 c2 invoke",
        "mzxid=11 server=n2 => mzxid=11 server=n3",
    ] {
        found(&plain(&edited(STALE, two)), &["stale-read"; 2]);
    }
}

#[test]
fn a_read_sent_before_the_acknowledgement_is_not_stale() {
    let text = "
        c1 invoke write value=1
        c2 invoke read
        c1 ok write value=1 mzxid=11
        c2 ok read value=null mzxid=10 server=n2";
    none(&plain(text));
    innocent(plain, STALE, "c1 ok => c1 info");
}

/// A sample of a server: second, name, mode, epoch, zxid.
fn samples(all: &[(u64, &str, &str, i64, i64)]) -> Option<Vec<ServerSample>> {
    let sample = |&(second, server, mode, epoch, zxid): &(u64, &str, &str, i64, i64)| ServerSample {
        time: second * 1_000_000_000,
        server: server.to_owned(),
        mode: mode.to_owned(),
        epoch,
        zxid,
        ..ServerSample::default()
    };
    Some(all.iter().map(sample).collect())
}

#[test]
fn who_answered_is_told_by_what_the_servers_said() {
    let cases = [
        (
            vec![
                (1, "n2", "leader", 1, 10),
                (3, "n3", "leader", 2, 12),
                (5, "n2", "silent", 0, 0),
            ],
            "n2 was a deposed leader: its last sample, at 1.000 s, shows it as leader of epoch 1, while n3 led epoch 2",
        ),
        (
            vec![
                (1, "n2", "leader", 1, 10),
                (3, "n3", "leader", 2, 12),
                (4, "n2", "follower", 2, 11),
            ],
            "n2 was lagging: its last sample, at 4.000 s, shows it as follower at transaction 0xb; the leader n3 was at 0xc",
        ),
        (
            // The other leads only later.
            vec![(1, "n2", "leader", 1, 10), (9, "n3", "leader", 2, 12)],
            "The last sample of n2, at 1.000 s, shows it as leader in epoch 1",
        ),
        (
            vec![(1, "n3", "leader", 1, 10)],
            "No sample of the servers shows its role then",
        ),
    ];
    for (said, expected) in cases {
        let record = changed(plain(STALE), |record| record.servers = samples(&said));
        explains(&one(&record, "stale-read"), expected);
    }
}
