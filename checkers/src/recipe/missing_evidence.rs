//! Fields that answers of clients lack, and checks rest on.
//!
//! A client declares in its `hello` which fields it cannot give. Where the transaction logs have them nothing is
//! lacking; else the check that rests on it is named as not judged. What a client leaves out without having declared it
//! is a reason against `valid`. The main safety property of each family is judged without any of this, only of less:
//! grants by what clients confirm and by interleaved writes, barriers by who was asked to enter, queues by what was
//! certainly given.

use crate::analysis::{Analysis, Op, ops};
use crate::findings::Findings;
use crate::text::{count, few};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use zooquake_history::operation::queue::f;
use zooquake_history::{Event, EventType, protocol::ClientLimit};

/// What the answers of a family are to have.
#[derive(Debug, Clone, Copy)]
pub enum RequiredEvidence<'a> {
    /// These fields, which may be none.
    Fields(&'a [RequiredField]),
    /// An item that a `taking` notice named before.
    Taking,
}

/// A field that the answers to some operations are to have.
#[derive(Debug, Clone, Copy)]
pub struct RequiredField {
    /// The operations.
    pub ops: &'static [&'static str],
    /// The field's name.
    pub field: &'static str,
    /// How a client declares that it cannot give it.
    pub cannot: ClientLimit,
    /// Whether the transaction logs may show it instead.
    pub logged: bool,
    /// Whether an answer has it.
    pub is_given: fn(&Event) -> bool,
    /// The check that rests on it.
    pub check: &'static str,
    /// What that still judges without it, or does not.
    pub still: &'static str,
}

/// Reports what answers lack.
pub fn check(run: &Analysis<'_>, evidence: RequiredEvidence<'_>, out: &mut Findings) {
    match evidence {
        RequiredEvidence::Fields(fields) => fields.iter().for_each(|field| answers(run, field, out)),
        RequiredEvidence::Taking => taking(run, out),
    }
}

/// The operations of these names that were answered with `ok`, each with its answer.
fn answered<'r, 'a>(run: &'r Analysis<'a>, of: &[&str]) -> impl Iterator<Item = (&'r Op<'a>, usize)> {
    let ops = run.ops.work.iter().filter(move |op| of.contains(&op.f));
    ops.filter_map(|op| Some((op, op.end?)))
        .filter(|&(_, end)| run.events[end].kind == EventType::Ok && !run.ops.disputed.contains(&end))
}

fn answers(run: &Analysis<'_>, evidence: &RequiredField, out: &mut Findings) {
    let logged = logged(run, evidence);
    let told = |end: usize| (evidence.is_given)(&run.events[end]);
    let mut lacking = MissingAnswers::default();
    let mut able: BTreeSet<&str> = BTreeSet::new();
    if evidence.cannot == ClientLimit::Removed {
        // A client that gives it may lack that of a delete whose outcome was unknown.
        let telling = answered(run, evidence.ops).filter(|&(_, end)| told(end));
        able.extend(telling.map(|(op, _)| op.node));
    }
    for (op, end) in answered(run, evidence.ops) {
        lacking.all += 1;
        if told(end) {
            continue;
        }
        if !run.declared.cannot(op.node, evidence.cannot) && !able.contains(op.node) {
            lacking.silent.entry(op.node).or_default().push(end);
        } else if !logged.contains(&end) {
            lacking.declared.entry(op.node).or_default().push(end);
        }
    }
    let what = format!("`{}` with", evidence.field);
    lacking.tell(run, (&what, &evidence.ops.join("` or `"), evidence.cannot), out);
    if let Some((whose, some)) = summed(&lacking.declared, lacking.all) {
        let instead = ["", "; nor do the transaction logs contain it"][usize::from(evidence.logged)];
        let RequiredField {
            check, field, still, ..
        } = evidence;
        out.leave(
            check,
            format!("{whose} cannot give the `{field}` of {some}{instead}: {still}"),
        );
    }
}

/// The answers whose missing field the transaction logs have, or what rests on which they decide.
fn logged(run: &Analysis<'_>, evidence: &RequiredField) -> HashSet<usize> {
    let known = run.grants.all.iter().filter(|grant| grant.czxid.is_some());
    match evidence.field {
        "czxid" => known.filter_map(|grant| grant.read).collect(),
        // Deletes at the path of a grant by a session of its client are judged by the logs alone.
        "removed" if run.log.whole() => known
            .filter(|grant| grant.path.is_some() && grant.session.is_some())
            .filter_map(|grant| grant.released)
            .collect(),
        _ => HashSet::new(),
    }
}

/// A dequeue that was answered with an item that no `taking` had named before: of one that is not answered nobody will
/// know what it took. What clients that declare it may have taken is excused where it is judged.
fn taking(run: &Analysis<'_>, out: &mut Findings) {
    let mut named: HashMap<(&str, i64), BTreeSet<usize>> = HashMap::new();
    for (at, event) in run.events.iter().enumerate().filter(|(_, event)| event.f == "taking") {
        if let (Some(client), Some(item)) = (ops::named_client(event), event.item()) {
            named.entry((client, item)).or_default().insert(at);
        }
    }
    let mut lacking = MissingAnswers::default();
    for (op, end) in answered(run, &[f::DEQUEUE]) {
        let (Some(item), Some(sent)) = (run.events[end].item(), op.invoke) else {
            continue;
        };
        lacking.all += 1;
        let before = |notices: &BTreeSet<usize>| notices.range(sent..end).next().is_some();
        let told = named.get(&(op.node, item)).is_some_and(before);
        if !told && !run.declared.cannot(op.node, ClientLimit::Taking) {
            lacking.silent.entry(op.node).or_default().push(end);
        }
    }
    lacking.tell(run, ("`taking` notice before", f::DEQUEUE, ClientLimit::Taking), out);
}

/// Answers that lack a field, by client.
#[derive(Default)]
struct MissingAnswers<'a> {
    /// Of how many.
    all: usize,
    /// Of clients that did not say that they cannot.
    silent: BTreeMap<&'a str, Vec<usize>>,
    /// Of those that did.
    declared: BTreeMap<&'a str, Vec<usize>>,
}

/// The clients, and how many of the answers.
fn summed(of: &BTreeMap<&str, Vec<usize>>, all: usize) -> Option<(String, String)> {
    let names: Vec<&str> = of.keys().copied().collect();
    let number: usize = of.values().map(Vec::len).sum();
    (number > 0).then(|| (few(&names), format!("{number} of {}", count(all, "answer"))))
}

impl MissingAnswers<'_> {
    /// A reason for what was left out by clients that did not declare it.
    fn tell(&self, run: &Analysis<'_>, (what, of, cannot): (&str, &str, ClientLimit), out: &mut Findings) {
        let first = self.silent.values().flatten().min();
        if let (Some((whose, some)), Some(&first)) = (summed(&self.silent, self.all), first) {
            out.reasons.push(format!(
                "{whose} gave no {what} {some} to `{of}`, the first at {} (event {first}), and did not declare in \
                 hello that this cannot be given (\"cannot\":[\"{}\"])",
                run.at(first),
                cannot.name(),
            ));
        }
    }
}
