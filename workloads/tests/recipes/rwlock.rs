//! `rwlock/*`: who is granted beside whom, and what a reader asks for that looks at its neighbour only.

use std::sync::Arc;

use crate::clients::GrantClient;
use serde_json::json;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::recipes::rwlock::{fenced, neighbour};
use zooquake_workloads::recipes::{Env, Grant, OpError};
use zooquake_workloads::zk::Shared;
use zooquake_workloads::zk::sim::{Fate, Net, OUTAGE};

use crate::bed::{Bed, LONG, MOMENT};
use crate::driven;
use crate::world::World;

type Acquired = Shared<Option<Result<Grant, OpError>>>;

/// Clients of one variant.
struct Clients {
    world: World,
    net: Net,
    all: Vec<Box<dyn GrantClient>>,
}

impl Clients {
    fn new<T: GrantClient + 'static>(count: usize, build: fn(&Env) -> T) -> Self {
        let world = World::default();
        let net = Net::new(&world);
        let client = |_| Box::new(build(&world.env(Arc::new(net.clone())))) as Box<dyn GrantClient>;
        let all = (0..count).map(client).collect();
        world.pass(MOMENT);
        Self { world, net, all }
    }

    /// A client asks to read or to write, and stands in the queue.
    fn asks(&self, client: usize, reads: bool) -> Acquired {
        let acquire = match reads {
            true => self.all[client].acquire_shared("g", None),
            false => self.all[client].acquire("g", None),
        };
        let acquired = self.world.start(acquire);
        self.world.pass(MOMENT);
        acquired
    }

    fn releases(&self, client: usize) {
        self.world.run(self.all[client].release("g", None)).unwrap();
        self.world.pass(MOMENT);
    }

    /// The clients that hold, counted from 0.
    fn holders(&self) -> Vec<usize> {
        let holds = |client: &usize| self.all[*client].holder().held().is_some();
        (0..self.all.len()).filter(holds).collect()
    }
}

#[test]
fn readers_hold_together_and_grants_come_in_the_order_of_the_queue() {
    let clients = Clients::new(5, fenced);
    let mut asked: Vec<Acquired> = [true, true]
        .into_iter()
        .enumerate()
        .map(|(n, reads)| clients.asks(n, reads))
        .collect();
    assert_eq!(clients.holders(), [0, 1]);
    asked.extend([clients.asks(2, false), clients.asks(3, true), clients.asks(4, true)]);
    assert_eq!(clients.holders(), [0, 1], "readers wait behind the writer");
    clients.releases(1);
    assert_eq!(clients.holders(), [0], "the writer waits for the other reader too");
    clients.releases(0);
    assert_eq!(clients.holders(), [2]);
    clients.releases(2);
    assert_eq!(clients.holders(), [3, 4]);
    let tokens = asked
        .iter()
        .map(|one| one.with(|one| one.clone().unwrap().unwrap().token));
    assert!(tokens.collect::<Vec<_>>().is_sorted_by(|a, b| a.is_some() && a < b));
}

#[test]
fn a_reader_whose_neighbour_is_a_reader_that_waits_holds_beside_the_writer() {
    for (clients, holders) in [
        (Clients::new(3, neighbour), vec![0, 2]),
        (Clients::new(3, fenced), vec![0]),
    ] {
        let _asked = [clients.asks(0, false), clients.asks(1, true), clients.asks(2, true)];
        assert_eq!(clients.holders(), holders);
        clients.releases(0);
        assert_eq!(clients.holders(), [1, 2]);
    }
}

#[test]
fn writers_of_the_neighbour_s_recipe_exclude_each_other() {
    let clients = Clients::new(3, neighbour);
    let _asked = [clients.asks(0, true), clients.asks(1, false), clients.asks(2, false)];
    for holder in 0..3 {
        assert_eq!(clients.holders(), [holder]);
        clients.releases(holder);
    }
}

#[test]
fn a_lost_reply_leaves_an_orphan_or_a_znode_that_is_found_again() {
    for reads in [true, false] {
        let clients = Clients::new(1, neighbour);
        clients.net.next("create", Fate::ReplyLost);
        let ended = clients.asks(0, reads).with(|ended| ended.clone().unwrap());
        assert!(matches!(ended, Err(OpError::Info(_))), "{ended:?}");
        assert_eq!(
            (clients.all[0].holder().znodes().len(), clients.net.locks().len()),
            (0, 1)
        );

        let bed = Bed::of(fenced);
        let client = bed.client();
        bed.net.next("create", Fate::ReplyLost);
        let acquired = match reads {
            true => bed.world.start(client.acquire_shared("g", None)),
            false => bed.world.start(client.acquire("g", None)),
        };
        bed.world.pass(OUTAGE + LONG);
        assert!(acquired.with(|one| one.clone().unwrap().is_ok()));
        assert_eq!(bed.net.locks().len(), 1);
        bed.world.run(client.release("g", None)).unwrap();
        bed.assert_clean(&[&client]);
    }
}

#[test]
fn a_reader_reads_while_it_believes_to_hold() {
    for variant in ["fenced", "neighbour"] {
        let bed = driven::Bed::new();
        let mut client = bed.of("c1", "rwlock", variant);
        let granted = client.ok("acquire", json!({"grant": "g1", "mode": "shared"}));
        assert!(granted["path"].as_str().unwrap().contains("read-"), "{granted}");
        let read = client.ok("read", json!({"grant": "g1", "work_ms": 5}));
        assert_eq!(read, json!({"grant": "g1"}));
        client.ok("release", json!({"grant": "g1"}));
        let (outcome, _, error) = client.ask("read", json!({"grant": "g1"}));
        assert_eq!((outcome, error.as_deref()), (Outcome::Fail, Some("not-held")));
        let granted = client.ok("acquire", json!({"grant": "g2"}));
        assert!(granted["path"].as_str().unwrap().contains("write-"), "{granted}");
    }
    let bed = driven::Bed::new();
    let mut lock = bed.of("c1", "lock", "fenced");
    let (outcome, _, error) = lock.ask("read", json!({"grant": "g1"}));
    assert!(outcome == Outcome::Fail && error.unwrap().contains("no operation `read`"));
}
