//! The model of ZooKeeper against ZooKeeper: the same random operations of several sessions give the same results and
//! the same events, on the ensemble in memory and on a real one, each of three voters and an observer, while sessions
//! are closed from elsewhere and connections are lost, with a request or its reply under way or none.
//! `ZOOQUAKE_SEQUENCES` is their number, `ZOOQUAKE_SEED` the first seed.
//!
//! Each session is in sync with the leader before it reads, and before its events are read, so that nothing is left
//! open but the numbers of transactions and sessions, of which only the order is compared, and the order of events
//! where one transaction removes several ephemerals or watches are set again.

mod draw;
mod line;
mod play;
mod storm;
mod wire;
mod words;

use crate::common::{EnsembleSlot, Runs, clean_up, run};
use futures_util::FutureExt;
use futures_util::future::{Either, join_all, select};
use line::{InMemory, Storms, locked};
use play::{Play, STEPS, Story};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use wire::RealLines;
use zooquake_workloads::zk::Host;
use zooquake_workloads::zk::sim::{Config, Net, World};

/// The session timeout to ask for: the longest that ZooKeeper grants with these ticks.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Servers that vote, and observers after them.
const VOTERS: usize = 3;
const OBSERVERS: usize = 1;
const SERVERS: usize = VOTERS + OBSERVERS;

/// How many sequences are played at a time.
const BESIDE: usize = 16;

/// In so many executions of the model an operation that is under way when a server is struck has every outcome that it
/// can have: that it is applied and its reply lost comes about in one of a hundred.
const EXECUTIONS: u64 = 2_000;

/// The longest that a sequence can take on the model, where sessions and elections take seconds.
const LONGEST: Duration = Duration::from_secs(600);

/// How often a sequence is begun whose result is discarded, because the machine was too slow for a session.
const TRIES: usize = 5;

/// The sequence of a seed on the model, where chance is drawn from another one.
fn in_memory(seed: u64, storms: Storms, chance: u64) -> Result<Story, String> {
    let world = World::seeded(chance);
    let config = Config {
        voters: VOTERS,
        observers: OBSERVERS,
        tick: Duration::from_millis(250),
        init_limit: 20,
        sync_limit: 4,
        scripted: false,
    };
    let net = Net::ensemble(&world, config, TIMEOUT);
    (0..SERVERS).for_each(|server| net.server().start_server(server));
    let lines = Arc::new(InMemory(net, world.clone()));
    let (play, end) = (
        Play::whole(lines, seed, format!("/{seed}"), storms),
        world.sleep(LONGEST),
    );
    let story = world.run(async move {
        match select(play.boxed(), end).await {
            Either::Left((story, _)) => story,
            Either::Right(_) => Err(format!("sequence {seed} comes to no end")),
        }
    });
    world.clear();
    story
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().expect(variable))
}

/// What came of the sequences.
#[derive(Default)]
struct SequenceOutcomes {
    played: u64,
    /// How often one was begun again.
    again: u64,
    /// How the model and ZooKeeper differ, by sequence.
    differ: Vec<String>,
}

/// Plays sequences on a real ensemble and on the model, and compares them.
fn compare(real: RealLines, seeds: Range<u64>, storms: Storms) -> SequenceOutcomes {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let (real, todo, compared) = (
        Arc::new(real),
        Mutex::new(seeds),
        Mutex::new(SequenceOutcomes::default()),
    );
    let play = async || {
        while let Some(seed) = { locked(&todo).next() } {
            let mut story = Err(String::new());
            for number in 0..TRIES {
                story = Play::whole(real.clone(), seed, format!("/conformance-{seed}-{number}"), storms).await;
                if story.is_ok() {
                    break;
                }
                locked(&compared).again += 1;
            }
            let differs = match story {
                Err(why) => Some(format!("it came to no end in {TRIES} tries: {why}")),
                // Not on a thread of the runtime: there tokio has a channel wait that it takes to be polled too often.
                Ok(story) => spawn_blocking(move || difference(seed, storms, &story))
                    .await
                    .expect("the model"),
            };
            let mut compared = locked(&compared);
            compared.played += 1;
            compared
                .differ
                .extend(differs.map(|how| format!("sequence {seed}: {how}")));
        }
    };
    runtime
        .expect("a runtime")
        .block_on(join_all((0..BESIDE).map(|_| play())));
    compared.into_inner().expect("no thread that held it has panicked")
}

/// How the model differs from what happened; `None` if it does the same. What becomes of the operation that is under
/// way when a server is struck is open, so then it has to do the same in one of many executions.
fn difference(seed: u64, storms: Storms, real: &Story) -> Option<String> {
    let executions = match storms {
        Storms::Never => 1,
        Storms::HalfWay => EXECUTIONS,
    };
    let mut furthest: Option<(usize, String)> = None;
    for chance in 0..executions {
        let (at, how) = match in_memory(seed, storms, seed.wrapping_add(chance << 32)) {
            Ok(model) => first_difference(&model, real)?,
            Err(why) => (0, why),
        };
        if furthest.as_ref().is_none_or(|(other, _)| *other < at) {
            furthest = Some((at, how));
        }
    }
    furthest.map(|(_, how)| how)
}

/// The first step in which they differ, with what happened before.
fn first_difference(model: &Story, real: &Story) -> Option<(usize, String)> {
    let (model, real) = (by_step(model), by_step(real));
    let at = (0..model.len().max(real.len())).find(|at| model.get(*at) != real.get(*at))?;
    let (ours, theirs, before) = (model.get(at), real.get(at), &real[..at]);
    Some((at, format!("model {ours:#?}, ZooKeeper {theirs:#?}, after {before:#?}")))
}

/// Plays sequences on an ensemble that is brought up for them.
fn compared(name: &str, storms: Storms, count: u64) {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new(name);
    let quiet = format!("lock/fenced --faults none --time 5s --seed 1 --observers {OBSERVERS} --keep");
    let ran = run(&runs, &quiet);
    let (_, connect) = ran
        .stderr
        .lines()
        .find_map(|line| line.split_once("left standing: servers at "))
        .unwrap_or_else(|| panic!("{}", ran.story()));
    let id = runs.id();
    let servers = connect
        .trim()
        .split(',')
        .map(|server| server.parse().expect("an address"));
    let real = RealLines {
        servers: servers.collect(),
        timeout: TIMEOUT,
        storm: storm::Storm::new((1..=SERVERS).map(|number| format!("zooquake-{id}-n{number}")).collect()),
    };
    assert_eq!(real.servers.len(), SERVERS, "{}", ran.story());
    let (count, first) = (number("ZOOQUAKE_SEQUENCES", count), number("ZOOQUAKE_SEED", 1));
    let begun = Instant::now();
    let SequenceOutcomes { played, again, differ } = compare(real, first..first + count, storms);
    let seconds = begun.elapsed().as_secs_f64();
    clean_up("--force --run", &id);
    let rate = played as f64 / seconds;
    println!(
        "{played} sequences of {STEPS} steps from {first}: {} differ, {again} begun again; {seconds:.0} s, {rate:.1} a second",
        differ.len()
    );
    let shown = differ.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        differ.is_empty() && played == count,
        "{} of {count} differ: {shown}",
        differ.len()
    );
}

#[test]
fn the_model_plays_sequences_to_their_end_and_its_chance_decides_no_answer() {
    for seed in 0..number("ZOOQUAKE_SEQUENCES", 40) {
        let one = in_memory(seed, Storms::Never, seed);
        let other = in_memory(seed, Storms::Never, !seed);
        let difference = first_difference(&other.expect("its story"), &one.expect("its story"));
        assert_eq!(difference.map(|(_, how)| how), None, "sequence {seed}");
    }
}

#[test]
fn the_model_does_what_zookeeper_does() {
    compared("conformance", Storms::Never, 16);
}

#[test]
fn the_model_does_what_zookeeper_does_when_servers_are_killed_and_frozen() {
    compared("conformance-storm", Storms::HalfWay, 16);
}

/// What happened in each step; the events of one step in the order of their watches.
fn by_step(story: &Story) -> Vec<Vec<&String>> {
    let step = |line: &str| line.split(' ').next().map(str::to_string);
    story
        .chunk_by(|one, next| step(one) == step(next))
        .map(|lines| lines.iter().collect())
        .collect()
}
