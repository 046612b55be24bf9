//! One crash of the harness.

use crate::common::{output_of, signal, zooquake};
use crate::engine::{Containers, watcher_ended};
use crate::moment::{GrowingHistory, Moment, RunPhases, only};
use crate::proxy::{Conduct, Proxy};
use crate::report::{CheckVerdict, CrashReport};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The variants that no crash of the harness may convict.
const VARIANTS: [&str; 4] = ["lock/fenced", "queue/claimed", "commit/atomic", "election/epoch"];

/// The faults of the runs, if no others are asked for.
pub const FAULTS: [&str; 12] = [
    "pause",
    "partition",
    "kill",
    "drop-reply",
    "disconnect",
    "expire",
    "lag",
    "hold-reply",
    "latency",
    "stall",
    "move",
    "pin",
];

/// How long the harness stands still for SIGSTOP.
const STOPPED: Duration = Duration::from_secs(15);

/// How much longer than its operations a run may take that comes to its end.
const REST_OF_LIFE: Duration = Duration::from_secs(180);

/// How long the watcher may heal.
const WATCHING: Duration = Duration::from_secs(100);

/// How often a trial is made again whose run ended before its moment.
const ATTEMPTS: usize = 6;

/// What is sent to the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGKILL: it ends at once, its watcher heals, `clean` removes the rest.
    Kill,
    /// SIGKILL as soon as a pause is about to begin.
    Begin,
    /// SIGHUP: it heals, clears away, checks and ends.
    Hup,
    /// SIGSTOP, and SIGCONT 15 s later: it goes on to its end.
    Stop,
}

impl Signal {
    /// The one of this name.
    fn named(name: &str) -> Self {
        match name {
            "kill" => Self::Kill,
            "begin" => Self::Begin,
            "hup" => Self::Hup,
            "stop" => Self::Stop,
            _ => panic!("there is no signal {name}; there are kill, begin, hup and stop"),
        }
    }
}

/// A signal, and the run that it strikes.
#[derive(Debug)]
pub struct Trial {
    /// From 1, in the order in which they are made.
    pub number: usize,
    /// From 0, among those of its signal.
    nth: usize,
    /// What is sent.
    pub signal: Signal,
    /// What runs.
    pub variant: &'static str,
    /// Under which faults.
    pub faults: Vec<&'static str>,
    /// How long its engine takes to pause a container, in milliseconds; 0 for as long as it does.
    pause_ms: u64,
    /// Of the run's plan and of the moment.
    seed: u64,
}

impl Trial {
    /// All trials of a campaign such as `kill:60,hup:20,stop:20` under these kinds of fault, shuffled; the same
    /// arguments give the same trials.
    pub fn draw(crashes: &str, kinds: &[&'static str], seed: u64) -> Vec<Self> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut trials = Vec::new();
        for part in crashes.split(',') {
            let (name, count) = part.split_once(':').expect("such as kill:60");
            let signal = Signal::named(name);
            for n in 0..count.parse().expect("a number of trials") {
                trials.push(Self {
                    number: 0,
                    nth: n,
                    signal,
                    variant: VARIANTS[n % VARIANTS.len()],
                    faults: match signal {
                        Signal::Begin => vec!["pause"],
                        _ => faults(&mut rng, kinds, n),
                    },
                    pause_ms: match signal {
                        Signal::Kill | Signal::Begin => rng.u64(0..20_000),
                        Signal::Hup | Signal::Stop => 0,
                    },
                    seed: u64::from(rng.u32(..)),
                });
            }
        }
        rng.shuffle(&mut trials);
        (1..).zip(&mut trials).for_each(|(number, trial)| trial.number = number);
        trials
    }

    /// Runs, strikes, waits for what heals, looks, cleans, looks again and checks.
    ///
    /// # Errors
    /// If run after run ended before its moment, or one failed or was convicted without being struck.
    pub fn execute(&self, folder: &Path, life: &RunPhases) -> Result<CrashReport, String> {
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut time = format!("{}ms", 9_000 + 6_000 * (self.faults.len() - 1));
        for _ in 0..ATTEMPTS {
            let ops_ms = time.trim_end_matches("ms").parse().expect("milliseconds");
            let moment = match self.signal {
                Signal::Begin => Moment::Window(0, rng.u64(0..20)),
                Signal::Kill => Moment::draw(&mut rng, self.nth, life, ops_ms, Some(self.faults.len())),
                Signal::Hup | Signal::Stop => Moment::draw(&mut rng, self.nth, life, ops_ms, None),
            };
            std::fs::create_dir_all(folder).expect("a folder for a run");
            let slow = Conduct::SlowPause(Duration::from_millis(self.pause_ms));
            let proxy = (self.pause_ms > 0).then(|| Proxy::new(folder, slow, self.seed));
            let address = proxy.as_ref().map(Proxy::address);
            let faults = self.faults.join(",");
            let mut child = start(folder, (self.variant, &faults), &time, self.seed, address.as_deref());
            let mut history = GrowingHistory::in_folder(folder);
            if moment.wait(&mut child, &mut history) {
                return Ok(self.strike(child, history, moment, folder, Duration::from_millis(ops_ms)));
            }
            if let Some(enough) = unstruck(&mut child, folder)? {
                time = enough;
            }
            std::fs::remove_dir_all(folder).expect("removing the folder of a run that ended too early");
        }
        Err(format!("{ATTEMPTS} runs of {} ended before their moment", self.variant))
    }

    fn strike(
        &self,
        mut child: Child,
        mut history: GrowingHistory,
        moment: Moment,
        folder: &Path,
        ops: Duration,
    ) -> CrashReport {
        history.read();
        let struck = format!("{} ({moment})", history.last());
        let limit = match self.signal {
            Signal::Kill | Signal::Begin => {
                signal(&child, "KILL");
                WATCHING
            }
            Signal::Hup => {
                signal(&child, "HUP");
                ops + REST_OF_LIFE
            }
            Signal::Stop => {
                signal(&child, "STOP");
                std::thread::sleep(STOPPED);
                signal(&child, "CONT");
                ops + REST_OF_LIFE
            }
        };
        let ended = end(&mut child, limit);
        let run = only(folder);
        let id = run.as_deref().and_then(id);
        let watched = match &id {
            Some(id) => watcher_ended(id, WATCHING),
            None => Some(Duration::ZERO),
        };
        let before = id.as_deref().map(Containers::containers_of_run).unwrap_or_default();
        let left_before = crate::common::left_behind();
        let cleaned = output_of(zooquake("clean").args(id.as_deref().map_or(Vec::new(), |id| vec!["--run", id])));
        CrashReport {
            signal: self.signal,
            run: format!(
                "{} {}, pauses take {} ms",
                self.variant,
                self.faults.join(","),
                self.pause_ms
            ),
            seed: self.seed,
            struck,
            ended,
            watched,
            before,
            left_before,
            cleaned: cleaned.code,
            cleaning: cleaned.to_string(),
            left_after: crate::common::left_behind(),
            verdict: run.as_deref().map_or(CheckVerdict::NoHistory, CheckVerdict::check),
        }
    }
}

/// Each fault alone, two together, all together.
fn faults(rng: &mut fastrand::Rng, kinds: &[&'static str], n: usize) -> Vec<&'static str> {
    // Shifted from one score to the next, so that every variant meets every kind.
    let (turn, all) = ((n + n / 20) % (kinds.len() + 3), kinds.len() + 2);
    match kinds.get(turn) {
        Some(one) => vec![*one],
        None if turn == all => kinds.to_vec(),
        None => rng.choose_multiple(kinds.iter().copied(), 2),
    }
}

/// Starts a run in the folder, on the engine at this address or the usual one, with what it prints beside it.
pub fn start(folder: &Path, (variant, faults): (&str, &str), time: &str, seed: u64, engine: Option<&str>) -> Child {
    std::fs::create_dir_all(folder).expect("a folder for a run");
    let printed = File::create(folder.join("printed.txt")).expect("a file for what it prints");
    let mut command = zooquake(&format!(
        "run {variant} --faults {faults} --time {time} --seed {seed} --out"
    ));
    command
        .arg(folder)
        .envs(engine.map(|address| ("DOCKER_HOST", address)))
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("the same file"))
        .stderr(printed);
    command.spawn().expect("starting zooquake")
}

fn printed(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("printed.txt")).unwrap_or_default()
}

/// How a run ended before its moment. A plan that cannot be valid is refused: then this is the shortest time that can,
/// which the refusal names last.
///
/// # Errors
/// If it failed, or is invalid.
fn unstruck(child: &mut Child, folder: &Path) -> Result<Option<String>, String> {
    let status = child.wait().expect("waiting for zooquake");
    let printed = printed(folder);
    let enough = printed.rsplit_once("--time ");
    let enough = enough.and_then(|(_, rest)| rest.split_whitespace().next());
    match (status.code(), enough) {
        (Some(0 | 2), _) => Ok(None),
        (Some(254), Some(enough)) => Ok(Some(enough.trim_end_matches(['.', ',', ';', ')']).to_string())),
        _ => Err(format!("BROKEN: a run that nothing struck ended with {status}")),
    }
}

/// Waits for the end of the harness; kills it after the limit.
fn end(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(status) = child.try_wait().expect("the state of zooquake") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    signal(child, "KILL");
    child.wait().expect("waiting for zooquake");
    None
}

/// The id that everything of the run on the engine is labelled with, if it got so far.
fn id(run: &Path) -> Option<String> {
    let text = std::fs::read(run.join("containers.json")).ok()?;
    let containers: Value = serde_json::from_slice(&text).expect("containers.json is written in full or not at all");
    Some(containers["run"].as_str().expect("the run's id").to_string())
}
