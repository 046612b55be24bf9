//! One request of a run fails at its engine: the run is judged by whole evidence or not at all, leaves nothing, and
//! stays small.

use crate::common::{EnsembleSlot, Runs, left_of, signal, zooquake};
use crate::moment::only;
use crate::proxy::{Conduct, Failure, Proxy};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How many failures.
const FAILURES: &str = "ZOOQUAKE_ENGINE_FAILURES";

/// A run without a failure takes half a minute here; one that waits for an answer twice a minute longer each time.
const ENDS_WITHIN: Duration = Duration::from_secs(400);

/// How long a run may take to end after SIGTERM, whatever its engine does.
const STOPS_WITHIN: Duration = Duration::from_secs(90);

/// Most memory of the program, in KiB.
const MEMORY: u64 = 300 * 1024;

/// What was seen of one.
#[derive(Debug)]
struct FailureObservation {
    code: Option<i32>,
    took: Duration,
    memory: u64,
    struck: Option<String>,
    requests: usize,
    broken: Vec<String>,
}

#[test]
fn an_engine_that_fails_earns_no_verdict_that_evidence_does_not_and_leaves_nothing() {
    let failures: usize = std::env::var(FAILURES).map_or(2, |count| count.parse().expect("a number of failures"));
    let seed = std::env::var(crate::SEED).map_or(1, |seed| seed.parse().expect("ZOOQUAKE_SEED is a number"));
    let mut rng = fastrand::Rng::with_seed(seed);
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("engine");
    // Where a campaign aims; a few failures strike the bring-up, in which most requests are.
    let requests = match failures {
        0..10 => 60,
        _ => {
            let whole = trial(&runs.path().join("whole"), Conduct::Fair, seed);
            println!(
                "{} a whole run: {} requests, {} KiB",
                crate::now(),
                whole.requests,
                whole.memory
            );
            assert_eq!(
                (whole.code, &whole.broken),
                (Some(0), &Vec::new()),
                "nothing happened to it"
            );
            whole.requests
        }
    };
    let mut broken = Vec::new();
    for number in 1..=failures {
        let failure = draw(&mut rng, number);
        let nth = rng.usize(0..requests);
        let seen = trial(
            &runs.path().join(number.to_string()),
            Conduct::Fails(nth, failure),
            rng.u64(..),
        );
        let what = seen.struck.as_deref().unwrap_or("never came");
        println!(
            "{} {number} of {failures}: request {nth} ({what}) {failure}: code {:?} after {} s, {} MiB; {}",
            crate::now(),
            seen.code,
            seen.took.as_secs(),
            seen.memory >> 10,
            if seen.broken.is_empty() {
                "ok".to_string()
            } else {
                format!("BROKEN: {}", seen.broken.join("; "))
            }
        );
        if !seen.broken.is_empty() {
            broken.push(number);
        }
    }
    assert!(
        broken.is_empty(),
        "failures {broken:?} broke the rule, their lines tell how"
    );
}

/// Each kind in turn.
fn draw(rng: &mut fastrand::Rng, number: usize) -> Failure {
    match number % 6 {
        0 => Failure::Delay(Duration::from_secs(rng.u64(1..20))),
        1 => Failure::Error,
        2 => Failure::Endless,
        3 => Failure::Cut(rng.usize(0..600)),
        4 => Failure::Garble,
        _ => Failure::Hang,
    }
}

fn trial(folder: &Path, conduct: Conduct, seed: u64) -> FailureObservation {
    fs::create_dir_all(folder).expect("a folder for a run");
    let proxy = Proxy::new(folder, conduct, seed);
    let out = folder.join("runs");
    let printed = File::create(folder.join("printed.txt")).expect("a file for what it prints");
    let mut command = zooquake("run lock/fenced --clients 3 --faults pause --time 8s --seed 1 --anyway --out");
    command
        .arg(&out)
        .env("DOCKER_HOST", proxy.address())
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("the same file"))
        .stderr(printed);
    let mut child = command.spawn().expect("starting zooquake");
    let stops = matches!(conduct, Conduct::Fails(_, Failure::Hang));
    let (code, took, memory, mut broken) = watch(&mut child, &proxy, stops);
    let run = only(&out);
    if memory >= MEMORY {
        broken.push(format!("{} MiB of memory", memory >> 10));
    }
    match code {
        Some(0) => broken.extend(run.as_deref().map_or(Some("valid without a run".into()), lacks)),
        Some(2 | 255) => {}
        // No request is under way to an engine that is not listened for yet.
        None if run.is_none() => {}
        code => broken.push(format!("it ended with {code:?}")),
    }
    let id = run.as_deref().filter(|run| run.join("containers.json").exists());
    let left = id.map_or_else(Vec::new, |run| left_of(&crate::common::run_id(run)));
    broken.extend(left.iter().map(|left| format!("left: {left}")));
    FailureObservation {
        code,
        took,
        memory,
        struck: proxy.struck(),
        requests: proxy.requests(),
        broken,
    }
}

/// Waits for the end; a run whose request hangs gets a signal to stop 3 s later. With the code, the time, the most
/// memory in KiB, and what is broken.
fn watch(child: &mut Child, proxy: &Proxy, stops: bool) -> (Option<i32>, Duration, u64, Vec<String>) {
    let begun = Instant::now();
    let (mut memory, mut hung, mut stopped) = (0, None, None);
    loop {
        memory = memory.max(peak(child.id()));
        if let Some(status) = child.try_wait().expect("the state of zooquake") {
            return (status.code(), begun.elapsed(), memory, Vec::new());
        }
        if stops && proxy.struck().is_some() {
            let hung = *hung.get_or_insert_with(Instant::now);
            if stopped.is_none() && hung.elapsed() > Duration::from_secs(3) {
                signal(child, "TERM");
                stopped = Some(Instant::now());
            }
        }
        let late = stopped.is_some_and(|at| at.elapsed() > STOPS_WITHIN);
        if late || begun.elapsed() > ENDS_WITHIN {
            signal(child, "KILL");
            child.wait().expect("waiting for zooquake");
            let why = if late {
                "it did not stop when it was to"
            } else {
                "it did not end"
            };
            return (None, begun.elapsed(), memory, vec![why.to_string()]);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The most memory that a process had, in KiB; 0 if it has ended.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0)
}

/// What a run lacks that is valid.
fn lacks(run: &Path) -> Option<String> {
    let missing = [
        "provenance.json",
        "tree.json",
        "txnlog.jsonl",
        "servers.jsonl",
        "results.json",
    ]
    .into_iter()
    .find(|name| fs::metadata(run.join(name)).map_or(0, |file| file.len()) == 0);
    let history = fs::read_to_string(run.join("history.jsonl")).unwrap_or_default();
    match missing {
        Some(missing) => Some(format!("valid without {missing}")),
        None if !history.contains(r#""value":"done""#) => Some("valid without its end".to_string()),
        None => None,
    }
}
