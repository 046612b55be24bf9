//! A diagram from what was chosen: messages as arrows with the rounds and faults behind them, and what nodes make
//! public and their clients ask for as marks.

use super::network_run::{NetworkRun, PublicStep};
use super::scope::DiagramScope;
use crate::messages::{
    ArrowEnd, DiagramArrow, DiagramLane, DiagramTone, FaultBracket, FaultSpan, LaneMark, MarkSign, MessageDiagram,
    MessageOmission, RoundBand,
};
use crate::model::{Band, DrawnWitness, RunModel, WitnessStep};
use crate::{lists, text};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::Anomaly;
use zooquake_history::operation::consensus::{Announcement, f, nodes_of};
use zooquake_history::plan::ConsensusGoal;
use zooquake_history::{Event, EventType, FaultKind, MessageRecord};

/// The most rounds that have a band, and faults that are drawn.
const BANDS: usize = 8;
/// The most nodes at which a fault is drawn on lanes; one of more nodes is a bracket.
const SPANS: usize = 2;
/// The fewest messages that a line between two rows stands for; fewer are added to the next one's.
const OMITTED: usize = 6;
/// The most such lines.
const OMISSIONS: usize = 8;
/// The most marks that are not steps of a proof.
const MARKS: usize = 60;
/// The most entries of a log that a mark names.
const LOG: usize = 6;

/// The diagram of chosen messages.
pub fn assemble(
    model: &RunModel<'_>,
    run: &NetworkRun<'_>,
    (scope, chosen): (&DiagramScope, &[usize]),
    anomaly: Option<&Anomaly>,
) -> MessageDiagram {
    let mut marks = marks(model, run, scope, anomaly);
    let of_arrows = chosen.iter().flat_map(|&place| {
        let message = run.messages[place];
        [run.node(&message.from), run.node(&message.to)]
    });
    let nodes: BTreeSet<usize> = of_arrows.chain(marks.iter().map(|mark| mark.lane)).flatten().collect();
    let mut nodes: Vec<usize> = nodes.into_iter().collect();
    nodes.sort_by_key(|node| way(run.name(*node)));
    let lane = |node: usize| nodes.iter().position(|other| *other == node);
    marks.iter_mut().for_each(|mark| mark.lane = mark.lane.and_then(lane));
    let arrow = |place: &usize| {
        let message = run.messages[*place];
        let ends = (
            run.node(&message.from).and_then(lane)?,
            run.node(&message.to).and_then(lane)?,
        );
        let tone = scope.key.get(place).copied().unwrap_or_default();
        Some(arrow(message, ends, (scope.until, tone)))
    };
    let arrows: Vec<DiagramArrow> = chosen.iter().filter_map(arrow).collect();
    let mut moments: BTreeSet<u64> = marks.iter().map(|mark| mark.time).collect();
    moments.extend(arrows.iter().flat_map(|arrow| [arrow.sent, arrow.until()]));
    let shown = (
        moments.first().copied().unwrap_or(0),
        moments.last().copied().unwrap_or(0),
    );
    let lane_of = |node: &usize| DiagramLane {
        name: run.name(*node).to_owned(),
        tones: [DiagramTone::First, DiagramTone::Second]
            .into_iter()
            .filter(|tone| scope.nodes.contains(&(*node, *tone)))
            .collect(),
    };
    let (spans, brackets) = faults(model, run, &lane, shown);
    moments.extend(spans.iter().flat_map(|span| [span.from, span.until]).flatten());
    MessageDiagram {
        lanes: nodes.iter().map(lane_of).collect(),
        bands: bands(run, chosen, scope.until),
        omissions: omissions(run, (scope, chosen), &moments),
        arrows,
        marks,
        spans,
        brackets,
    }
}

/// The place of a node's role on the way of what is asked for: from who asks to who learns what was decided. Roles that
/// have none stay where they are.
fn way(name: &str) -> usize {
    const ROLES: [&[&str]; 4] = [
        &["proposer", "producer"],
        &["leader", "coordinator"],
        &["acceptor", "replica"],
        &["learner", "register"],
    ];
    let of = |roles: &&[&str]| roles.iter().any(|role| name.starts_with(role));
    ROLES.iter().position(of).unwrap_or(ROLES.len())
}

fn arrow(message: &MessageRecord, (from, to): (usize, usize), (until, tone): (u64, DiagramTone)) -> DiagramArrow {
    let label = format!("{} {}", message.kind, message.detail);
    let end = match (message.received, message.lost) {
        (Some(at), _) if at <= until => ArrowEnd::Received(at.max(message.sent)),
        (None, Some(at)) if at <= until => ArrowEnd::Lost(at.max(message.sent)),
        _ => ArrowEnd::OnItsWay,
    };
    DiagramArrow {
        from,
        to,
        sent: message.sent,
        end,
        label: label.trim_end().to_owned(),
        copy: message.copy_of.is_some(),
        tone,
    }
}

/// The rounds of the messages, by their first moments; of many those with most messages.
fn bands(run: &NetworkRun<'_>, chosen: &[usize], until: u64) -> Vec<RoundBand> {
    let mut rounds: BTreeMap<String, (RoundBand, usize)> = BTreeMap::new();
    for &place in chosen {
        let message = run.messages[place];
        let Some(label) = run.round_of(message) else { continue };
        let last = message
            .received
            .or(message.lost)
            .unwrap_or(message.sent)
            .clamp(message.sent, until.max(message.sent));
        let band = RoundBand {
            label: label.clone(),
            from: message.sent,
            until: last,
        };
        let (band, count) = rounds.entry(label).or_insert((band, 0));
        band.until = band.until.max(last);
        *count += 1;
    }
    let mut bands: Vec<(RoundBand, usize)> = rounds.into_values().collect();
    bands.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    bands.truncate(BANDS);
    bands.sort_by_key(|(band, _)| band.from);
    bands.into_iter().map(|(band, _)| band).collect()
}

/// The faults that were on in a span: on lanes where they hit few nodes, else as brackets.
fn faults(
    model: &RunModel<'_>,
    run: &NetworkRun<'_>,
    lane: &impl Fn(usize) -> Option<usize>,
    (first, last): (u64, u64),
) -> (Vec<FaultSpan>, Vec<FaultBracket>) {
    let (mut spans, mut brackets) = (Vec::new(), Vec::new());
    let near = |band: &&Band| band.from <= last && band.until.is_none_or(|until| until >= first);
    for band in model.bands.iter().filter(near).take(4 * BANDS) {
        let fault = FaultKind::by_name(&band.fault);
        let until = band.until.filter(|until| *until <= last);
        if band.targets.len() > SPANS {
            brackets.push(FaultBracket {
                label: band.fault.clone(),
                fault,
                from: band.from.max(first),
                until: until.unwrap_or(last),
            });
            continue;
        }
        let lanes = band.targets.iter().filter_map(|target| lane(run.node(target)?));
        spans.extend(lanes.map(|lane| FaultSpan {
            lane,
            fault,
            from: Some(band.from).filter(|from| *from >= first),
            until,
        }));
    }
    (spans, brackets)
}

/// Where messages of the part are left out, and which.
fn omissions(
    run: &NetworkRun<'_>,
    (scope, chosen): (&DiagramScope, &[usize]),
    moments: &BTreeSet<u64>,
) -> Vec<MessageOmission> {
    let mut left_out = scope.messages(run);
    left_out.retain(|(place, _)| chosen.binary_search(place).is_err());
    let fewest = OMITTED.max(left_out.len() / OMISSIONS);
    let mut omissions = Vec::new();
    let mut group: Vec<&MessageRecord> = Vec::new();
    for (at, (_, message)) in left_out.iter().enumerate() {
        group.push(message);
        // The row before which the group ends: where the next one that is left out lies beyond a row.
        let row = moments.range(message.sent.saturating_add(1)..).next().copied();
        let next = left_out.get(at + 1).map(|(_, next)| next.sent);
        let ends = match (row, next) {
            (Some(row), Some(next)) => next >= row && group.len() >= fewest,
            (_, None) => true,
            (None, _) => false,
        };
        if ends {
            let before = row.unwrap_or(u64::MAX);
            omissions.push(MessageOmission {
                before,
                words: words(&group, row.unwrap_or(scope.until)),
            });
            group.clear();
        }
    }
    omissions
}

/// `… 23 more messages until 0.412 s: ping 12, vote 11 …`.
fn words(group: &[&MessageRecord], until: u64) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    group
        .iter()
        .for_each(|message| *kinds.entry(&message.kind).or_default() += 1);
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let more = if kinds.len() > 4 { " and others" } else { "" };
    let named = kinds.iter().take(4);
    let named = named.map(|(kind, n)| format!("{} {n}", text::clip(kind, 16)));
    let count = text::count(group.len(), "more message");
    format!(
        "… {count} until {}: {}{more}",
        text::moment(until),
        lists::joined(named, ", ")
    )
}

/// The marks of a part, by their times; lanes are numbers of nodes. Those of one node at one moment are one mark.
fn marks(model: &RunModel<'_>, run: &NetworkRun<'_>, scope: &DiagramScope, anomaly: Option<&Anomaly>) -> Vec<LaneMark> {
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
