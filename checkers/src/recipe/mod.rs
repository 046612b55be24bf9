//! Checkers of a user's own recipe, beside those of its family: `client_crash`, and the fields that answers and notices
//! of clients lack, and checks rest on: those of the family's table
//! ([`Family::fields`](zooquake_history::operation::Family)).
//!
//! A client declares in its `hello` which fields it cannot give. Where the transaction logs have them nothing is
//! lacking; else the check that rests on it is named as not judged. What a client leaves out without having declared it
//! is a reason against `valid`. The main safety property of each family is judged without any of this, only of less:
//! grants by what clients confirm and by interleaved writes, barriers by who was asked to enter, queues by what was
//! certainly given.

mod client_crash;

use crate::analysis::clients::announced_answers;
use crate::analysis::{Analysis, ops};
use crate::findings::Findings;
use crate::text::{count, few};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use zooquake_history::operation::{FieldSource, RequiredField};
use zooquake_history::{EventType, operation};

pub use client_crash::CHECKERS;

/// Judges what only clients of a user's own recipe can lack.
pub(crate) fn check(run: &Analysis<'_>, out: &mut Findings) {
    client_crash::check(run, out);
    missing_evidence(run, out);
}

/// Reports what answers and notices lack.
fn missing_evidence(run: &Analysis<'_>, out: &mut Findings) {
    let workload = &run.record.plan.workload;
    let Some(family) = operation::family(&workload.family) else {
        return;
    };
    for field in family.required(workload).filter(|field| !field.doubted) {
        let given = given(run, field);
        MissingField::new(run, field, &given).report(run, field, out);
    }
}

/// The events that are to have a field, each with its client and whether it has it.
fn given<'a>(run: &Analysis<'a>, field: &RequiredField) -> Vec<(&'a str, usize, bool)> {
    let told = |node, at: usize| (node, at, field.is_given(&run.events[at].value));
    match field.of {
        FieldSource::Answer(of) => {
            let ops = run.ops.work.iter().chain(&run.ops.control);
            let answered = ops.filter_map(|op| Some((op.node, op.end.filter(|_| of.contains(&op.f))?)));
            answered
                .filter(|&(_, end)| run.events[end].kind == EventType::Ok && !run.ops.disputed.contains(&end))
                .map(|(node, end)| told(node, end))
                .collect()
        }
        FieldSource::Notice(name) => {
            let events = run.events.iter().enumerate();
            let notices = events.filter_map(|(at, event)| Some((at, event, ops::named_client(event)?)));
            notices
                .filter(|(_, event, _)| event.f == name && event.kind == EventType::Info)
                .map(|(at, _, node)| told(node, at))
                .collect()
        }
        FieldSource::Announced { .. } => announced_answers(run.events, &run.ops, field),
    }
}

/// The answers whose missing field the transaction logs have, or what rests on which they decide.
fn logged(run: &Analysis<'_>, field: &RequiredField) -> HashSet<usize> {
    let known = run.grants.all.iter().filter(|grant| grant.czxid.is_some());
    match field.path {
        _ if !field.logged => HashSet::new(),
        ["czxid"] => known.filter_map(|grant| grant.read).collect(),
        // Deletes at the path of a grant by a session of its client are judged by the logs alone.
        _ if run.log.whole() => known
            .filter(|grant| grant.path.is_some() && grant.session.is_some())
            .filter_map(|grant| grant.released)
            .collect(),
        _ => HashSet::new(),
    }
}

/// What lacks a field, by client.
#[derive(Default)]
struct MissingField<'a> {
    /// Of how many.
    all: usize,
    /// Of clients that did not declare that they cannot give it.
    undeclared: BTreeMap<&'a str, Vec<usize>>,
    /// Of clients that declared that, where the logs do not show the field.
    declared: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> MissingField<'a> {
    fn new(run: &Analysis<'a>, field: &RequiredField, given: &[(&'a str, usize, bool)]) -> Self {
        let logged = logged(run, field);
        let giving = given.iter().filter(|&&(.., is_given)| is_given && field.once);
        let able: BTreeSet<&str> = giving.map(|&(node, ..)| node).collect();
        let mut missing = Self {
            all: given.len(),
            ..Self::default()
        };
        for &(node, at, _) in given.iter().filter(|(.., is_given)| !is_given) {
            let declared = field.cannot.is_some_and(|cannot| run.declared.cannot(node, cannot));
            if !declared && !able.contains(node) {
                missing.undeclared.entry(node).or_default().push(at);
            } else if field.cannot.is_some() && !logged.contains(&at) {
                missing.declared.entry(node).or_default().push(at);
            }
        }
        missing
    }

    /// A reason for what was left out by clients that did not declare it, and what is not judged of the others.
    fn report(&self, run: &Analysis<'_>, field: &RequiredField, out: &mut Findings) {
        let (what, of) = words(field);
        let first = self.undeclared.values().flatten().min();
        if let (Some((whose, some)), Some(&first)) = (self.summed(&self.undeclared, field), first) {
            let rests = match field.cannot {
                Some(cannot) => format!(
                    "and did not declare in hello that this cannot be given (\"cannot\":[\"{}\"])",
                    cannot.name()
                ),
                None => format!("on which `{}` rests", field.check),
            };
            out.reasons.push(format!(
                "{whose} gave no {what} {some} {of}, the first at {} (event {first}), {rests}",
                run.at(first)
            ));
        }
        if let Some((whose, some)) = self.summed(&self.declared, field).filter(|_| !field.still.is_empty()) {
            let instead = ["", "; nor do the transaction logs contain it"][usize::from(field.logged)];
            let (name, still) = (field.name(), field.still);
            out.leave(
                field.check,
                format!("{whose} cannot give the `{name}` of {some}{instead}: {still}"),
            );
        }
    }

    /// The clients, and how many of the answers or notices.
    fn summed(&self, of: &BTreeMap<&str, Vec<usize>>, field: &RequiredField) -> Option<(String, String)> {
        let names: Vec<&str> = of.keys().copied().collect();
        let number: usize = of.values().map(Vec::len).sum();
        let noun = match field.of {
            FieldSource::Notice(_) => "notice",
            FieldSource::Answer(_) | FieldSource::Announced { .. } => "answer",
        };
        (number > 0).then(|| (few(&names), format!("{number} of {}", count(self.all, noun))))
    }
}

/// What is missing, and of what, in words.
fn words(field: &RequiredField) -> (String, String) {
    match field.of {
        FieldSource::Answer(of) => (
            format!("`{}` with", field.name()),
            format!("to `{}`", of.join("` or `")),
        ),
        FieldSource::Notice(name) => (format!("`{}` with", field.name()), format!("`{name}`")),
        FieldSource::Announced { f, notice, .. } => (format!("`{notice}` notice before"), format!("to `{f}`")),
    }
}
