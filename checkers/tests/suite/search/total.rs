//! Random small histories of total queues, whose items come out at least once, against the definition taken literally.

use super::kinds::table;
use super::{histories, told};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
use zooquake_history::{Event, EventType, History, Process};
use zooquake_linearizability::Op;
use zooquake_linearizability::models::queue::bag::QueueOp;
use zooquake_linearizability::models::queue::total::{self, AnsweredDrain};

/// An operation: what it put in or took out, and how and where it ended.
#[derive(Debug)]
struct RecordedQueueOperation {
    f: &'static str,
    items: Vec<u64>,
    invoke: usize,
    end: Option<(EventType, usize)>,
}

impl RecordedQueueOperation {
    fn ok(&self) -> Option<usize> {
        self.end.filter(|(kind, _)| *kind == EventType::Ok).map(|(_, at)| at)
    }

    fn unknown(&self) -> bool {
        self.end.is_none_or(|(kind, _)| kind == EventType::Info)
    }

    fn enqueues(&self, item: u64) -> bool {
        let failed = self.end.is_some_and(|(kind, _)| kind == EventType::Fail);
        self.f == "enqueue" && self.items == [item] && !failed
    }
}

/// Up to a dozen operations of three clients on two items. Mostly an item comes out that was put in before.
fn drawn(rng: &mut Rng) -> (History, Vec<RecordedQueueOperation>) {
    let (mut events, mut all): (Vec<Event>, Vec<RecordedQueueOperation>) = (Vec::new(), Vec::new());
    let mut clients = [(0, None), (1, None), (2, None)];
    for index in 0..rng.usize(2..20) {
        let client = rng.usize(0..3);
        let (process, open): &mut (u64, Option<usize>) = &mut clients[client];
        let (op, kind) = match open.take() {
            None => {
                let f = ["enqueue", "enqueue", "dequeue", "dequeue", "drain"][rng.usize(0..5)];
                let items = if f == "enqueue" { vec![rng.u64(0..2)] } else { vec![] };
                let (invoke, end) = (index, None);
                all.push(RecordedQueueOperation { f, items, invoke, end });
                *open = Some(all.len() - 1);
                (all.len() - 1, EventType::Invoke)
            }
            Some(op) => {
                let kind = [EventType::Fail, EventType::Info, EventType::Ok][rng.usize(0..12).min(2)];
                all[op].end = Some((kind, index));
                if kind == EventType::Ok && all[op].f != "enqueue" {
                    all[op].items = taken(rng, &all, all[op].f);
                }
                (op, kind)
            }
        };
        let done = &all[op];
        let answered = kind == EventType::Ok;
        let value: Value = match (done.f, done.items.as_slice()) {
            ("enqueue", [item]) => json!(item),
            ("drain", items) if answered => json!(items),
            ("dequeue", [item]) if answered => json!(item),
            _ => Value::Null,
        };
        events.push(Event {
            index,
            time: 0,
            process: Process::Number(*process),
            kind,
            f: done.f.into(),
            value: value.into(),
            error: None,
            node: None,
        });
        *process += if kind == EventType::Info { 3 } else { 0 };
    }
    (History { events }, all)
}

/// What a dequeue or a drain is answered with.
fn taken(rng: &mut Rng, all: &[RecordedQueueOperation], f: &str) -> Vec<u64> {
    let known = |item: &u64| all.iter().any(|op| op.enqueues(*item)) || rng.u8(0..40) == 0;
    let known: Vec<u64> = [0, 1].into_iter().filter(known).collect();
    let most = if f == "drain" { 2 } else { 1 };
    let count = rng.usize(0..=most);
    (0..count).filter_map(|_| rng.choice(&known).copied()).collect()
}

/// Whether each of these enqueues can be given one of the deliveries of its item that were answered after it was sent,
/// or one of `free` that may have taken anything.
fn matched(all: &[RecordedQueueOperation], enqueues: &[&RecordedQueueOperation], free: usize) -> bool {
    let slots: Vec<(u64, usize)> = all
        .iter()
        .filter(|op| op.f != "enqueue")
        .flat_map(|op| op.items.iter().filter_map(|&item| Some((item, op.ok()?))))
        .collect();
    let mut used = vec![false; slots.len()];
    give(enqueues, &slots, &mut used, free)
}

fn give(enqueues: &[&RecordedQueueOperation], slots: &[(u64, usize)], used: &mut [bool], free: usize) -> bool {
    let Some((first, rest)) = enqueues.split_first() else {
        return true;
    };
    let own = (0..slots.len()).any(|at| {
        let (item, end) = slots[at];
        let fits = !used[at] && first.items == [item] && end > first.invoke;
        if !fits {
            return false;
        }
        used[at] = true;
        let found = give(rest, slots, used, free);
        used[at] = false;
        found
    });
    own || free > 0 && give(rest, slots, used, free - 1)
}

/// The events right after which a drain may have found the queue empty; none if it is no evidence.
fn moments(all: &[RecordedQueueOperation], drain: &RecordedQueueOperation) -> Vec<usize> {
    let Some(end) = drain.ok().filter(|_| drain.f == "drain") else {
        return Vec::new();
    };
    let delivers = |op: &&RecordedQueueOperation| op.f != "enqueue" && op.ok().is_some() && !op.items.is_empty();
    let in_time = |op: &RecordedQueueOperation| match op.f {
        "drain" => op.invoke < end,
        _ => op.ok() < Some(drain.invoke),
    };
    if !all.iter().filter(delivers).all(in_time) {
        return Vec::new();
    }
    let first = |item: u64| all.iter().filter(|op| op.enqueues(item)).map(|op| op.invoke).min();
    let own = drain
        .items
        .iter()
        .filter_map(|&item| first(item))
        .filter(|&sent| sent < end);
    let from = own.chain([drain.invoke]).max().unwrap_or(0);
    (from..end).collect()
}

/// The verdict by the definition.
fn verdict(all: &[RecordedQueueOperation]) -> Verdict {
    let acked = |until: usize| -> Vec<&RecordedQueueOperation> {
        let enqueues = all.iter().filter(|op| op.f == "enqueue");
        enqueues.filter(|op| op.ok().is_some_and(|end| end <= until)).collect()
    };
    let made_up = |op: &RecordedQueueOperation| {
        let sent = |item: u64, end: usize| all.iter().any(|op| op.enqueues(item) && op.invoke < end);
        op.f != "enqueue" && op.ok().is_some_and(|end| !op.items.iter().all(|&item| sent(item, end)))
    };
    let free = |at: usize, op: &&RecordedQueueOperation| op.unknown() && op.invoke <= at && op.f != "enqueue";
    let may_take = |at: usize| {
        let takes = all.iter().filter(|op| free(at, op));
        takes.map(|op| if op.f == "drain" { 99 } else { 1 }).sum::<usize>()
    };
    let lost = |drain: &RecordedQueueOperation| {
        let moments = moments(all, drain);
        let fits = |&at: &usize| matched(all, &acked(at), may_take(at));
        !moments.is_empty() && !moments.iter().any(fits)
    };
    if all.iter().any(made_up) || all.iter().any(lost) {
        return Verdict::Invalid;
    }
    let lacking = |until: usize| {
        let enqueues = acked(until);
        (0..).find(|&free| matched(all, &enqueues, free)).unwrap_or(0)
    };
    let judged = all
        .iter()
        .filter_map(|drain| moments(all, drain).first().copied())
        .max();
    let left = lacking(usize::MAX) - judged.map_or(0, lacking);
    if left > 0 { Verdict::Unknown } else { Verdict::Valid }
}

#[test]
fn verdicts_are_what_the_definition_says() {
    let [total, unordered] =
        ["total-queue", "unordered-queue"].map(|name| name.parse::<ModelKind>().expect("it is a model"));
    let mut rng = Rng::with_seed(82);
    let (mut found, mut again) = ([0; 3], 0);
    for _ in 0..histories() {
        let (history, all) = drawn(&mut rng);
        let results = told(&history, total);
        let wanted = verdict(&all);
        assert_eq!(results.verdict, wanted, "{all:#?} {results:?}");
        found[wanted as usize] += 1;
        again += usize::from(results.reasons.iter().any(|reason| reason.contains("repeated")));
        // What comes out once comes out at least once.
        if wanted == Verdict::Invalid {
            let stricter = told(&history, unordered);
            assert_eq!(stricter.verdict, Verdict::Invalid, "{all:#?}");
        }
    }
    let least = histories() / 50;
    assert!(
        found.iter().all(|&found| found > least) && again > least,
        "{found:?} {again}"
    );
}

/// Operations, some of which need not have happened, and the drains among them.
fn ops(all: &[RecordedQueueOperation]) -> (Vec<Op<QueueOp>>, Vec<AnsweredDrain>) {
    let (mut ops, mut drains) = (Vec::new(), Vec::new());
    let number = |item: u64| item as u32;
    for op in all {
        let (first, sent) = (ops.len(), op.invoke);
        match (op.f, op.ok()) {
            ("enqueue", Some(end)) => ops.push(Op::done(QueueOp::Enqueue(number(op.items[0])), sent, end)),
            ("enqueue", None) if op.unknown() => ops.push(Op::unknown(QueueOp::Enqueue(number(op.items[0])), sent)),
            ("dequeue", None) if op.unknown() => ops.push(Op::unknown(QueueOp::Take, sent)),
            (_, None) => {}
            (f, Some(end)) => {
                ops.extend({ op.items.iter() }.map(|&item| Op::done(QueueOp::Dequeue(number(item)), sent, end)));
                if f == "drain" {
                    let empty = ops.len();
                    ops.push(Op::done(QueueOp::Empty, sent, end));
                    drains.push(AnsweredDrain { sent, first, empty });
                }
            }
        }
    }
    (ops, drains)
}

#[test]
fn nothing_can_be_left_out_of_a_witness() {
    let mut rng = Rng::with_seed(83);
    let mut long = 0;
    for _ in 0..histories() {
        let (ops, drains) = ops(&drawn(&mut rng).1);
        let convicts = |needed: &[usize]| {
            let mut ops = ops.clone();
            for (place, op) in ops.iter_mut().enumerate() {
                op.required &= needed.contains(&place);
            }
            total::judge(&ops, &drains).contradiction.is_some()
        };
        let Some(found) = total::judge(&ops, &drains).contradiction else {
            continue;
        };
        let witness = found.witness.ops;
        assert!(
            witness.contains(&found.stuck) && convicts(&witness),
            "{witness:?} of {ops:?}"
        );
        for left_out in &witness {
            let rest: Vec<usize> = witness.iter().copied().filter(|op| op != left_out).collect();
            assert!(!convicts(&rest), "{left_out} of {witness:?}, {ops:?}");
        }
        long += usize::from(witness.len() > 2);
    }
    assert!(long > histories() / 100, "{long}");
}

#[test]
fn deliveries_are_matched_and_not_counted() {
    let twice = "0 enqueue 1 -> 1; 1 dequeue -> 1; 1 dequeue -> 1";
    table(&format!(
        "
        total-queue valid                            | {twice}; 0 invoke enqueue 1; 0 info enqueue 1
        total-queue valid                            | {twice}; 0 enqueue 1 -> 1; 1 drain -> [1]
        total-queue lost-item [6, 7, 8, 9]           | {twice}; 0 enqueue 1 -> 1; 1 drain -> []
        total-queue lost-item [0, 1, 2, 3, 6, 7]     | 0 enqueue 1 -> 1; 0 enqueue 1 -> 1; 1 dequeue -> 1; 1 drain -> []
        total-queue valid                            | 0 enqueue 1 -> 1; 0 invoke enqueue 1; 1 dequeue -> 1; 0 info enqueue 1; 1 drain -> []
        total-queue phantom-item [0, 1]              | 1 dequeue -> 1; 0 enqueue 1 -> 1; 1 dequeue -> 1"
    ));
}

#[test]
fn a_drain_speaks_for_what_was_delivered_before_it_was_sent() {
    let both = "1 enqueue 1 -> 1; 1 enqueue 2 -> 2";
    table(&format!(
        "
        total-queue unknown: no drain was sent       | 0 invoke drain; {both}; 2 dequeue -> 2; 0 ok drain []
        total-queue unknown: no drain was sent       | {both}; 2 invoke dequeue; 0 drain -> []; 2 ok dequeue 2
        total-queue unknown: no drain was sent       | {both}; 0 drain -> []; 2 dequeue -> 2
        total-queue lost-item [0, 1, 6, 7]           | {both}; 2 dequeue -> 2; 0 drain -> []
        total-queue lost-item [0, 1, 4, 6]           | {both}; 0 invoke drain; 2 invoke drain; 0 ok drain [2]; 2 ok drain []
        total-queue unknown: no drain was sent       | 0 invoke drain; 1 enqueue 1 -> 1; 0 ok drain []"
    ));
}
