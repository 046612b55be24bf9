//! Znodes: names, versions, transactions.

use zooquake_history::evidence::{Txn, TxnPart, ZnodeChange};
use zooquake_workloads::zk::{CreateMode, Error, Host, MultiOp, OpResult};

use crate::bed::EnsembleTestBed;

#[test]
fn a_sequence_number_counts_the_creates_below_a_parent_and_restarts_with_it() {
    let bed = EnsembleTestBed::new(3, 1);
    let zk = bed.session();
    let make = |path: &str, mode| bed.world.run(zk.create(path, b"", mode)).map(|made| made.path);
    let next = || make("/p/s-", CreateMode::PersistentSequential).unwrap();
    make("/p", CreateMode::Persistent).unwrap();
    assert_eq!(next(), "/p/s-0000000000");
    make("/p/plain", CreateMode::Persistent).unwrap();
    assert_eq!(make("/p/plain", CreateMode::Persistent), Err(Error::NodeExists));
    assert_eq!(next(), "/p/s-0000000002", "any child counts, a refused create does not");
    bed.world.run(zk.delete("/p/plain", None)).unwrap();
    assert_eq!(next(), "/p/s-0000000003", "deletes do not count");
    bed.net.server().number("/p", i32::MAX);
    assert_eq!((next(), next()), ("/p/s-2147483647".into(), "/p/s--2147483648".into()));
    for child in bed.world.run(zk.children("/p")).unwrap() {
        bed.world.run(zk.delete(&format!("/p/{child}"), None)).unwrap();
    }
    bed.world.run(zk.delete("/p", None)).unwrap();
    make("/p", CreateMode::Persistent).unwrap();
    assert_eq!(next(), "/p/s-0000000000");
}

#[test]
fn a_znode_that_is_created_again_has_the_first_version_again_and_another_czxid() {
    let bed = EnsembleTestBed::new(3, 2);
    let zk = bed.session();
    let first = bed
        .world
        .run(zk.create("/a", b"", CreateMode::Persistent))
        .unwrap()
        .stat
        .unwrap();
    let written = bed.world.run(zk.set("/a", b"1", Some(0))).unwrap();
    assert_eq!((written.version, written.czxid), (1, first.czxid));
    assert!(written.mzxid > first.mzxid);
    assert_eq!(bed.world.run(zk.set("/a", b"2", Some(0))), Err(Error::BadVersion));
    bed.world.run(zk.delete("/a", Some(1))).unwrap();
    let again = bed
        .world
        .run(zk.create("/a", b"", CreateMode::Persistent))
        .unwrap()
        .stat
        .unwrap();
    assert!(again.version == 0 && again.czxid > first.czxid);
    let check = vec![MultiOp::Check("/a".into(), Some(0))];
    assert_eq!(
        bed.world.run(zk.multi(check)),
        Ok(vec![OpResult::Checked]),
        "of another incarnation"
    );
}

#[test]
fn ephemerals_have_no_children_and_parents_are_not_deleted() {
    let bed = EnsembleTestBed::new(3, 3);
    let zk = bed.session();
    let make = |path: &str, mode| bed.world.run(zk.create(path, b"", mode)).map(|made| made.stat);
    let stat = make("/e", CreateMode::Ephemeral).unwrap().unwrap();
    assert_eq!(stat.ephemeral_owner, zk.session());
    assert_eq!(
        make("/e/x", CreateMode::Persistent),
        Err(Error::NoChildrenForEphemerals)
    );
    assert_eq!(make("/none/x", CreateMode::Persistent), Err(Error::NoNode));
    make("/p", CreateMode::Persistent).unwrap();
    make("/p/x", CreateMode::Persistent).unwrap();
    assert_eq!(bed.world.run(zk.delete("/p", None)), Err(Error::NotEmpty));
}

#[test]
fn a_multi_is_done_as_a_whole_or_not_at_all_and_names_what_failed() {
    let bed = EnsembleTestBed::new(3, 4);
    let zk = bed.session();
    let create = |path: &str| MultiOp::Create(path.into(), b"x".to_vec(), CreateMode::Persistent);
    let refused = bed.world.run(zk.multi(vec![
        create("/a"),
        create("/a/b"),
        MultiOp::Delete("/none".into(), None),
    ]));
    let error = refused.unwrap_err();
    assert_eq!((error.index, error.error), (Some(2), Error::NoNode));
    assert_eq!(bed.world.run(zk.exists("/a")), Ok(None));
    let whole = vec![
        create("/a"),
        create("/a/b"),
        MultiOp::Set("/a/b".into(), b"y".to_vec(), Some(0)),
    ];
    let results = bed.world.run(zk.multi(whole)).unwrap();
    let [OpResult::Created(a), OpResult::Created(b), OpResult::Set(stat)] = results.as_slice() else {
        panic!("{results:?}");
    };
    assert_eq!((a.stat, b.stat), (None, None), "ZOOKEEPER-4026");
    let czxid = |path: &str| bed.world.run(zk.exists(path)).unwrap().expect("a znode").czxid;
    assert_eq!(
        (czxid("/a"), czxid("/a/b")),
        (stat.mzxid, stat.mzxid),
        "one transaction"
    );
    // What was taken back left no trace in the numbers of its parent.
    let made = bed
        .world
        .run(zk.create("/s-", b"", CreateMode::PersistentSequential))
        .unwrap();
    assert_eq!(made.path, "/s-0000000001");
}

#[test]
fn a_log_has_the_data_of_creates_and_sets() {
    let bed = EnsembleTestBed::new(3, 5);
    let zk = bed.session();
    let create =
        |path: &str, data: &[u8]| MultiOp::Create(path.into(), data.to_vec(), CreateMode::PersistentSequential);
    bed.world.run(zk.create("/a", b"7\xff", CreateMode::Ephemeral)).unwrap();
    bed.world.run(zk.set("/a", &[b'8'; 300], None)).unwrap();
    let parts = [
        create("/b-", b"9"),
        MultiOp::Set("/a".into(), vec![], None),
        MultiOp::Check("/a".into(), None),
        MultiOp::Delete("/a".into(), None),
    ];
    bed.world.run(zk.multi(parts.to_vec())).unwrap();
    let failing = [create("/c-", b"10"), MultiOp::Delete("/none".into(), None)];
    bed.world.run(zk.multi(failing.to_vec())).unwrap_err();
    bed.world
        .run(zk.create("/a/none/b", b"11", CreateMode::Persistent))
        .unwrap_err();
    let leader = bed.leader();
    let logged: Vec<Txn> = bed.net.server().logged(leader).collect();
    let of = |change: ZnodeChange<'_>| {
        (
            change.op.to_owned(),
            change.path.to_owned(),
            change.data.map(str::to_owned),
        )
    };
    let changes: Vec<_> = logged.iter().flat_map(|txn| txn.changes().map(of)).collect();
    let change = |op: &str, path: &str, data: Option<&str>| (op.to_owned(), path.to_owned(), data.map(str::to_owned));
    assert_eq!(
        changes,
        [
            change("create", "/a", Some("7\u{fffd}")),
            change("setData", "/a", Some(&"8".repeat(256))),
            change("create", "/b-0000000001", Some("9")),
            change("setData", "/a", Some("")),
            change("check", "/a", None),
            change("delete", "/a", None),
        ]
    );
    let failed = logged
        .iter()
        .find(|txn| txn.parts.iter().any(|part| part.op == "error"))
        .unwrap();
    assert!(failed.parts.iter().all(|part: &TxnPart| part.data.is_none()));
    assert!(
        logged
            .iter()
            .filter(|txn| txn.op == "error")
            .all(|txn| txn.data.is_none())
    );
}

#[test]
fn the_same_seed_gives_the_same_execution() {
    let execute = |seed| {
        let bed = EnsembleTestBed::new(3, seed);
        let sessions: Vec<_> = (0..3).map(|_| bed.session()).collect();
        let under_way: Vec<_> = (0..60)
            .map(|number| {
                let path = format!("/x{}-", number % 7);
                bed.world
                    .start(sessions[number % 3].create(&path, b"", CreateMode::EphemeralSequential))
            })
            .collect();
        bed.until(|_| under_way.iter().all(|reply| reply.with(Option::is_some)));
        let leader = bed.leader();
        let order: Vec<Txn> = bed.net.server().logged(leader).collect();
        (order, bed.world.now())
    };
    assert_eq!(execute(7), execute(7));
    assert_ne!(execute(7), execute(8));
}
