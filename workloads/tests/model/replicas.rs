//! Servers: what they agree on, when they lag, and who leads.

use std::sync::Arc;
use std::time::Duration;

use zooquake_history::evidence::Txn;
use zooquake_workloads::zk::{CreateMode, Error, MultiOp, SessionState, Zk};

use crate::bed::{DEPOSED, EnsembleTestBed, MOMENT, TIMEOUT};

#[test]
fn reads_may_be_stale_and_sync_makes_them_current() {
    let bed = EnsembleTestBed::new(3, 1);
    let [lagging, other] = bed.followers()[..] else {
        panic!("two followers")
    };
    let (reader, writer) = (bed.at(lagging), bed.at(other));
    bed.world
        .run(writer.create("/r", b"old", CreateMode::Persistent))
        .unwrap();
    bed.world.pass(MOMENT);
    let others = bed.cut_off(lagging);
    bed.world.run(writer.set("/r", b"new", None)).unwrap();
    assert_eq!(bed.data(&reader, "/r"), "old");
    let synced = bed.world.start(reader.sync("/r"));
    bed.world.pass(MOMENT);
    assert!(synced.with(Option::is_none), "no leader answers");
    bed.net.server().heal(lagging, &others);
    bed.until(|_| synced.with(Option::is_some));
    assert_eq!(synced.update(Option::take), Some(Ok(())));
    assert_eq!(bed.data(&reader, "/r"), "new");
}

#[test]
fn a_session_never_goes_back_in_time() {
    let bed = EnsembleTestBed::new(3, 2);
    let lagging = bed.followers()[0];
    let leader = bed.leader();
    let host = bed.net.host().among(&[leader, lagging]);
    bed.net.server().cut(host.number(), lagging);
    let zk = bed.open(&host);
    assert_eq!(bed.net.server().server_for(host.number()), Some(leader));
    bed.world.run(zk.create("/r", b"old", CreateMode::Persistent)).unwrap();
    bed.world.pass(MOMENT);
    let others = bed.cut_off(lagging);
    bed.world.run(zk.set("/r", b"new", None)).unwrap();
    bed.net.server().heal(host.number(), &[lagging]);
    bed.net.server().cut(leader, host.number());
    bed.net.server().cut(host.number(), leader);
    bed.takes(&zk, SessionState::Disconnected);
    assert!(
        bed.net.server().state_of(lagging).is_some(),
        "it serves, and refuses who has seen more"
    );
    bed.net.server().heal(lagging, &others);
    bed.takes(&zk, SessionState::Connected);
    assert_eq!(bed.net.server().server_for(host.number()), Some(lagging));
    assert_eq!(bed.data(&zk, "/r"), "new");
}

#[test]
fn a_leader_that_is_cut_off_acknowledges_nothing_answers_sync_and_steps_down() {
    for seed in 0..10 {
        let bed = EnsembleTestBed::new(3, seed);
        let old = bed.leader();
        let zk = bed.at(old);
        bed.world.run(zk.create("/r", b"", CreateMode::Persistent)).unwrap();
        let others = bed.cut_off(old);
        let synced = bed.world.run(zk.sync("/r"));
        assert_eq!(synced, Ok(()), "sync is no quorum operation (ZOOKEEPER-1675)");
        let lost = bed.world.start(zk.create("/lost", b"", CreateMode::Persistent));
        bed.world.pass(DEPOSED);
        let new = bed.leader();
        assert!(new != old && bed.net.server().state_of(old).is_none(), "seed {seed}");
        assert!(
            matches!(lost.update(Option::take), Some(Err(Error::Unknown(_)))),
            "seed {seed}"
        );
        let writer = bed.at(new);
        bed.world
            .run(writer.create("/kept", b"", CreateMode::Persistent))
            .unwrap();
        bed.net.server().heal(old, &others);
        bed.until(|bed| bed.net.server().state_of(old).is_some());
        // The proposal that no other server had is cut off its log.
        let zk = bed.at(old);
        let stat = |path: &str| bed.world.run(zk.exists(path)).unwrap();
        assert!(stat("/lost").is_none() && stat("/kept").is_some(), "seed {seed}");
    }
}

#[test]
fn a_proposal_that_was_not_acknowledged_may_survive_its_leader() {
    let mut survived = [0, 0];
    for seed in 0..40 {
        let bed = EnsembleTestBed::new(3, seed);
        let old = bed.leader();
        let zk = bed.at(old);
        let write = bed.world.start(zk.create("/maybe", b"", CreateMode::Persistent));
        bed.world.pass(Duration::from_micros(300 + 30 * seed));
        bed.net.server().kill_server(old);
        bed.until(|bed| bed.net.server().leader().is_some());
        let acknowledged = matches!(write.update(Option::take), Some(Ok(_)));
        let there = bed.net.server().exists("/maybe").is_some();
        assert!(
            there || !acknowledged,
            "seed {seed}: what was acknowledged is never lost"
        );
        survived[usize::from(there)] += usize::from(!acknowledged);
    }
    assert!(survived[0] > 0 && survived[1] > 0, "{survived:?}");
}

#[test]
fn acknowledged_writes_survive_the_leader_one_after_the_other() {
    for seed in 0..5 {
        let bed = EnsembleTestBed::new(5, seed);
        for round in 0..4 {
            let zk = bed.session();
            let path = format!("/r{round}");
            bed.world.run(zk.create(&path, b"", CreateMode::Persistent)).unwrap();
            let old = bed.leader();
            bed.net.server().kill_server(old);
            bed.until(|bed| bed.net.server().leader().is_some_and(|leader| leader != old));
            (0..=round).for_each(|round| {
                assert!(bed.net.server().exists(&format!("/r{round}")).is_some(), "seed {seed}");
            });
            bed.net.server().start_server(old);
            bed.until(|bed| bed.net.server().state_of(old).is_some());
        }
        let trees: Vec<Vec<String>> = (0..5)
            .map(|server| {
                bed.net
                    .server()
                    .nodes_at(server)
                    .map(|(path, _)| path.to_string())
                    .collect()
            })
            .collect();
        bed.world.pass(MOMENT);
        assert!(trees.iter().all(|tree| *tree == trees[0]), "seed {seed}: {trees:?}");
    }
}

#[test]
fn a_leader_that_was_frozen_is_deposed_and_its_clients_move_on() {
    let bed = EnsembleTestBed::new(3, 3);
    let old = bed.leader();
    let zk = bed.session();
    bed.net.server().freeze(old);
    bed.world.pass(DEPOSED);
    let new = bed.leader();
    assert_ne!(new, old);
    bed.until(|_| zk.state() == SessionState::Connected);
    bed.world.run(zk.create("/r", b"", CreateMode::Persistent)).unwrap();
    bed.net.server().thaw(old);
    bed.world.pass(TIMEOUT);
    assert_eq!(bed.leader(), new);
    assert_eq!(bed.net.server().state_of(old).map(|(mode, _)| mode), Some("follower"));
}

#[test]
fn a_majority_whose_data_are_wiped_loses_what_was_acknowledged() {
    let bed = EnsembleTestBed::new(3, 4);
    let zk = bed.session();
    bed.world.run(zk.create("/r", b"", CreateMode::Persistent)).unwrap();
    assert!(bed.net.server().wipe_server(0).is_err(), "it runs");
    (0..3).for_each(|server| bed.net.server().kill_server(server));
    for server in [0, 1] {
        bed.net.server().wipe_server(server).unwrap();
        bed.net.server().start_server(server);
    }
    bed.until(|bed| bed.net.server().leader().is_some());
    bed.net.server().start_server(2);
    bed.until(|bed| bed.net.server().state_of(2).is_some());
    let late = bed.at(2);
    assert_eq!(bed.world.run(late.exists("/r")), Ok(None));
    bed.takes(&zk, SessionState::Expired);
}

/// The creates and the multi in a server's log, by the last letters of their paths.
fn creates(bed: &EnsembleTestBed, server: usize) -> String {
    let ensemble = bed.net.server();
    let logged = ensemble.logged(server);
    let names = |txn: Txn| -> Vec<String> {
        let changes = txn.changes().filter(|change| change.op == "create");
        changes.map(|change| change.path.replace('/', "")).collect()
    };
    logged.flat_map(names).collect()
}

#[test]
fn a_log_has_what_its_server_logged_and_kept() {
    for seed in 0..10 {
        let bed = EnsembleTestBed::new(3, seed);
        let (old, dead) = (bed.leader(), bed.followers()[0]);
        let zk = bed.at(old);
        let make = |zk: &Arc<dyn Zk>, path: &str| bed.world.run(zk.create(path, b"", CreateMode::Persistent)).unwrap();
        make(&zk, "/a");
        bed.world.pass(MOMENT);
        bed.net.server().kill_server(dead);
        let ops = ["/b", "/c"].map(|path| MultiOp::Create(path.to_string(), Vec::new(), CreateMode::Ephemeral));
        bed.world.run(zk.multi(ops.to_vec())).unwrap();
        let failing = [&ops[..], &[MultiOp::Delete("/none".to_string(), None)]].concat();
        bed.world.run(zk.multi(failing)).unwrap_err();
        assert_eq!(
            (creates(&bed, dead), creates(&bed, old)),
            ("a".into(), "abc".into()),
            "seed {seed}"
        );
        let multis: Vec<Txn> = bed.net.server().logged(old).filter(|txn| txn.op == "multi").collect();
        let ephemeral: Vec<_> = multis[0]
            .parts
            .iter()
            .map(|part| (part.op.as_str(), part.ephemeral))
            .collect();
        assert_eq!(ephemeral, [("create", Some(true)); 2]);
        assert_eq!(
            multis[1].parts.iter().map(|part| part.op.as_str()).collect::<Vec<_>>(),
            ["error", "error", "error"]
        );
        // It comes back with nothing, and gets a snapshot: what was written before stands in no log of its own.
        bed.net.server().wipe_server(dead).unwrap();
        bed.net.server().start_server(dead);
        bed.until(|bed| bed.net.server().state_of(dead).is_some());
        make(&zk, "/d");
        bed.world.pass(MOMENT);
        assert_eq!(
            (creates(&bed, dead), creates(&bed, old)),
            ("d".into(), "abcd".into()),
            "seed {seed}"
        );
        // A leader that nobody hears logs alone, until it follows another and cuts that off.
        let others = bed.cut_off(old);
        let lost = bed.world.start(zk.create("/x", b"", CreateMode::Persistent));
        bed.world.pass(DEPOSED);
        assert!(lost.with(Option::is_some));
        assert_eq!(
            (creates(&bed, old), creates(&bed, dead)),
            ("abcdx".into(), "d".into()),
            "seed {seed}"
        );
        make(&bed.at(bed.leader()), "/e");
        bed.net.server().heal(old, &others);
        bed.until(|bed| bed.net.server().state_of(old).is_some());
        bed.world.pass(MOMENT);
        assert_eq!(
            (creates(&bed, old), creates(&bed, dead)),
            ("abcde".into(), "de".into()),
            "seed {seed}"
        );
    }
}
