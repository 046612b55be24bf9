//! Random small histories of queues that are drained in the middle: a drain takes out what it is answered with, one
//! item after the other, and then finds the queue empty.

use super::{histories, told};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
use zooquake_history::{Event, EventType, History, Process};
use zooquake_linearizability::Model;
use zooquake_linearizability::models::queue::bag::{Bag, QueueOp};
use zooquake_linearizability::models::queue::fifo::Fifo;

/// An operation, all of whose parts are done in their order: an enqueue, a dequeue, or a drain with several. The
/// deliveries of a drain may be done in any order of their items.
#[derive(Debug, Clone)]
struct Whole {
    parts: Vec<QueueOp>,
    invoke: usize,
    /// `None` if its outcome is unknown.
    end: Option<usize>,
}

/// Few operations with random intervals, some of unknown outcome; values mostly put in once.
fn drawn(rng: &mut Rng) -> Vec<Whole> {
    let size = rng.usize(2..=5);
    let mut positions: Vec<usize> = (0..2 * size).collect();
    for _ in 0..rng.usize(0..3 * size) {
        let at = rng.usize(1..positions.len());
        positions.swap(at - 1, at);
    }
    let same = rng.bool();
    let whole = |(place, pair): (usize, &[usize])| {
        let item = |rng: &mut Rng| rng.u32(0..if same { 2 } else { 3 });
        let parts = match rng.u8(0..10) {
            0..5 => vec![QueueOp::Enqueue(if same { item(rng) } else { place as u32 })],
            5..7 => vec![QueueOp::Dequeue(item(rng))],
            _ => {
                let items = (0..rng.usize(0..3)).map(|_| QueueOp::Dequeue(item(rng)));
                items.chain([QueueOp::Empty]).collect()
            }
        };
        let unknown = matches!(parts[0], QueueOp::Enqueue(_)) && rng.u8(0..6) == 0;
        Whole {
            parts,
            invoke: pair[0].min(pair[1]),
            end: (!unknown).then_some(pair[0].max(pair[1])),
        }
    };
    positions.chunks(2).enumerate().map(whole).collect()
}

/// Whether some order fits: the parts of what is left are done one after the other, each in the interval of its
/// operation.
fn fits<M: Model<Input = QueueOp>>(model: &M, all: &[Whole], state: &M::State, left: &mut Vec<Vec<QueueOp>>) -> bool {
    let open = |op: usize, left: &[Vec<QueueOp>]| all[op].end.is_some() && !left[op].is_empty();
    let wall = (0..all.len())
        .filter(|&op| open(op, left))
        .filter_map(|op| all[op].end)
        .min();
    let Some(wall) = wall else { return true };
    (0..all.len()).filter(|&op| all[op].invoke < wall).any(|op| {
        let deliveries = left[op]
            .iter()
            .filter(|part| matches!(part, QueueOp::Dequeue(_)))
            .count();
        (0..deliveries.max(left[op].len().min(1))).any(|at| {
            let part = left[op].remove(at);
            let found = model
                .step(state, &part)
                .is_some_and(|next| fits(model, all, &next, left));
            left[op].insert(at, part);
            found
        })
    })
}

fn history(all: &[Whole]) -> History {
    let mut events: Vec<(usize, Event)> = Vec::new();
    for (process, op) in all.iter().enumerate() {
        let items: Vec<u32> = op
            .parts
            .iter()
            .filter_map(|part| match part {
                QueueOp::Enqueue(item) | QueueOp::Dequeue(item) => Some(*item),
                _ => None,
            })
            .collect();
        let drain = op.parts.last() == Some(&QueueOp::Empty);
        let (f, asked, answered) = match op.parts[0] {
            _ if drain => ("drain", Value::Null, json!(items)),
            QueueOp::Enqueue(item) => ("enqueue", json!(item), json!(item)),
            _ => ("dequeue", Value::Null, json!(items[0])),
        };
        let event = |kind, value: Value| Event {
            index: 0,
            time: 0,
            process: Process::Number(process as u64),
            kind,
            f: f.into(),
            value: value.into(),
            error: None,
            node: None,
        };
        events.push((op.invoke, event(EventType::Invoke, asked)));
        events.extend(op.end.map(|end| (end, event(EventType::Ok, answered))));
    }
    events.sort_unstable_by_key(|&(position, _)| position);
    let events = events.into_iter().enumerate();
    History {
        events: events.map(|(index, (_, event))| Event { index, ..event }).collect(),
    }
}

fn agree<M: Model<Input = QueueOp>>(model: &M, name: &str, seed: u64) {
    let (kind, mut rng): (ModelKind, Rng) = (name.parse().expect("it is a model"), Rng::with_seed(seed));
    let (mut bad, mut unknown) = (0, 0);
    for _ in 0..histories() {
        let all = drawn(&mut rng);
        let mut left: Vec<Vec<QueueOp>> = all.iter().map(|op| op.parts.clone()).collect();
        let fit = fits(model, &all, &model.initial(), &mut left);
        let results = told(&history(&all), kind);
        match results.verdict {
            Verdict::Valid => assert!(fit, "{name}: no order fits {all:?}"),
            Verdict::Invalid => assert!(!fit, "{name}: an order fits {all:?} {results:?}"),
            Verdict::Unknown => unknown += 1,
        }
        bad += usize::from(!fit && results.verdict == Verdict::Invalid);
    }
    let (least, most) = (histories() / 20, histories() / 4);
    assert!(bad > least && unknown < most, "{name}: {bad} {unknown}");
}

#[test]
fn unordered_queues() {
    agree(&Bag, "unordered-queue", 84);
}

#[test]
fn fifo_queues() {
    agree(&Fifo, "fifo-queue", 85);
}
