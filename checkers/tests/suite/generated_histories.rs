//! Generated histories are what their options say, and are judged so.

use fastrand::Rng;
use std::collections::HashSet;
use zooquake_checkers::generate::{Object, Options, Values, generate};
use zooquake_checkers::search::register::{RegisterOp, Unset};
use zooquake_checkers::search::{Budget, Decision, Kind, Model, Near, Notation, Op, Outcome, judge, search};
use zooquake_checkers::{Event, EventType, History, Results, Verdict};

/// Everything that is generated, with what it is judged as.
fn objects() -> impl Iterator<Item = (Object, Kind)> {
    Object::ALL
        .into_iter()
        .map(|(name, object)| (object, name.parse().expect("it is a model, too")))
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

fn budget<T>(work: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    work(&mut Budget {
        steps: 50_000_000,
        bytes: 1 << 30,
        expired: &mut || false,
    })
}

fn judged(history: &History, kind: Kind) -> Results {
    budget(|budget| judge(history, Vec::new(), kind, Notation::Maps, budget))
}

#[test]
fn simulated_objects_are_linearizable_and_planted_violations_are_found() {
    for (object, kind) in objects() {
        for seed in 0..20 {
            // Queues and counters of other values take a search, which may be long.
            let values = match object {
                Object::FifoQueue | Object::UnorderedQueue | Object::TotalQueue | Object::Counter => Values::Unique,
                _ => [Values::Unique, Values::Of(5), Values::Of(2)][seed as usize % 3],
            };
            let clients = match object {
                Object::Semaphore(permits) => [4, 5, 8][seed as usize % 3].max(permits as usize + 1),
                Object::Barrier(members) => [3, 5, 8][seed as usize % 3].max(members as usize),
                _ => [2, 3, 8][seed as usize % 3],
            };
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
            let most = match object {
                Object::Register | Object::CasRegister => 12,
                Object::Semaphore(permits) => 4 * permits as usize + 2,
                // Each dequeue of unknown outcome explains one item that was left behind.
                Object::FifoQueue => 40,
                Object::RwLock => 4 * clients + 2,
                _ => 6,
            };
            assert!(witness.len() <= most, "{planted:?}: {witness:?}");
        }
    }
}

#[test]
fn a_generated_mutex_is_one_of_the_textbook_too() {
    for seed in 0..10 {
        let results = judged(&made(&options(Object::Mutex, seed)), Kind::MUTEX_STRICT);
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
        let drains = usize::from(object == Object::TotalQueue);
        assert_eq!(count(EventType::Invoke), options.ops + drains);
        let unknown = count(EventType::Info) as f64 / options.ops as f64;
        assert!((0.05..0.15).contains(&unknown), "{unknown}");
        let writes = |event: &&Event| event.kind == EventType::Invoke && event.f == "write";
        let written = history.events.iter().filter(writes);
        let written: Vec<String> = written.map(|event| event.value.to_string()).collect();
        let different: HashSet<&String> = written.iter().collect();
        assert_eq!(different.len(), written.len());
        let registers = [Object::Register, Object::CasRegister];
        assert_eq!(written.is_empty(), !registers.contains(&object));
    }
}

#[test]
fn options_that_no_history_has_are_refused() {
    let good = options(Object::Register, 1);
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
            ..options(Object::Semaphore(3), 1)
        },
        Options {
            clients: 2,
            ..options(Object::Barrier(3), 1)
        },
    ] {
        assert!(generate(&wrong).is_err(), "{wrong:?}");
    }
}

/// The operations of a register's history, as the models take them.
fn ops(history: &History) -> Vec<Op<RegisterOp<u64>>> {
    let mut ops = Vec::new();
    for event in history.events.iter().filter(|event| event.kind == EventType::Invoke) {
        let mut later = history.events[event.index + 1..].iter();
        let end = later.find(|end| end.process == event.process);
        let answered = end.filter(|end| end.kind == EventType::Ok);
        let number = |value: &zooquake_checkers::Value| value.as_u64();
        let input = match event.f.as_str() {
            "read" => answered.and_then(|end| number(&end.value)).map(RegisterOp::Read),
            "write" => number(&event.value).map(RegisterOp::Write),
            _ => number(&event.value[0])
                .zip(number(&event.value[1]))
                .map(|(from, to)| RegisterOp::Cas(from, to)),
        };
        let failed = end.is_some_and(|end| end.kind == EventType::Fail);
        if let Some(input) = input.filter(|_| !failed) {
            ops.push(match answered {
                Some(end) => Op::done(input, event.index, end.index),
                None => Op::unknown(input, event.index),
            });
        }
    }
    ops
}

#[test]
fn what_is_decided_without_the_search_is_what_the_search_decides() {
    let unset = Unset::default();
    let mut rng = Rng::with_seed(31);
    let (mut bad, mut near) = (0, 0);
    const TRIED: usize = 1500;
    for seed in 0..TRIED {
        let object = if rng.bool() {
            Object::Register
        } else {
            Object::CasRegister
        };
        let history = made(&Options {
            ops: 40,
            clients: rng.usize(2..6),
            unknown: 0.05,
            values: if rng.bool() { Values::Unique } else { Values::Of(4) },
            ..options(object, seed as u64)
        });
        let mut ops = ops(&history);
        // Sometimes a read is answered with what another one found.
        let reads: Vec<usize> = (0..ops.len())
            .filter(|&op| matches!(ops[op].input, RegisterOp::Read(_)))
            .collect();
        if let (Some(&one), Some(&other)) = (rng.choice(&reads), rng.choice(&reads)) {
            ops[one].input = ops[other].input.clone();
        }
        let fits = match budget(|budget| search(&unset, &ops, budget)) {
            Outcome::Linearizable { .. } => true,
            Outcome::Not { .. } => false,
            Outcome::GaveUp(_) => continue,
        };
        bad += usize::from(!fits);
        let swept = budget(|budget| unset.sweep(&ops, false, budget));
        assert_eq!(matches!(swept, Some(Decision::Linearizable)), fits, "{ops:?}");
        let relaxed = budget(|budget| unset.sweep(&ops, true, budget));
        assert!(!fits || matches!(relaxed, Some(Decision::Linearizable)), "{ops:?}");
        match unset.near(&ops) {
            Near::Linearizable => assert!(fits, "{ops:?}"),
            Near::Not(_) => assert!(!fits, "{ops:?}"),
            Near::Unsaid => continue,
        }
        near += 1;
    }
    assert!(
        bad > TRIED / 10 && bad < TRIED * 9 / 10 && near > TRIED / 3,
        "{bad} {near}"
    );
}
