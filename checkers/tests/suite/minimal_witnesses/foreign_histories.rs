//! Foreign histories: whichever of the operations outside of the witness happened, as each did, no order fits; and one
//! fits some choice of them if an operation of the witness may not have happened either. What failed stays failed.

use super::{Names, USUAL};
use crate::script::{event, number};
use crate::search::told;
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zooquake_checkers::Anomaly;
use zooquake_checkers::search::ModelKind;
use zooquake_history::{Event, EventType, History};

/// A random history of three processes, each of which does one operation after the other.
fn history(seed: u64, kind: ModelKind) -> History {
    let mut rng = Rng::with_seed(seed);
    let mut history = History::default();
    let mut doing: [Option<(&str, Value)>; 3] = [const { None }; 3];
    let (mut renewed, mut holds) = ([0; 3], [false; 3]);
    for _ in 0..rng.usize(4..15) {
        let who = rng.usize(0..3);
        let number = who as u64 + 10 * renewed[who];
        let (outcome, f, value) = match doing[who].take() {
            None => {
                let asked = match rng.u8(0..6) {
                    0 | 1 if kind == ModelKind::REGISTER => ("read", Value::Null),
                    2 | 3 if kind == ModelKind::REGISTER => ("write", json!(rng.u8(0..3))),
                    _ if kind == ModelKind::REGISTER => ("cas", json!([rng.u8(0..3), rng.u8(0..3)])),
                    _ if holds[who] => ("release", Value::Null),
                    _ => ("acquire", Value::Null),
                };
                doing[who] = Some(asked.clone());
                (EventType::Invoke, asked.0, asked.1)
            }
            Some((f, asked)) => {
                let outcome = match rng.u8(0..6) {
                    // A write that failed shows with what the register did not begin, unless another one may have
                    // written that.
                    0 if f != "write" => EventType::Fail,
                    1 => EventType::Info,
                    _ => EventType::Ok,
                };
                renewed[who] += u64::from(outcome == EventType::Info);
                holds[who] = f == "acquire" && outcome == EventType::Ok;
                let read = f == "read" && outcome == EventType::Ok;
                (outcome, f, if read { json!(rng.u8(0..3)) } else { asked })
            }
        };
        let index = history.events.len();
        let event = event(index, index as u64, "", Some(number), outcome, f, value);
        history.events.push(event);
    }
    history
}

/// The operations answered with `ok`: where each was sent and answered.
fn happened(history: &History) -> Vec<[usize; 2]> {
    let events = &history.events;
    let pair = |end: &Event| {
        let sent = |at: &usize| events[*at].process == end.process && events[*at].kind == EventType::Invoke;
        Some([(0..end.index).rfind(sent)?, end.index])
    };
    let ends = events.iter().filter(|event| event.kind == EventType::Ok);
    ends.filter_map(pair).collect()
}

fn found(history: &History, kind: ModelKind) -> Vec<Anomaly> {
    told(history, kind).anomalies
}

/// Whether no order fits, whichever of the operations happened that do not have to.
fn convicts(history: &History, must: &BTreeSet<usize>, kind: ModelKind) -> bool {
    let free: Vec<[usize; 2]> = happened(history)
        .into_iter()
        .filter(|[_, end]| !must.contains(end))
        .collect();
    (0..1_u32 << free.len()).all(|chosen| {
        let gone = |at: usize| (0..free.len()).any(|op| chosen >> op & 1 == 1 && free[op].contains(&at));
        let mut less = history.clone();
        less.events.retain(|event| !gone(event.index));
        number(&mut less.events);
        !found(&less, kind).is_empty()
    })
}

#[test]
fn every_witness_of_a_foreign_history() {
    let mut seen = Names::new();
    for seed in 0..crate::histories(USUAL) {
        let kind = [ModelKind::REGISTER, ModelKind::MUTEX, ModelKind::MUTEX_STRICT][(seed % 3) as usize];
        let history = history(seed, kind);
        for anomaly in found(&history, kind) {
            let told = || format!("seed {seed}, {kind}: {anomaly:#?}\n{:#?}", history.events);
            let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
            assert!(convicts(&history, &witness, kind), "more is needed, {}", told());
            for [sent, end] in happened(&history) {
                let mut less = witness.clone();
                if less.remove(&end) && less.remove(&sent) {
                    assert!(!convicts(&history, &less, kind), "{end} is not needed, {}", told());
                }
            }
            seen.insert(format!("{kind} {}", anomaly.kind));
        }
    }
    let wanted = [
        "register not-linearizable",
        "mutex double-grant",
        "mutex-strict double-grant",
    ];
    assert_eq!(seen, wanted.map(str::to_owned).into());
}
