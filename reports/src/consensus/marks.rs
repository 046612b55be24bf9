//! What nodes make public, and what their clients ask for, as marks.

use super::network_run::{NetworkRun, PublicStep};
use super::scope::DiagramScope;
use crate::messages::{LaneMark, MarkSign};
use crate::model::{DrawnWitness, RunModel, WitnessStep};
use crate::{lists, text};
use zooquake_checkers::Anomaly;
use zooquake_history::operation::consensus::{Announcement, f, nodes_of};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, EventType};

/// The most marks that are not steps of a proof.
const MARKS: usize = 60;
/// The most entries of a log that a mark names.
const LOG: usize = 6;

/// The marks of a part, by their times; lanes are numbers of nodes. Those of one node at one moment are one mark.
pub fn marks(
    model: &RunModel<'_>,
    run: &NetworkRun<'_>,
    scope: &DiagramScope,
    anomaly: Option<&Anomaly>,
) -> Vec<LaneMark> {
    let witness = anomaly.map(|anomaly| DrawnWitness::new(model, anomaly));
    let steps = witness.unwrap_or_default().steps;
    let mut marks = proof(run, &steps);
    let within = |event: &&Event| (scope.from..=scope.until).contains(&event.time);
    let is_step = |event: &&Event| steps.iter().any(|step| step.index == event.index);
    let others = run.events.iter().filter(within).filter(|event| !is_step(event));
    let others: Vec<LaneMark> = others.filter_map(|event| other(run, scope, event)).collect();
    // The last ones lead to the end.
    let skipped = others.len().saturating_sub(MARKS);
    marks.extend(others.into_iter().skip(skipped));
    marks.sort_by_key(|mark| (mark.time, mark.lane));
    merged(marks)
}

/// The steps of a proof.
fn proof(run: &NetworkRun<'_>, steps: &[WitnessStep]) -> Vec<LaneMark> {
    let mark = |step: &WitnessStep| {
        let event = run.events.get(step.index)?;
        let own = || (None, format!("{} {}", step.who, step.what), MarkSign::Change);
        let (lane, label, sign) = of_event(run, event).unwrap_or_else(own);
        Some(LaneMark {
            lane,
            time: step.time,
            label,
            sign,
            step: Some((step.number, step.last)),
        })
    };
    steps.iter().filter_map(mark).collect()
}

/// A mark that is no step of the proof, if it is to be seen.
fn other(run: &NetworkRun<'_>, scope: &DiagramScope, event: &Event) -> Option<LaneMark> {
    let (lane, label, sign) = of_event(run, event)?;
    let of_value = |value: i64| scope.value.is_none_or(|only| i64::from(only) == value);
    let shown = match run.step(event.index).map(|step| step.what) {
        Some(Announcement::Credentials { .. }) => scope.credentials,
        Some(Announcement::Stored { offset, value, .. }) => of_value(i64::from(value)) || scope.offset == Some(offset),
        // The register's messages show it.
        Some(Announcement::InSync { .. }) => false,
        Some(_) => true,
        None => event.content().is_some_and(of_value),
    };
    shown.then_some(LaneMark {
        lane,
        time: event.time,
        label,
        sign,
        step: None,
    })
}

/// The lane, the words and the sign of an event; `None` if it is no node's.
fn of_event(run: &NetworkRun<'_>, event: &Event) -> Option<(Option<usize>, String, MarkSign)> {
    if let Some(step) = run.step(event.index) {
        let (label, sign) = announcement(run, step);
        return Some((Some(step.node), label, sign));
    }
    let node = run.node(event.node.as_deref()?)?;
    let value = event.content()?;
    let appends = event.f == f::APPEND;
    let label = match (event.kind, appends) {
        (EventType::Invoke, true) => format!("append {value}"),
        (EventType::Invoke, false) => format!("propose {value}"),
        (EventType::Ok, true) => format!("{value} acknowledged"),
        (EventType::Ok, false) => format!("answered: {value}"),
        _ => format!("{value} not answered"),
    };
    Some((Some(node), label, MarkSign::Operation))
}

fn announcement(run: &NetworkRun<'_>, step: &PublicStep) -> (String, MarkSign) {
    let change = |label: String| (label, MarkSign::Change);
    match step.what {
        Announcement::Answered { value } => (format!("answered: {value}"), MarkSign::Operation),
        Announcement::Learned { value, .. } => (format!("learns {value}"), MarkSign::Decision),
        Announcement::Credentials { epoch, zxid } => change(format!("epoch {epoch}, zxid {zxid}")),
        Announcement::Looking { .. } => change("looks".to_owned()),
        Announcement::Elected { .. } => ("elected".to_owned(), MarkSign::Decision),
        Announcement::Leading { round } => {
            let leads = format!("leads {} {round}", run.round_word());
            let log = match run.goal {
                ConsensusGoal::Log => format!(", {}", log(&run.log(step.node, step.index))),
                _ => String::new(),
            };
            (leads + &log, MarkSign::Decision)
        }
        Announcement::Following { leader, .. } => {
            change(format!("follows {}", text::clip(run.name(usize::from(leader)), 16)))
        }
        Announcement::Resigned { .. } => change("resigned".to_owned()),
        Announcement::Stored { offset, value, .. } => change(format!("stores {value} at {offset}")),
        Announcement::Truncated { .. } => {
            let log = log(&run.log(step.node, step.index));
            change(match run.is_restart(step) {
                true => format!("starts again, {log}"),
                false => format!("cuts its log off, {log}"),
            })
        }
        Announcement::InSync { replicas } => {
            let nodes: Vec<usize> = nodes_of(replicas).collect();
            change(format!("in sync: {}", run.listed(&nodes)))
        }
    }
}

/// `log 5 6`: the values of a log by their offsets, the last ones of many.
fn log(values: &[u32]) -> String {
    let skipped = values.len().saturating_sub(LOG);
    let shown = lists::joined(&values[skipped..], " ");
    match (values.is_empty(), skipped) {
        (true, _) => "log empty".to_owned(),
        (false, 0) => format!("log {shown}"),
        (false, _) => format!("log … {shown}"),
    }
}

/// The marks of one lane at one moment as one.
fn merged(marks: Vec<LaneMark>) -> Vec<LaneMark> {
    let mut merged: Vec<LaneMark> = Vec::new();
    for mark in marks {
        let same = |last: &&mut LaneMark| last.time == mark.time && last.lane == mark.lane && mark.lane.is_some();
        match merged.last_mut().filter(same) {
            Some(last) => {
                last.label = format!("{}, {}", last.label, mark.label);
                last.step = mark.step.max(last.step);
                if mark.sign == MarkSign::Decision {
                    last.sign = mark.sign;
                }
            }
            None => merged.push(mark),
        }
    }
    merged
}
