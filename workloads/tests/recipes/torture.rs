//! The protected queues under many faults at once, for many seeds: no more hold than may, unless all share, nothing is left behind.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use zooquake_workloads::recipes::election::{acknowledged, epoch};
use zooquake_workloads::recipes::grant::{GrantRecipe, Protected};
use zooquake_workloads::recipes::lock::protected;
use zooquake_workloads::recipes::rwlock::fenced;
use zooquake_workloads::recipes::semaphore::{CAPACITY, leases};
use zooquake_workloads::recipes::{Env, Grant};
use zooquake_workloads::zk::{Host, Shared};

use crate::world::World;
use zooquake_workloads::zk::sim::Fate;
use zooquake_workloads::zk::sim::Net;

const CLIENTS: usize = 4;
const FAULTS: usize = 60;

/// A small generator of pseudorandom numbers (Steele, Lea, Flood: SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % bound
    }

    fn millis(&mut self, bound: u64) -> Duration {
        Duration::from_millis(self.below(bound))
    }
}

#[test]
fn nobody_holds_beside_another_and_nothing_is_left() {
    for seed in 0..150 {
        let (grants, _) = torture(seed, |env| protected(env, true), 0, 1);
        assert!(grants.is_sorted_by_key(|grant| grant.token), "seed {seed}");
    }
}

#[test]
fn epochs_rise_and_nobody_leads_beside_another() {
    for seed in 1000..1150 {
        let (grants, _) = torture(seed, epoch, 0, 1);
        assert!(
            grants.is_sorted_by(|a, b| a.token.is_some() && a.token < b.token),
            "seed {seed}"
        );
    }
}

#[test]
fn whoever_leads_has_acknowledged_it() {
    for seed in 2000..2150 {
        let (grants, _) = torture(seed, acknowledged, 0, 1);
        for grant in grants {
            let ack = grant.ack.expect("it promises one");
            assert!(ack.czxid > grant.czxid && ack.session == grant.session, "seed {seed}");
        }
    }
}

#[test]
fn readers_hold_together_and_beside_no_writer() {
    let mut most = 0;
    for seed in 3000..3150 {
        let (grants, together) = torture(seed, fenced, 6, 1);
        let writers: Vec<&Grant> = grants.iter().filter(|grant| !reads(grant)).collect();
        assert!(writers.is_sorted_by_key(|grant| grant.token), "seed {seed}");
        most = most.max(together);
    }
    assert_eq!(most, CLIENTS, "all of them read together at some moment");
}

#[test]
fn no_more_hold_than_there_are_leases() {
    for seed in 4000..4150 {
        torture(seed, leases, 0, CAPACITY.get());
    }
}

fn reads(grant: &Grant) -> bool {
    grant.path.contains("-read-")
}

/// The grants of a run in which so many of ten are asked for shared and at most `capacity` may hold exclusively, and how many
/// readers held together at most.
fn torture(seed: u64, build: fn(&Env) -> Protected, shared: u64, capacity: usize) -> (Vec<Grant>, usize) {
    let world = World::default();
    let net = Net::new(&world);
    let env = |net: &Net| world.env(Arc::new(net.clone()));
    let clients: Vec<_> = (0..CLIENTS).map(|_| Arc::new(build(&env(&net)))).collect();
    let (stop, mut together) = (Shared::new(false), 0);
    let grants = Arc::new(Mutex::new(Vec::new()));
    let running: Vec<_> = clients
        .iter()
        .enumerate()
        .map(|(number, client)| {
            let dice = Dice(seed * 100 + number as u64);
            world.start(contend(
                world.clone(),
                client.clone(),
                stop.clone(),
                grants.clone(),
                (dice, shared),
            ))
        })
        .collect();
    let mut dice = Dice(seed);
    for _ in 0..FAULTS {
        world.pass(dice.millis(40));
        hurt(&net, &mut dice);
        for _ in 0..10 {
            world.pass(Duration::from_millis(2));
            let held = clients.iter().filter_map(|client| client.holder().held());
            let (readers, writers): (Vec<_>, Vec<_>) = held.partition(|held| reads(&held.grant));
            let (readers, writers) = (readers.len(), writers.len());
            assert!(
                writers == 0 || writers <= capacity && readers == 0,
                "seed {seed}: {writers} writers and {readers} readers hold at {:?}",
                world.now()
            );
            together = together.max(readers);
        }
    }
    net.server().script.clear();
    stop.update(|stop| *stop = true);
    // Whoever waits for a request that was lost or a session that expires has got over it by then.
    for client in running {
        world.run(async move { client.until(|ended| *ended).await });
    }
    for client in &clients {
        let holder = client.holder().clone();
        world.run(async move { holder.idle().await });
        assert_eq!(client.holder().znodes(), [], "seed {seed}");
    }
    assert_eq!(net.locks(), Vec::<String>::new(), "seed {seed}");
    let grants = std::mem::take(&mut *grants.lock().unwrap());
    assert!(grants.len() > 5, "seed {seed}: {} grants", grants.len());
    (grants, together)
}

async fn contend(
    world: World,
    client: Arc<Protected>,
    stop: Shared<bool>,
    grants: Arc<Mutex<Vec<Grant>>>,
    (mut dice, shared): (Dice, u64),
) {
    while !stop.with(|stop| *stop) {
        let deadline = (dice.below(3) == 0).then(|| world.now() + dice.millis(300));
        let acquired = match shared > 0 && dice.below(10) < shared {
            true => client.acquire_shared("g", deadline),
            false => client.acquire("g", deadline),
        };
        if let Ok(grant) = acquired.await {
            grants.lock().unwrap().push(grant);
            world.sleep(dice.millis(15)).await;
            drop(client.release("g", None).await);
        }
        world.sleep(dice.millis(10)).await;
    }
}

/// Strikes one of the newest sessions, or the next request of a kind, before or after it was applied; nothing happens while
/// there is no session. From here on the server's events may come late, or not.
fn hurt(net: &Net, dice: &mut Dice) {
    let sessions: Vec<i64> = net.server().sessions().to_vec();
    let Some(last) = sessions.len().checked_sub(1) else {
        return;
    };
    let session = sessions[last - dice.below(sessions.len().min(CLIENTS) as u64) as usize];
    net.server().late = Some(dice.below(2) == 0);
    let fate = if dice.below(2) == 0 {
        Fate::ReplyLost
    } else {
        Fate::RequestLost
    };
    match dice.below(8) {
        0 => net.expire(session, Duration::from_millis(50) + dice.millis(100)),
        1 => net.lose(session, dice.millis(120)),
        2 => net.next("create", fate),
        3 => net.next("delete", fate),
        4 => net.next("children", fate),
        5 => net.next("multi", fate),
        6 => net.next("get", fate),
        _ => net.next("exists", fate),
    }
}
