//! Generated histories follow their options, and are judged so.

use std::collections::HashSet;
use zooquake_checkers::generate::{Object, Options, Values, generate};
use zooquake_checkers::search::{Budget, ModelKind, Notation, judge};
use zooquake_checkers::{Results, Verdict};
use zooquake_history::{Event, EventType, History};

/// Everything that is generated, with what it is judged as.
fn objects() -> impl Iterator<Item = (Object, ModelKind)> {
    Object::all().map(|object| (object, object.to_string().parse().expect("it is a model, too")))
}

fn object(name: &str) -> Object {
    name.parse().expect("it is generated")
}

fn options(object: Object, seed: u64) -> Options {
    Options {
        object,
        ops: 400,
        clients: 8,
        unknown: 0.02,
        values: Values::Unique,
        seed,
        violation: false,
    }
}

fn made(options: &Options) -> History {
    generate(options).expect("the options make sense")
}

fn judged(history: &History, kind: ModelKind) -> Results {
    let budget = &mut Budget {
        steps: 50_000_000,
        bytes: 1 << 30,
        expired: &mut || false,
    };
    judge(history, Vec::new(), kind, Notation::Maps, budget)
}

#[test]
fn simulated_objects_are_linearizable_and_planted_violations_are_found() {
    for (object, kind) in objects() {
        for seed in 0..20 {
            // Queues and counters of other values take a search, which may be long.
            let values = match object.name() {
                "fifo-queue" | "unordered-queue" | "total-queue" | "counter" => Values::Unique,
                _ => [Values::Unique, Values::Of(5), Values::Of(2)][seed as usize % 3],
            };
            let size = object.size() as usize;
            let clients = object.clients(true) + [0, 1, 6][seed as usize % 3];
            let valid = Options {
                values,
                clients,
                ..options(object, seed)
            };
            let results = judged(&made(&valid), kind);
            assert_eq!(results.verdict, Verdict::Valid, "{valid:?}: {:?}", results.anomalies);
            let planted = Options {
                violation: true,
                ..valid
            };
            let results = judged(&made(&planted), kind);
            assert_eq!(results.verdict, Verdict::Invalid, "{planted:?}: {:?}", results.reasons);
            let witness = &results.anomalies[0].witness;
            let most = match object.name() {
                "register" | "cas-register" => 12,
                "semaphore" => 4 * size + 2,
                // Each dequeue of unknown outcome explains one item that was left behind.
                "fifo-queue" => 40,
                "rwlock" => 4 * clients + 2,
                _ => 6,
            };
            assert!(witness.len() <= most, "{planted:?}: {witness:?}");
        }
    }
}

#[test]
fn a_generated_mutex_is_one_of_the_textbook_too() {
    for seed in 0..10 {
        let results = judged(&made(&options(object("mutex"), seed)), ModelKind::MUTEX_STRICT);
        assert_eq!(results.verdict, Verdict::Valid, "{seed}: {:?}", results.anomalies);
    }
}

#[test]
fn histories_are_what_their_options_say() {
    for (object, _) in objects() {
        let options = Options {
            ops: 5000,
            unknown: 0.1,
            ..options(object, 7)
        };
        let history = made(&options);
        assert_eq!(history, made(&options), "the same options give the same history");
        assert_ne!(history, made(&Options { seed: 8, ..options }));
        let count = |kind| history.events.iter().filter(|event| event.kind == kind).count();
        let drains = usize::from(object.name() == "total-queue");
        assert_eq!(count(EventType::Invoke), options.ops + drains);
        let unknown = count(EventType::Info) as f64 / options.ops as f64;
        assert!((0.05..0.15).contains(&unknown), "{unknown}");
        let writes = |event: &&Event| event.kind == EventType::Invoke && event.f == "write";
        let written = history.events.iter().filter(writes);
        let written: Vec<String> = written.map(|event| event.value.to_string()).collect();
        let different: HashSet<&String> = written.iter().collect();
        assert_eq!(different.len(), written.len());
        let registers = ["register", "cas-register"];
        assert_eq!(written.is_empty(), !registers.contains(&object.name()));
    }
}

#[test]
fn options_that_no_history_has_are_refused() {
    let good = options(object("register"), 1);
    for wrong in [
        Options { unknown: 1.5, ..good },
        Options { clients: 0, ..good },
        Options {
            clients: 1,
            violation: true,
            ..good
        },
        Options {
            clients: 3,
            violation: true,
            ..options(object("semaphore:3"), 1)
        },
        Options {
            clients: 2,
            ..options(object("barrier:3"), 1)
        },
    ] {
        assert!(generate(&wrong).is_err(), "{wrong:?}");
    }
}
