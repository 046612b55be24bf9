//! Random small histories of rounds of a barrier and of transactions: from events to the verdict, against the
//! definitions taken literally.

use super::{histories, told};
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
use zooquake_history::{Event, EventType, History, Process};

/// An operation of a process: what was asked, and how and where it ended.
#[derive(Debug)]
struct RecordedOperation {
    process: u64,
    f: &'static str,
    value: Value,
    invoke: usize,
    end: Option<(EventType, usize)>,
}

impl RecordedOperation {
    fn ended(&self, kind: EventType) -> Option<usize> {
        self.end.filter(|(ended, _)| *ended == kind).map(|(_, at)| at)
    }

    fn ok(&self) -> Option<usize> {
        self.ended(EventType::Ok)
    }
}

/// Up to a dozen operations of three clients. What is answered repeats what was asked; of `hidden` the last part is not
/// asked for.
fn drawn(
    rng: &mut Rng,
    hidden: &str,
    draw: impl Fn(&mut Rng) -> (&'static str, Value),
) -> (History, Vec<RecordedOperation>) {
    let (mut events, mut all): (Vec<Event>, Vec<RecordedOperation>) = (Vec::new(), Vec::new());
    let mut clients = [(0, None), (1, None), (2, None)];
    for index in 0..rng.usize(2..24) {
        let client = rng.usize(0..3);
        let (process, open): &mut (u64, Option<usize>) = &mut clients[client];
        let (op, kind) = match open.take() {
            None => {
                let (f, value) = draw(rng);
                all.push(RecordedOperation {
                    process: *process,
                    f,
                    value,
                    invoke: index,
                    end: None,
                });
                *open = Some(all.len() - 1);
                (all.len() - 1, EventType::Invoke)
            }
            Some(op) => {
                let kind = [EventType::Fail, EventType::Info, EventType::Ok][rng.usize(0..10).min(2)];
                all[op].end = Some((kind, index));
                (op, kind)
            }
        };
        let mut value = all[op].value.clone();
        if all[op].f == hidden && kind != EventType::Ok {
            value.as_array_mut().expect("it has parts").pop();
        }
        events.push(Event {
            index,
            time: 0,
            process: Process::Number(*process),
            kind,
            f: all[op].f.into(),
            value: value.into(),
            error: None,
            node: None,
        });
        // What crashed goes on as another process.
        *process += if kind == EventType::Info { 3 } else { 0 };
    }
    (History { events }, all)
}

/// Holds verdicts against a definition; each of `valid` and `invalid` must occur in more than one history of fifty.
fn agree(
    model: &str,
    seed: u64,
    hidden: &str,
    draw: impl Fn(&mut Rng) -> (&'static str, Value),
    fits: impl Fn(&[RecordedOperation]) -> bool,
) {
    let (kind, mut rng): (ModelKind, Rng) = (model.parse().expect("it is a model"), Rng::with_seed(seed));
    let mut bad = 0;
    for _ in 0..histories() {
        let (history, all) = drawn(&mut rng, hidden, &draw);
        let results = told(&history, kind);
        let wanted = if fits(&all) { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(results.verdict, wanted, "{all:?} {results:?}");
        bad += usize::from(wanted == Verdict::Invalid);
    }
    let least = histories() / 50;
    assert!(bad > least && histories() - bad > least, "{bad}");
}

#[test]
fn rounds_of_a_barrier() {
    let draw = |rng: &mut Rng| (["enter", "leave"][rng.usize(0..2)], json!(rng.u8(0..8) / 7));
    for members in 1..3 {
        agree(&format!("barrier:{members}"), 70 + members, "", draw, |all| {
            (0..2).all(|round| {
                let round: Vec<&RecordedOperation> = all.iter().filter(|op| op.value == json!(round)).collect();
                fits(&round, members as usize)
            })
        });
    }
}

/// Whether enough enters were sent before each answer to one, and whether each answer to a leave has a moment at which
/// nobody certainly was inside. Moments are the events that they come after.
fn fits(round: &[&RecordedOperation], members: usize) -> bool {
    let sent = |end: usize| round.iter().filter(|op| op.f == "enter" && op.invoke < end).count();
    let stay = |leave: &RecordedOperation| {
        let before =
            |op: &&&RecordedOperation| op.process == leave.process && op.invoke < leave.invoke && op.f == "enter";
        let enter = round.iter().filter(before).rfind(|op| op.ok().is_some())?;
        // One that failed left it inside.
        let failed = |op: &RecordedOperation| op.ended(EventType::Fail).is_some();
        let between = |op: &&RecordedOperation| {
            op.f == "leave" && op.process == leave.process && op.invoke > enter.invoke && !failed(op)
        };
        let first = round.iter().find(|op| between(op))?.invoke == leave.invoke;
        Some(enter.ok()?..leave.invoke).filter(|_| first && leave.ok().is_some())
    };
    let leaves = round.iter().filter(|op| op.f == "leave");
    let stays: Vec<_> = leaves.filter_map(|leave| stay(leave)).collect();
    let empty = |at: usize| !stays.iter().any(|stay| stay.contains(&at));
    round.iter().all(|op| match (op.f, op.ok()) {
        (_, None) => true,
        ("enter", Some(end)) => sent(end) >= members,
        (_, Some(end)) => (op.invoke..end).any(empty),
    })
}

#[test]
fn transactions() {
    let draw = |rng: &mut Rng| {
        let (transaction, site) = (rng.u8(0..4) / 3, ["a", "b"][rng.usize(0..2)]);
        match rng.u8(0..8) {
            0 => ("begin", json!([transaction, ["a", "b"]])),
            1 => ("vote", json!([transaction, site, "no"])),
            2..5 => ("vote", json!([transaction, site, "yes"])),
            5 => ("decided", json!([transaction, site, "abort"])),
            _ => ("decided", json!([transaction, site, "commit"])),
        }
    };
    agree("atomic-commit", 73, "decided", draw, |all| {
        (0..2).all(|transaction| {
            let of: Vec<&RecordedOperation> = all.iter().filter(|op| op.value[0] == json!(transaction)).collect();
            decided(&of, false) || (0..24).any(|at| decided(&of, true) && may_commit(&of, at))
        })
    });
}

/// Whether all answers about a transaction name this decision.
fn decided(of: &[&RecordedOperation], commit: bool) -> bool {
    let word = if commit { "commit" } else { "abort" };
    let mut told = of.iter().filter(|op| op.f == "decided" && op.ok().is_some());
    told.all(|op| op.value[2] == word)
}

/// Whether commit may have been decided right after an event, before any site got the decision.
fn may_commit(of: &[&RecordedOperation], at: usize) -> bool {
    let votes = || of.iter().filter(|op| op.f == "vote");
    let yes = |site: &str| {
        let may_be = |op: &&RecordedOperation| op.invoke <= at && op.ended(EventType::Fail).is_none();
        votes().any(|op| may_be(op) && op.value[1] == site && op.value[2] == "yes")
    };
    let may_begin = |op: &&RecordedOperation| op.f == "begin" && op.ended(EventType::Fail).is_none();
    let begun = of.iter().any(may_begin);
    let takes_part = |site: &str| begun || votes().any(|op| op.value[1] == site);
    let told = of.iter().filter(|op| op.f == "decided").filter_map(|op| op.ok());
    ["a", "b"].iter().all(|site| yes(site) || !takes_part(site))
        && !votes().any(|op| op.value[2] == "no" && op.ok().is_some())
        && told.min().is_none_or(|first| at < first)
}
