//! The model of ZooKeeper against ZooKeeper: the same random operations of several sessions give the same results and the same
//! events, on the ensemble in memory and on a real one. `ZOOQUAKE_SEQUENCES` says how many, `ZOOQUAKE_SEED` which.
//!
//! Each session is in sync with the leader before it reads, and before its events are read, so that nothing is left open but
//! the numbers of transactions and sessions: of those only the order is compared.

mod play;

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, run, text, zooquake};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use play::{Play, STEPS, Story};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zooquake_workloads::zk::real;
use zooquake_workloads::zk::sim::{Config, Net, World};

/// The session timeout to ask for.
const TIMEOUT: Duration = Duration::from_secs(4);

fn in_memory(seed: u64) -> Story {
    let world = World::seeded(seed);
    let config = Config {
        voters: 3,
        observers: 0,
        tick: Duration::from_millis(250),
        init_limit: 20,
        sync_limit: 4,
        scripted: false,
    };
    let net = Net::ensemble(&world, config, TIMEOUT);
    (0..3).for_each(|server| net.server().start_server(server));
    let story = world.run(Play::whole(Arc::new(net.host()), seed));
    world.clear();
    story
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().expect(variable))
}

/// Plays sequences on a real ensemble, two at a time, and gives their seeds with what happened.
fn really(connect: &str, seeds: std::ops::Range<u64>) -> Vec<(u64, Story)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ensemble = real::Ensemble {
        connect: connect.to_string(),
        session_timeout: TIMEOUT,
    };
    let todo = Arc::new(Mutex::new(seeds));
    let play = || -> BoxFuture<'static, Vec<(u64, Story)>> {
        let (todo, ensemble) = (todo.clone(), ensemble.clone());
        async move {
            let mut played = Vec::new();
            loop {
                let Some(seed) = todo.lock().expect("the seeds").next() else {
                    return played;
                };
                played.push((seed, Play::whole(Arc::new(ensemble.clone()), seed).await));
            }
        }
        .boxed()
    };
    let both = futures_util::future::join(play(), play());
    let (mut one, other) = runtime.expect("a runtime").block_on(both);
    one.extend(other);
    one
}

#[test]
fn the_model_does_what_zookeeper_does() {
    let _turn = EnsembleSlot::exclusive();
    let runs = Runs::new("conformance");
    let ran = run(
        &runs,
        &[
            "lock/fenced",
            "--faults",
            "none",
            "--time",
            "5s",
            "--seed",
            "1",
            "--keep",
        ],
    );
    let standing = ran
        .stderr
        .lines()
        .find_map(|line| line.split_once("left standing: servers at "));
    let (_, connect) = standing.unwrap_or_else(|| panic!("{}", ran.story()));
    let (count, first) = (number("ZOOQUAKE_SEQUENCES", 12), number("ZOOQUAKE_SEED", 1));
    let mut differ = Vec::new();
    for (seed, real) in really(connect.trim(), first..first + count) {
        let model = in_memory(seed);
        let (model, real) = (by_step(&model), by_step(&real));
        if let Some(at) = (0..model.len().max(real.len())).find(|at| model.get(*at) != real.get(*at)) {
            differ.push(format!(
                "sequence {seed}: model {:#?}, ZooKeeper {:#?}",
                model.get(at),
                real.get(at)
            ));
        }
    }
    let id = runs.id();
    let cleaned = zooquake()
        .args(["clean", "--force", "--run", &id])
        .output()
        .expect("starting zooquake");
    assert!(cleaned.status.success(), "{}", text(&cleaned));
    assert_nothing_left_of(&id);
    println!("{count} sequences of {STEPS} operations, {} differ", differ.len());
    let first: Vec<&String> = differ.iter().take(5).collect();
    assert!(differ.is_empty(), "{} of {count} differ: {first:#?}", differ.len());
}

/// What happened in each step; the events of one step in the order of their watches.
fn by_step(story: &Story) -> Vec<Vec<&String>> {
    let step = |line: &str| line.split(' ').next().map(str::to_string);
    story
        .chunk_by(|one, next| step(one) == step(next))
        .map(|lines| lines.iter().collect())
        .collect()
}
