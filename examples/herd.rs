//! What one change of leader costs among up to 10,000 candidates, on a simulated ensemble: a herd that watches the
//! list, and candidates each of which watches the one before it. Prints a table, and writes a chart and a page into a
//! folder:
//!
//!     cargo run --release --example herd -- FOLDER [SIZE…]

use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use zooquake_history::Node;
use zooquake_history::operation::Counts;
use zooquake_history::plan::Scheduler;
use zooquake_history::protocol::{Message, Outcome, Request};
use zooquake_reports::measurement::{Measurement, Point, Series, write_all, written};
use zooquake_workloads::client::{DriverInput, Output, RecipeClient};
use zooquake_workloads::recipes::{Env, variant};
use zooquake_workloads::zk::counted::Counters;
use zooquake_workloads::zk::sim::{Config, Net, PARENTS, World};
use zooquake_workloads::zk::{Host, SharedValue};

/// The herd, and who watches the predecessor.
const VARIANTS: [&str; 2] = ["ticket", "sequential"];

/// Numbers of candidates.
const SIZES: [u32; 4] = [10, 100, 1_000, 10_000];

const SERVERS: usize = 3;

/// Longer than anything takes that goes on among candidates at rest but for their pings.
const REST: Duration = Duration::from_secs(5);

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().context("usage: herd FOLDER [SIZE…]")?);
    let mut sizes: Vec<u32> = args
        .map(|size| size.parse().context("a SIZE is a number"))
        .collect::<Result<_>>()?;
    if sizes.is_empty() {
        sizes = SIZES.into();
    }
    let mut series = Vec::new();
    for name in VARIANTS {
        let mut points = Vec::new();
        for &size in &sizes {
            let begun = Instant::now();
            let values = change(name, size)?;
            let shown: Vec<String> = values.iter().map(|value| written(*value)).collect();
            let took = begun.elapsed().as_secs_f64();
            println!("election/{name:<12} {size:>6} {:>8} ({took:.1} s)", shown.join(" "));
            points.push(Point { size, values });
        }
        let name = format!("election/{name}");
        series.push(Series { name, points });
    }
    std::fs::create_dir_all(&out).with_context(|| format!("making the folder {}", out.display()))?;
    for file in write_all(&measurement(series), &out)? {
        println!("{}", file.display());
    }
    Ok(())
}

fn measurement(series: Vec<Series>) -> Measurement {
    Measurement {
        name: "herd-sim".into(),
        title: "What one change of leader costs".into(),
        subtitle: format!("on a simulated ensemble of {SERVERS} servers, where each message takes 0.4 ms; no faults"),
        words: vec![
            "The leader resigns, the next one is elected. The counts cover all requests of the candidates to ZooKeeper \
             and all events of their watches, until they are at rest."
                .into(),
        ],
        axis: "candidates".into(),
        quantities: ["watch events", "reads", "writes", "milliseconds"]
            .map(String::from)
            .into(),
        series,
    }
}

/// What one change of leader costs among that many candidates.
fn change(name: &str, size: u32) -> Result<Vec<f64>> {
    let race = Race::begin(name, size)?;
    let before = race.at_rest()?;
    let (leader, _) = race.elected(None)?;
    let sent = race.world.now();
    race.ask(leader, 2, "resign")?;
    let spent = race.at_rest()? - before;
    let (_, at) = race.elected(Some(leader))?;
    race.world.clear();
    let ms = (at - sent).as_secs_f64() * 1e3;
    Ok(vec![
        spent.events as f64,
        spent.reads() as f64,
        spent.writes() as f64,
        ms,
    ])
}

/// The messages of a candidate, each with the time at which it arrived.
type CandidateReport = Arc<Mutex<Vec<(Duration, Message)>>>;

struct Candidate {
    requests: UnboundedSender<DriverInput>,
    counters: Counters,
    said: CandidateReport,
}

/// Candidates on an ensemble.
struct Race {
    world: World,
    candidates: Vec<Candidate>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Race {
    /// All of them stand.
    fn begin(name: &str, size: u32) -> Result<Self> {
        let world = World::seeded(1);
        // Each message takes the same time.
        world.schedule(&Scheduler::Delays(Vec::new()));
        let config = Config {
            voters: SERVERS,
            observers: 0,
            tick: Duration::from_millis(250),
            init_limit: 20,
            sync_limit: 4,
            scripted: false,
        };
        let net = Net::ensemble(&world, config, Duration::from_secs(2));
        (0..SERVERS).for_each(|server| net.server().start_server(server));
        world.pass(REST);
        ensure!(net.server().leader().is_some(), "nobody leads");
        for path in [&["/zooquake", "/zooquake/scratch", "/resource"], PARENTS].concat() {
            net.server().ensure(path);
        }
        world.pass(REST);
        let candidates = (1..=size)
            .map(|number| candidate(&world, &net, name, number))
            .collect::<Result<_>>()?;
        let race = Self { world, candidates };
        race.world.pass(REST);
        for candidate in 0..race.candidates.len() {
            race.ask(candidate, 1, "elect")?;
        }
        Ok(race)
    }

    fn ask(&self, candidate: usize, id: u64, f: &str) -> Result<()> {
        let request = Request {
            id,
            f: f.into(),
            value: json!({ "grant": format!("g{candidate}") }),
            timeout_ms: None,
        };
        let asked = self.candidates[candidate].requests.send(DriverInput::Request(request));
        asked.ok().context("the candidate has ended")
    }

    /// Lets them come to rest; what all of them have asked and heard by then.
    fn at_rest(&self) -> Result<Counts> {
        let counts = || {
            self.candidates
                .iter()
                .map(|candidate| candidate.counters.read())
                .sum::<Counts>()
        };
        for _ in 0..100 {
            let before = counts();
            self.world.pass(REST);
            if counts() == before && before.pending == 0 {
                return Ok(before);
            }
        }
        bail!("the candidates do not come to rest")
    }

    /// The candidate that was elected and is not this one, and the time of that.
    fn elected(&self, before: Option<usize>) -> Result<(usize, Duration)> {
        let elected = self.candidates.iter().enumerate().filter_map(|(number, candidate)| {
            let said = lock(&candidate.said);
            let won = said
                .iter()
                .find(|(_, message)| matches!(message, Message::Reply { id: 1, .. }))?;
            match &won.1 {
                Message::Reply {
                    outcome: Outcome::Ok, ..
                } => Some(Ok((number, won.0))),
                other => Some(Err(anyhow::anyhow!("c{number} could not stand: {other:?}"))),
            }
        });
        let elected: Vec<(usize, Duration)> = elected.collect::<Result<_>>()?;
        let mut new = elected.into_iter().filter(|(number, _)| before != Some(*number));
        match (new.next(), new.next()) {
            (Some(leader), None) => Ok(leader),
            (leader, other) => bail!("elected are {leader:?} and {other:?}"),
        }
    }
}

fn candidate(world: &World, net: &Net, name: &str, number: u32) -> Result<Candidate> {
    let (host, said, counters) = (net.host(), CandidateReport::default(), Counters::default());
    let (hears, clock) = (said.clone(), world.clone());
    let output = Output::direct(move |message| lock(&hears).push((clock.now(), message)));
    let client = Node::client(number as usize).to_string();
    let env = Env {
        client: client.as_str().into(),
        connect: Arc::new(host),
        host: Arc::new(world.clone()),
        ensemble: None,
        server: None,
        journal: None,
        notify: Arc::new(|_| {}),
        sessions: SharedValue::new(BTreeSet::new()),
        bug: None,
        counters: counters.clone(),
    };
    let recipe = variant("election", name).context("no such variant")?.recipe(&env)?;
    let (requests, asked) = unbounded_channel();
    world.spawn(RecipeClient::new(&client, env, recipe, output).serve(asked).boxed());
    Ok(Candidate {
        requests,
        counters,
        said,
    })
}
