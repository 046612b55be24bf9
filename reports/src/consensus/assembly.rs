//! A diagram from what was chosen.

use super::marks::marks;
use super::network_run::NetworkRun;
use super::scope::DiagramScope;
use crate::messages::{
    ArrowEnd, DiagramArrow, DiagramLane, DiagramTone, FaultBracket, FaultSpan, MessageDiagram, MessageOmission,
    RoundBand,
};
use crate::model::{Band, RunModel};
use crate::{lists, text};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::Anomaly;
use zooquake_history::{FaultKind, MessageRecord};

/// The most rounds that have a band, and faults that are drawn.
const BANDS: usize = 8;
/// The most nodes at which a fault is drawn on lanes; one of more nodes is a bracket.
const SPANS: usize = 2;
/// The fewest messages that a line between two rows stands for; fewer are added to the next one's.
const OMITTED: usize = 6;
/// The most such lines.
const OMISSIONS: usize = 8;

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
