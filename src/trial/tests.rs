//! Trials in memory: of every variant that is built in, and of clients that each break one sentence.

mod groups;

use super::*;
use crate::backends::sim::SimBackend;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;
use zooquake_history::protocol::ProcessOutput;
use zooquake_workloads::recipes::{registry, workload};

/// What stands between a client and the trial.
#[derive(Default)]
struct TrialProxy {
    /// Changes a line for the client.
    request: Option<fn(&mut Value)>,
    /// What becomes of a line of it.
    said: Option<fn(&mut Value) -> Say>,
    /// Whether the end of stdin is kept from it.
    keeps_stdin: bool,
    /// The operation that it dies of.
    dies_of: Option<&'static str>,
}

/// What becomes of a line that a client writes.
enum Say {
    Nothing,
    It,
    Twice,
    ThenWords,
}

/// The names of the sentences that a variant's client breaks, through what stands between.
fn broken(name: &str, between: TrialProxy) -> Vec<&'static str> {
    tried(name, between)
        .into_iter()
        .filter(|finding| finding.outcome == SentenceVerdict::Broken)
        .map(|finding| finding.sentence.name)
        .collect()
}

fn tried(name: &str, between: TrialProxy) -> Vec<Finding> {
    trial_of(name, between).findings
}

fn trial_of(name: &str, between: TrialProxy) -> ClientTrial {
    let (family, variant) = name.split_once('/').unwrap();
    let (backend, case) = (SimBackend::default(), case(workload(family, variant).unwrap()).unwrap());
    let world = backend.clone();
    let between = Arc::new(between);
    let trial = async move {
        let what = BringUp {
            run: "memory",
            plan: case.plan(),
            logs: PathBuf::new(),
            keep: false,
        };
        let cluster = bring_up(&backend, what).await?;
        let (starts, clock) = (Arc::clone(&cluster), backend.clock());
        let start: Start = Arc::new(move |client, incarnation, on_output| {
            let (cluster, between, clock) = (Arc::clone(&starts), Arc::clone(&between), Arc::clone(&clock));
            Box::pin(async move {
                let on_output = altered(on_output, between.said);
                let stdin = cluster.start_client(client, incarnation, on_output).await?;
                let dies: Dies = Box::new(move || {
                    let cluster = Arc::clone(&cluster);
                    Box::pin(async move { cluster.kill(client).await.map(|_| ()) })
                });
                Ok(forwarded(&*clock, stdin, &between, dies))
            })
        });
        Trial::new(cluster, backend.clock(), &case, start).unwrap().run().await
    };
    world.run(trial).unwrap()
}

fn altered(mut on_output: OnOutput, said: Option<fn(&mut Value) -> Say>) -> OnOutput {
    Box::new(move |output| match (output, said) {
        (ProcessOutput::Message(message), Some(said)) => {
            let mut line = serde_json::to_value(message).unwrap();
            let lines = match said(&mut line) {
                Say::Nothing => vec![],
                Say::It => vec![line.to_string()],
                Say::Twice => vec![line.to_string(); 2],
                Say::ThenWords => vec![line.to_string(), "connected".to_string()],
            };
            lines.into_iter().for_each(|line| on_output(ProcessOutput::Line(line)));
        }
        (output, _) => on_output(output),
    })
}

/// Ends a process.
type Dies = Box<dyn Fn() -> BoxFuture<'static, Result<()>> + Send>;

/// A way to the process on which lines may change.
fn forwarded(clock: &dyn Clock, stdin: Stdin, between: &TrialProxy, dies: Dies) -> Stdin {
    let (request, keeps, dies_of) = (between.request, between.keeps_stdin, between.dies_of);
    let (sender, mut lines) = mpsc::unbounded_channel::<String>();
    clock.spawn(Box::pin(async move {
        while let Some(line) = lines.recv().await {
            let parsed = serde_json::from_str::<Value>(&line).ok();
            let mortal = |value: &Value| dies_of.is_some_and(|f| value["f"] == f);
            match (request, parsed) {
                (_, Some(value)) if mortal(&value) => dies().await.unwrap(),
                (Some(request), Some(mut value)) => {
                    request(&mut value);
                    stdin.send(value.to_string());
                }
                _ => stdin.send(line),
            }
        }
        if keeps {
            std::future::pending::<()>().await;
        }
        drop(stdin);
    }));
    Stdin::new(sender)
}

#[test]
fn every_variant_keeps_every_sentence() {
    let simulable = registry().iter().filter(|variant| !variant.client_library);
    for variant in simulable.map(|variant| variant.workload().name()) {
        let findings = tried(&variant, TrialProxy::default());
        let broken: Vec<&Finding> = findings
            .iter()
            .filter(|finding| finding.outcome == SentenceVerdict::Broken)
            .collect();
        assert!(broken.is_empty(), "{variant}: {broken:#?}");
    }
}

#[test]
fn what_is_not_tried_has_a_reason() {
    let why = |variant: &str, name: &str| {
        let findings = tried(variant, TrialProxy::default());
        let not_tried = |finding: &&Finding| finding.outcome == SentenceVerdict::NotTried;
        for finding in findings.iter().filter(not_tried) {
            assert!(
                !finding.seen.is_empty() && !finding.seen.contains("did not come to pass"),
                "{finding:?}"
            );
        }
        let of = findings.into_iter().find(|finding| finding.sentence.name == name);
        of.expect("a finding of each sentence").seen
    };
    assert_eq!(why("lock/fenced", "taking"), "lock/fenced hands out no items");
    assert_eq!(
        why("counter/versioned", "nonsense"),
        "no operation of a counter takes a value"
    );
    assert_eq!(
        why("queue/fifo", "token"),
        "queue/fifo grants nothing that a client holds"
    );
    assert_eq!(
        why("semaphore/counted", "timeout"),
        "no client of semaphore/counted waits while one other holds"
    );
    assert_eq!(
        why("barrier/gate", "audited"),
        "at the end of a run nothing of barrier/gate is looked for"
    );
    assert_eq!(
        why("lock/children", "nothing-left"),
        "no operation that waited was answered `fail`"
    );
    let mute = TrialProxy {
        said: Some(|_| Say::Nothing),
        ..TrialProxy::default()
    };
    let findings = tried("lock/fenced", mute);
    let ping = findings.iter().find(|finding| finding.sentence.name == "ping").unwrap();
    assert_eq!(ping.seen, "a client whose first line is another one is asked nothing");
}

#[test]
fn every_sentence_is_tried_of_some_family() {
    let mut left: Vec<&str> = SENTENCES.iter().map(|sentence| sentence.name).collect();
    for variant in ["lock/fenced", "lock/children", "queue/fifo", "membership/cached"] {
        for finding in tried(variant, TrialProxy::default()) {
            left.retain(|name| finding.outcome == SentenceVerdict::NotTried || *name != finding.sentence.name);
        }
    }
    // Answered only by a client that clears away in time.
    left.retain(|name| *name != "nothing-left");
    assert_eq!(left, [""; 0]);
}

/// Whether a client's line is an error that begins so.
fn errs(said: &Value, begins: &str) -> bool {
    said["error"].as_str().is_some_and(|error| error.starts_with(begins))
}

/// An error that begins so ends with another outcome.
fn ends(said: &mut Value, begins: &str, outcome: &str) -> Say {
    if errs(said, begins) {
        said["outcome"] = outcome.into();
    }
    Say::It
}

fn hidden(is: bool) -> Say {
    if is { Say::Nothing } else { Say::It }
}

/// Whether a client's line grants something, for the first time after the first that reports a connection as lost.
fn is_first_grant_after_a_cut(said: &Value) -> bool {
    static CUT: AtomicBool = AtomicBool::new(false);
    static HIDDEN: AtomicBool = AtomicBool::new(false);
    if said["notice"] == "session" && said["value"]["state"] == "disconnected" {
        CUT.store(true, Ordering::SeqCst);
    }
    let grants = said["type"] == "reply" && said["value"]["czxid"].is_i64();
    CUT.load(Ordering::SeqCst) && grants && !HIDDEN.swap(true, Ordering::SeqCst)
}

/// A proxy that changes what the client writes.
fn says(said: fn(&mut Value) -> Say) -> TrialProxy {
    TrialProxy {
        said: Some(said),
        ..TrialProxy::default()
    }
}

/// What breaks a sentence, and the sentence.
fn breakers() -> Vec<(&'static str, TrialProxy)> {
    let asks = |request| TrialProxy {
        request: Some(request),
        ..TrialProxy::default()
    };
    vec![
        ("hello", says(|said| hidden(said["type"] == "hello"))),
        ("whole-lines", says(|_| Say::ThenWords)),
        (
            "whole-lines",
            says(|said| if said["type"] == "reply" { Say::Twice } else { Say::It }),
        ),
        ("busy", says(|said| ends(said, "busy", "info"))),
        ("unknown-operation", says(|said| ends(said, "no operation", "ok"))),
        ("malformed", says(|said| hidden(errs(said, "not a request")))),
        (
            "timeout",
            asks(|request| {
                if request["f"] == "acquire" {
                    request.as_object_mut().unwrap().remove("timeout_ms");
                }
            }),
        ),
        (
            "confirm-cut-off",
            says(|said| {
                let quorum = |error: &str| error.contains("quorum write") || error == "timed out";
                if said["error"].as_str().is_some_and(quorum) {
                    said["outcome"] = "ok".into();
                    said["value"] = serde_json::json!({ "holds": false, "zxid": 1 });
                }
                Say::It
            }),
        ),
        ("session", says(|said| hidden(said["notice"] == "session"))),
        (
            "quiesce",
            says(|said| {
                if said["value"].get("znodes").is_some() {
                    said["value"]["znodes"] = serde_json::json!([]);
                }
                Say::It
            }),
        ),
        (
            "not-held",
            asks(|request| {
                if request["value"]["grant"] == "g-of-nobody" {
                    request["f"] = "ping".into();
                }
            }),
        ),
        (
            "works",
            asks(|request| {
                if request["f"] == "write" {
                    request["value"]["work_ms"] = 400.into();
                }
            }),
        ),
        (
            "confirm",
            says(|said| {
                if let Some(zxid) = said["value"]["zxid"].as_i64() {
                    said["value"]["zxid"] = (zxid - 1).into();
                }
                Say::It
            }),
        ),
        (
            "hand-over-after-cut",
            says(|said| hidden(is_first_grant_after_a_cut(said))),
        ),
        (
            "end-of-stdin",
            TrialProxy {
                keeps_stdin: true,
                ..TrialProxy::default()
            },
        ),
    ]
}

#[test]
fn what_a_hello_states_of_the_kit_is_shown_and_of_one_without_it_nothing() {
    assert_eq!(trial_of("lock/fenced", TrialProxy::default()).kit, []);
    let stated = says(|said| {
        if said["type"] == "hello" {
            said["kit"] = serde_json::json!(["lost", "release", "another"]);
        }
        Say::It
    });
    let kit = trial_of("lock/fenced", stated).kit;
    assert_eq!(kit, [KitPart::Release, KitPart::Lost]);
    assert_eq!(kit[0].line(), "release: by the kit, which deletes the grant's znode");
}

/// Sentences of which a client can break one without breaking others.
const ALONE: &str =
    "whole-lines busy unknown-operation malformed timeout not-held works hand-over-after-cut end-of-stdin";

#[test]
fn each_broken_sentence_is_named_and_no_other_where_it_is_broken_alone() {
    for (sentence, between) in breakers() {
        let broken = broken("lock/fenced", between);
        assert!(broken.contains(&sentence), "{sentence}: {broken:?}");
        let alone = ALONE.split(' ').any(|alone| alone == sentence);
        assert!(!alone || broken == [sentence], "{sentence}: {broken:?}");
    }
}

#[test]
fn who_dies_is_started_again_and_tried_further() {
    let dies_of = |f| TrialProxy {
        dies_of: Some(f),
        ..TrialProxy::default()
    };
    for (f, sentence) in [("no-such-operation", "unknown-operation"), ("release", "release")] {
        let findings = tried("lock/fenced", dies_of(f));
        let outcome = |name| {
            findings
                .iter()
                .find(|finding| finding.sentence.name == name)
                .map(|one| one.outcome)
        };
        assert_eq!(
            [outcome(sentence), outcome("stays-up"), outcome("end-of-stdin")],
            [
                Some(SentenceVerdict::Broken),
                Some(SentenceVerdict::Broken),
                Some(SentenceVerdict::Held)
            ],
            "{findings:#?}"
        );
    }
    let broken = broken("lock/fenced", dies_of("no-such-operation"));
    assert_eq!(broken, ["unknown-operation", "stays-up"]);
}
