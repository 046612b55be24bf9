//! Fields that answers of clients lack, and checks rest on.
//!
//! A client declares in its `hello` which fields it cannot give. Where the transaction logs have them nothing is
//! lacking; else the check that rests on it is named as not judged. What a client leaves out without having declared it
//! is a reason against `valid`. The main safety property of each family is judged without any of this, only of less:
//! grants by what clients confirm and by interleaved writes, barriers by who was asked to enter, queues by what was
//! certainly given.

use crate::analysis::Analysis;
use crate::analysis::ops::{self, Op};
use crate::findings::Findings;
use crate::history::{Event, EventType};
use crate::text::{count, few};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use zooquake_history::protocol::Cannot;

/// A field that an answer is to have.
struct RequiredField {
    families: &'static [&'static str],
    /// The operations whose answers have it.
    of: &'static [&'static str],
    /// Its field.
    field: &'static str,
    /// How a client declares that it cannot give it.
    cannot: Cannot,
    told: fn(&Event) -> bool,
    /// The check that rests on it.
    check: &'static str,
    /// What that still judges.
    still: &'static str,
}

const GRANTS: &[&str] = &["lock", "rwlock", "election", "semaphore"];

/// The age of the znode that a grant rests on.
const CZXID: RequiredField = RequiredField {
    families: GRANTS,
    of: &["acquire", "elect"],
    field: "czxid",
    cannot: Cannot::Czxid,
    told: |answer| answer.czxid().is_some(),
    check: "unowned-release",
    still: "what the releases of these grants removed is compared with nothing",
};

/// The session in which a grant is held.
const SESSION: RequiredField = RequiredField {
    field: "session",
    cannot: Cannot::Session,
    told: |answer| answer.session().is_some(),
    check: "foreign-znode",
    still: "the owners of these grants' znodes are compared with nothing",
    ..CZXID
};

/// The znode that a release removed.
const REMOVED: RequiredField = RequiredField {
    of: &["release", "resign"],
    field: "removed",
    cannot: Cannot::Removed,
    told: |answer| matches!(answer.removed(), Some((_, Some(_)))),
    still: "only what the transaction logs show convicts these releases",
    ..CZXID
};

/// All fields that answers are to have and may lack. Of the item of a dequeue see [`taking`].
const ALL: &[RequiredField] = &[
    RequiredField {
        families: &["lock", "rwlock", "election"],
        check: "stale-write",
        still: "writes under these grants convict only where they are interleaved with others",
        ..CZXID
    },
    CZXID,
    RequiredField {
        field: "path",
        told: |answer| answer.path().is_some(),
        still: "deletes in the transaction logs convict none of these grants",
        ..CZXID
    },
    SESSION,
    REMOVED,
    RequiredField {
        families: &["barrier"],
        of: &["enter"],
        check: "early-release",
        still: "whoever entered so is not known to have been inside when others left; who entered too early is judged",
        ..CZXID
    },
    RequiredField {
        families: &["barrier"],
        of: &["leave"],
        check: "early-release",
        still: "whoever left so is not known to have been inside when others left; who entered too early is judged",
        ..REMOVED
    },
    RequiredField {
        families: &["barrier"],
        of: &["enter"],
        check: "stuck-barrier",
        still: "such a member counts as gone when any session of its client ends",
        ..SESSION
    },
    RequiredField {
        families: &["register"],
        of: &["read", "write", "cas"],
        check: "session-order",
        still: "these answers are of no known session",
        ..SESSION
    },
];

/// Reports the fields that answers lack.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let workload = &run.record.plan.workload;
    let family = workload.family.as_str();
    // Answers of a barrier's members that others wait for have no such fields.
    let members = workload.capabilities().members;
    for evidence in ALL.iter().filter(|one| one.families.contains(&family) && !members) {
        answers(run, evidence, out);
    }
    if family == "queue" {
        taking(run, out);
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
    let told = |end: usize| (evidence.told)(&run.events[end]);
    let mut lacking = MissingAnswers::default();
    let mut able: BTreeSet<&str> = BTreeSet::new();
    if evidence.cannot == Cannot::Removed {
        // A client that gives it may lack that of a delete whose outcome was unknown.
        let telling = answered(run, evidence.of).filter(|&(_, end)| told(end));
        able.extend(telling.map(|(op, _)| op.node));
    }
    for (op, end) in answered(run, evidence.of) {
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
    lacking.tell(run, (&what, &evidence.of.join("` or `"), evidence.cannot), out);
    if let Some((whose, some)) = lacking.declared() {
        let instead = match evidence.field {
            "czxid" | "removed" if evidence.families == GRANTS || evidence.check == "stale-write" => {
                "; nor do the transaction logs tell it"
            }
            _ => "",
        };
        let RequiredField {
            check, field, still, ..
        } = evidence;
        out.leave(
            check,
            format!("{whose} could not tell the `{field}` of {some}{instead}: {still}"),
        );
    }
}

/// The answers whose missing field the transaction logs have, or what rests on which they decide.
fn logged(run: &Analysis<'_>, evidence: &RequiredField) -> HashSet<usize> {
    let grants = run.grants.all.iter();
    let known = grants.filter(|grant| grant.czxid.is_some());
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
    for (op, end) in answered(run, &["dequeue"]) {
        let (Some(item), Some(sent)) = (run.events[end].item(), op.invoke) else {
            continue;
        };
        lacking.all += 1;
        let before = |notices: &BTreeSet<usize>| notices.range(sent..end).next().is_some();
        let told = named.get(&(op.node, item)).is_some_and(before);
        if !told && !run.declared.cannot(op.node, Cannot::Taking) {
            lacking.silent.entry(op.node).or_default().push(end);
        }
    }
    let what = "`taking` notice before";
    lacking.tell(run, (what, "dequeue", Cannot::Taking), out);
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
    fn tell(&self, run: &Analysis<'_>, (what, of, cannot): (&str, &str, Cannot), out: &mut Findings) {
        let first = self.silent.values().flatten().min();
        if let (Some((whose, some)), Some(&first)) = (summed(&self.silent, self.all), first) {
            out.reasons.push(format!(
                "{whose} told no {what} {some} to `{of}`, the first at {} (event {first}), and did not say in hello that this \
                 cannot be told (\"cannot\":[\"{}\"])",
                run.at(first),
                cannot.name(),
            ));
        }
    }

    fn declared(&self) -> Option<(String, String)> {
        summed(&self.declared, self.all)
    }
}
