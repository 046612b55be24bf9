//! Answers about a grant that do not fit together: a client acts as the holder under a grant that nobody asked for, or
//! whose acquire certainly failed; it reports that it holds after it had reported that it no longer holds, or by a
//! grant of another client, or by none; it reports one request both as accepted and as not accepted; or a request asks
//! for no known mode. No anomaly is made of them, as either of the two may be true; each is a reason against `valid`.

use crate::analysis::{self, Analysis, Denial, ops};
use crate::findings::Findings;
use std::collections::HashMap;
use zooquake_history::operation::{
    control,
    grant::{self, ACCEPTED},
};
use zooquake_history::{Event, EventType, Process, Value};

/// What is known of a grant until an event.
#[derive(Debug, Clone, Copy, Default)]
struct GrantState {
    /// It was asked for, or read.
    known: bool,
    /// Where its acquire failed.
    failed: Option<usize>,
    /// Whether a reason names it already.
    named: bool,
}

pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut grants: HashMap<&str, GrantState> = HashMap::new();
    let mut found = Vec::new();
    for (at, event) in run.events.iter().enumerate() {
        let Some(name) = name(run, at) else { continue };
        let state = grants.entry(name).or_default();
        if event.f == run.names.ops.takes {
            match event.kind {
                EventType::Invoke => {
                    if analysis::mode(event).is_none() {
                        found.push((
                            at,
                            format!("an `{}` of grant {name} whose mode cannot be read", event.f),
                        ));
                    }
                    *state = GrantState {
                        known: true,
                        ..GrantState::default()
                    }
                }
                EventType::Ok => state.known = true,
                EventType::Fail => state.failed = failed(run, at),
                EventType::Info => {}
            }
            continue;
        }
        let mut odd = |what: String| found.push((at, what));
        if !state.known && !state.named && acts(event) {
            state.named = true;
            odd(format!(
                "a `{}` under grant {name}, which no client had requested",
                event.f
            ));
        }
        if let Some(failed) = state.failed.filter(|_| acts(event)) {
            odd(format!(
                "a `{}` under grant {name}, whose `{}` had failed at event {failed}",
                event.f, run.names.ops.takes
            ));
        }
        if let Some(what) = both(run, event) {
            odd(format!("a `{}` under grant {name} {what}", event.f));
        }
    }
    found.extend(contradictions(run));
    found.extend(misnamed(run));
    found.sort();
    out.doubt("answers about grants do not fit together", &found);
}

/// The answers of clients that report a hold after they had denied it.
fn contradictions(run: &Analysis<'_>) -> impl Iterator<Item = (usize, String)> {
    run.grants.contradictions.iter().map(|contradiction| {
        let why = match contradiction.denial {
            Denial::Words(at) => format!("its client had reported at event {at} that it no longer holds"),
            Denial::Exit(at) => format!("the process that was given it had ended at event {at}"),
            Denial::Perhaps(at) => format!("its client may have reported at event {at} that it no longer holds"),
        };
        let name = run.grants.all[contradiction.grant].name;
        let what = format!("a `confirm` that reports grant {name} as held, though {why}");
        (contradiction.confirm, what)
    })
}

/// The answers of clients that report a hold and name no grant of their own.
fn misnamed(run: &Analysis<'_>) -> impl Iterator<Item = (usize, String)> {
    let owners: HashMap<&str, &str> = run.grants.all.iter().map(|grant| (grant.name, grant.node)).collect();
    let answers = run.events.iter().enumerate();
    let holds =
        |event: &Event| event.f == control::f::CONFIRM && event.kind == EventType::Ok && event.holds() == Some(true);
    let answers = answers.filter(move |(_, event)| ops::named_client(event).is_some() && holds(event));
    answers.filter_map(move |(at, event)| {
        let what = match event.grant() {
            None => format!(
                "a `confirm` of {} that reports a hold, and names no grant",
                ops::node(event)
            ),
            Some(name) => {
                let owner = owners.get(name).filter(|owner| **owner != ops::node(event))?;
                format!(
                    "a `confirm` of {} that reports a hold by grant {name}, which is one of {owner}",
                    ops::node(event)
                )
            }
        };
        Some((at, what))
    })
}

/// The grant that an event is about: of an operation under a grant, or of a `confirm` with `holds: true`.
fn name<'a>(run: &Analysis<'a>, at: usize) -> Option<&'a str> {
    let event = &run.events[at];
    let own = event.grant();
    match &event.process {
        Process::Number(_)
            if [
                run.names.ops.takes,
                run.names.ops.gives,
                grant::f::READ,
                grant::f::WRITE,
                grant::f::WORK,
            ]
            .contains(&event.f.as_str()) =>
        {
            let asked = || run.ops.work[run.ops.completes[at]?].invoke;
            own.or_else(|| run.events[asked()?].grant())
        }
        Process::Name(_) if event.f == control::f::CONFIRM && event.kind == EventType::Ok => {
            own.filter(|_| event.holds() == Some(true))
        }
        _ => None,
    }
}

/// The event, if the operation that it ends certainly failed.
fn failed(run: &Analysis<'_>, at: usize) -> Option<usize> {
    run.ops.work[run.ops.completes[at]?].failed(run.events)
}

/// Whether a client acts as the holder.
fn acts(event: &Event) -> bool {
    event.kind == EventType::Ok
        && matches!(
            event.f.as_str(),
            grant::f::READ | grant::f::WRITE | grant::f::WORK | control::f::CONFIRM
        )
}

/// Two fields of an answer that contradict each other, in words.
fn both(run: &Analysis<'_>, event: &Event) -> Option<&'static str> {
    if event.f == grant::f::WRITE {
        return match (event.kind, event.get(ACCEPTED.any())?) {
            (EventType::Ok, Value::Bool(false)) => Some("is answered `ok` and was not accepted"),
            (EventType::Fail, Value::Bool(true)) => Some("is answered `fail` and was accepted"),
            (EventType::Ok, Value::Bool(true) | Value::Null) => None,
            (EventType::Ok, _) => Some("does not state whether it was accepted"),
            _ => None,
        };
    }
    let removed = event.removed().is_some();
    let failed = event.f == run.names.ops.gives && event.kind == EventType::Fail;
    (failed && removed).then_some("is answered `fail` and removed a znode")
}
