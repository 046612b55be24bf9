//! Sessions: who decides that they are over, and when their clients learn of it.

use std::time::Duration;

use zooquake_history::evidence::Txn;
use zooquake_workloads::zk::{CreateMode, Host, SessionState};

use crate::bed::{DEPOSED, EnsembleTestBed, MOMENT, TICK, TIMEOUT};

#[test]
fn a_silent_session_ends_within_two_ticks_of_its_timeout_and_takes_its_ephemerals_in_one_transaction() {
    for seed in 0..10 {
        let bed = EnsembleTestBed::new(3, seed);
        let (host, zk) = bed.hosted();
        for name in ["/b", "/a"] {
            bed.world.run(zk.create(name, b"", CreateMode::Ephemeral)).unwrap();
        }
        let (session, begun) = (zk.session(), bed.world.now());
        bed.net.server().kill_clients(host.number());
        bed.until(|bed| !bed.net.server().sessions_alive().contains(&session));
        let took = bed.world.now() - begun;
        // The session's last activity may have been reported to the leader half a tick later, and ends are rounded up
        // to ticks.
        assert!(
            took > TIMEOUT - MOMENT && took < TIMEOUT + TICK * 2 + MOMENT,
            "seed {seed}: {took:?}"
        );
        let leader = bed.leader();
        let logged: Vec<Txn> = bed.net.server().logged(leader).collect();
        let ends = logged.into_iter().filter(|txn| txn.op == "closeSession");
        let paths: Vec<Vec<String>> = ends.map(|txn| txn.paths).collect();
        assert_eq!(paths, [["/a", "/b"].map(String::from)], "seed {seed}");
    }
}

#[test]
fn without_a_quorum_nothing_expires_and_a_new_leader_begins_the_timeouts_anew() {
    let bed = EnsembleTestBed::new(3, 1);
    let (host, zk) = bed.hosted();
    bed.net.server().kill_clients(host.number());
    let stopped = bed.followers();
    stopped.iter().for_each(|server| bed.net.server().kill_server(*server));
    bed.world.pass(TIMEOUT * 5);
    stopped.iter().for_each(|server| bed.net.server().start_server(*server));
    bed.until(|bed| bed.net.server().leader().is_some());
    assert!(bed.net.server().sessions_alive().contains(&zk.session()));
    bed.world.pass(TIMEOUT - TICK);
    assert!(
        bed.net.server().sessions_alive().contains(&zk.session()),
        "it has its whole timeout again"
    );
    bed.world.pass(TICK * 3);
    assert!(!bed.net.server().sessions_alive().contains(&zk.session()));
}

#[test]
fn a_client_that_is_cut_off_says_disconnected_after_two_fifths_and_gives_up_after_seven() {
    for seed in 0..10 {
        let bed = EnsembleTestBed::new(3, seed);
        let (host, zk) = bed.hosted();
        bed.world.pass(TIMEOUT * 2);
        for server in 0..3 {
            bed.net.server().cut(server, host.number());
            bed.net.server().cut(host.number(), server);
        }
        let disconnected = bed.takes(&zk, SessionState::Disconnected).as_secs_f64() / TIMEOUT.as_secs_f64();
        let expired = disconnected + bed.takes(&zk, SessionState::Expired).as_secs_f64() / TIMEOUT.as_secs_f64();
        assert!((0.2..0.41).contains(&disconnected), "seed {seed}: {disconnected}");
        assert!((1.2..1.85).contains(&expired), "seed {seed}: {expired}");
    }
}

#[test]
fn a_client_learns_of_its_expiry_when_it_is_back() {
    let bed = EnsembleTestBed::new(3, 2);
    let (host, zk) = bed.hosted();
    bed.world.run(zk.create("/e", b"", CreateMode::Ephemeral)).unwrap();
    bed.net.server().freeze(host.number());
    bed.world.pass(TIMEOUT + TICK * 3);
    assert!(bed.net.server().exists("/e").is_none());
    assert_eq!(zk.state(), SessionState::Connected, "frozen, it knows nothing");
    bed.net.server().thaw(host.number());
    bed.takes(&zk, SessionState::Expired);
}

#[test]
fn a_server_that_is_cut_off_serves_a_session_that_is_over_while_sync_limit_lets_it() {
    let bed = EnsembleTestBed::new(3, 3);
    let follower = bed.followers()[0];
    let zk = bed.at(follower);
    bed.world.run(zk.create("/e", b"", CreateMode::Ephemeral)).unwrap();
    bed.net.server().close_session(zk.session()).expect("a leader");
    let others = bed.cut_off(follower);
    bed.world.pass(Duration::from_millis(500));
    // Cut off before it heard of the end, it answers from what it has.
    let stat = bed.world.run(zk.exists("/e")).expect("an answer");
    assert_eq!(stat.is_some(), zk.state() == SessionState::Connected);
    assert!(bed.net.server().exists("/e").is_none(), "at the leader");
    bed.world.pass(DEPOSED);
    bed.net.server().heal(follower, &others);
    bed.takes(&zk, SessionState::Expired);
}

#[test]
fn a_session_that_is_closed_is_gone_with_its_ephemerals() {
    let bed = EnsembleTestBed::new(3, 4);
    let (zk, other) = (bed.session(), bed.session());
    bed.world.run(zk.create("/e", b"", CreateMode::Ephemeral)).unwrap();
    assert_eq!(bed.world.run(zk.close()), SessionState::Closed);
    bed.world.run(other.sync("/")).unwrap();
    assert_eq!(bed.world.run(other.exists("/e")), Ok(None));
    assert!(bed.world.run(zk.get("/")).is_err());
}
