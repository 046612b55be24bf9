//! Watches: each fires once, before newer data can be read, and is set again on reconnect.

use std::sync::Arc;

use futures_util::FutureExt;
use zooquake_workloads::zk::sim::Refusal;
use zooquake_workloads::zk::{CreateMode, Error, SessionState, Watch, WatchEvent, Zk};

use crate::bed::{EnsembleTestBed, MOMENT, TIMEOUT};

fn heard(watch: &mut Watch) -> Option<WatchEvent> {
    watch.now_or_never()
}

fn created(bed: &EnsembleTestBed, zk: &Arc<dyn Zk>, path: &str) {
    bed.world.run(zk.create(path, b"", CreateMode::Persistent)).unwrap();
}

#[test]
fn exists_on_a_missing_znode_watches_for_its_creation_and_a_read_of_it_leaves_nothing() {
    let bed = EnsembleTestBed::new(3, 1);
    let (zk, other) = (bed.session(), bed.session());
    let (stat, mut watch) = bed.world.run(zk.exists_and_watch("/a")).unwrap();
    assert!(stat.is_none());
    assert!(matches!(bed.world.run(zk.get_and_watch("/a")), Err(Error::NoNode)));
    created(&bed, &other, "/a");
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watch), Some(WatchEvent::Created));
}

#[test]
fn a_list_that_is_watched_hears_of_children_and_of_its_own_end() {
    let bed = EnsembleTestBed::new(3, 2);
    let (zk, other) = (bed.session(), bed.session());
    created(&bed, &other, "/p");
    bed.world.run(zk.sync("/p")).unwrap();
    let (_, mut watch) = bed.world.run(zk.children_and_watch("/p")).unwrap();
    bed.world.run(other.set("/p", b"1", None)).unwrap();
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watch), None, "its data are not its list");
    created(&bed, &other, "/p/a");
    created(&bed, &other, "/p/b");
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watch), Some(WatchEvent::ChildrenChanged));
    let (names, mut watch) = bed.world.run(zk.children_and_watch("/p")).unwrap();
    assert_eq!(names, ["a", "b"], "two changes, one event");
    bed.world.run(other.delete("/p/a", None)).unwrap();
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watch), Some(WatchEvent::ChildrenChanged));
    bed.world.run(other.delete("/p/b", None)).unwrap();
    bed.world.run(zk.sync("/p")).unwrap();
    let (_, mut watch) = bed.world.run(zk.children_and_watch("/p")).unwrap();
    bed.world.run(other.delete("/p", None)).unwrap();
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watch), Some(WatchEvent::Deleted));
}

#[test]
fn an_event_arrives_before_newer_data_can_be_read() {
    for seed in 0..20 {
        let bed = EnsembleTestBed::new(3, seed);
        let (zk, other) = (bed.session(), bed.session());
        created(&bed, &other, "/a");
        bed.world.run(zk.sync("/a")).unwrap();
        let (_, _, mut watch) = bed.world.run(zk.get_and_watch("/a")).unwrap();
        let _write = bed.world.start(other.set("/a", b"new", None));
        while bed.data(&zk, "/a").is_empty() {}
        assert_eq!(heard(&mut watch), Some(WatchEvent::DataChanged), "seed {seed}");
    }
}

#[test]
fn what_happens_while_the_client_is_away_is_one_event_when_it_is_back() {
    let bed = EnsembleTestBed::new(3, 4);
    let host = bed.net.host();
    let (zk, other) = (bed.open(&host), bed.session());
    created(&bed, &other, "/again");
    created(&bed, &other, "/gone");
    created(&bed, &other, "/same");
    bed.world.run(zk.sync("/")).unwrap();
    let mut watches: Vec<Watch> = ["/again", "/gone", "/same", "/new"]
        .map(|path| bed.world.run(zk.exists_and_watch(path)).unwrap().1)
        .into();
    assert_eq!(bed.net.server().refuse(host.number(), Refusal::All), 1);
    bed.until(|_| zk.state() == SessionState::Disconnected);
    bed.world.run(other.delete("/again", None)).unwrap();
    created(&bed, &other, "/again");
    bed.world.run(other.delete("/gone", None)).unwrap();
    created(&bed, &other, "/new");
    let all: Vec<Option<WatchEvent>> = watches.iter_mut().map(heard).collect();
    assert_eq!(all, [None, None, None, None], "nothing is heard before it is back");
    bed.net.server().let_through(host.number());
    bed.until(|_| zk.state() == SessionState::Connected);
    bed.world.pass(MOMENT);
    let all: Vec<Option<WatchEvent>> = watches
        .iter_mut()
        .zip([true, true, false, true])
        .map(|(watch, fires)| if fires { heard(watch) } else { None })
        .collect();
    let [again, gone, same, new] = [
        WatchEvent::DataChanged,
        WatchEvent::Deleted,
        WatchEvent::Deleted,
        WatchEvent::Created,
    ];
    assert_eq!(all, [Some(again), Some(gone), None, Some(new)]);
    bed.world.run(other.delete("/same", None)).unwrap();
    bed.world.pass(MOMENT);
    assert_eq!(heard(&mut watches[2]), Some(same), "it was set again");
}

#[test]
fn a_watch_hears_the_end_of_its_session() {
    let bed = EnsembleTestBed::new(3, 5);
    let zk = bed.session();
    let (_, mut watch) = bed.world.run(zk.exists_and_watch("/a")).unwrap();
    bed.net.server().close_session(zk.session()).expect("a leader");
    bed.world.pass(TIMEOUT);
    assert_eq!(heard(&mut watch), Some(WatchEvent::Session(SessionState::Expired)));
}
