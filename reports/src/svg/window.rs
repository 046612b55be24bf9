//! The picture of one anomaly: the clients involved, around the events that prove it.

use super::places::Places;
use super::row::{LEFT, ROW};
use super::scale::TimeScale;
use super::{Svg, WIDTH, marks, row, text_width};
use crate::model::{Band, DrawnOperation, DrawnWitness, RunModel, ServerSpan, WitnessStep};
use crate::text;
use maud::Markup;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::AnomalySpan;
use zooquake_checkers::analysis::OperationSubject;
use zooquake_history::operation::commit::f;

/// Room above the rows for how many steps are left out.
const GAP: f64 = 18.0;

/// The span of time that the picture shows: the steps and their cause, the faults that were on, and some air.
pub fn span(model: &RunModel<'_>, witness: &DrawnWitness) -> (u64, u64) {
    let (from, until) = witness.span(model).unwrap_or((0, model.end));
    let air = ((until - from) / 14).max(60_000_000);
    // A fault that began long before, or ends long after, must not squeeze the steps together.
    let reach = ((until - from) / 2).max(500_000_000);
    let (mut first, mut last) = (from, until);
    for band in model.bands_near(AnomalySpan::Between(from, until)) {
        if band.from < from && from - band.from <= reach {
            first = first.min(band.from);
        }
        if let Some(end) = band.until.filter(|end| *end > until && end - until <= reach) {
            last = last.max(end);
        }
    }
    (
        first.saturating_sub(air),
        last.saturating_add(air).min(model.end.max(until)),
    )
}

/// What the picture shows: its time axis, and the rows of the clients.
pub fn view(model: &RunModel<'_>, witness: &DrawnWitness) -> (TimeScale, Vec<usize>) {
    let (from, until) = span(model, witness);
    let scale = TimeScale {
        from,
        until,
        left: LEFT,
        right: WIDTH - 8.0,
    };
    (scale, rows(model, witness, &scale))
}

/// Draws an anomaly: its steps, and what it comes from.
pub fn draw(model: &RunModel<'_>, witness: &DrawnWitness, id: &str, label: &str) -> Markup {
    let steps = witness.steps.as_slice();
    let (scale, rows) = view(model, witness);
    let about = about(model, steps);
    let leads = leads(model, &scale);
    let lead_height = if leads.is_empty() { 0.0 } else { 20.0 };
    let gap = gaps(steps);
    let gap_height = if gap.is_empty() { 0.0 } else { GAP };
    let height = rows.len() as f64 * ROW + lead_height + gap_height;
    let mut svg = Svg::new(WIDTH);
    let bands_end = marks::bands(&mut svg, model, &scale, height + 4.0);
    let (top, bottom) = (bands_end + gap_height, bands_end + height + 4.0);
    scale.draw(&mut svg, bands_end, bottom);
    for (i, &lane) in rows.iter().enumerate() {
        row::draw(&mut svg, model, &scale, &about, (lane, top + i as f64 * ROW + 2.0));
    }
    let discs = numbers(steps, &rows, &scale);
    draw_leads(
        &mut svg,
        &leads,
        discs.iter().filter(|d| d.row.is_none()),
        bottom - 18.0,
    );
    travels(&mut svg, model, steps, &scale, &rows, top);
    draw_gaps(&mut svg, &gap, &scale, bands_end + 11.0);
    arrows(&mut svg, model, witness, (&scale, &rows, &discs), (top, bottom));
    draw_numbers(&mut svg, &discs, (top, bottom));
    svg.finish(id, bottom + 18.0, label)
}

/// Where steps are left out: between which moments, and how many.
fn gaps(steps: &[WitnessStep]) -> Vec<(u64, u64, usize)> {
    let gap = |pair: &[WitnessStep]| (pair[0].time, pair[1].time, pair[1].number - pair[0].number - 1);
    steps.windows(2).map(gap).filter(|(.., missing)| *missing > 0).collect()
}

/// Writes above the rows how many steps are left out, over the time in which they lie.
fn draw_gaps(svg: &mut Svg, gaps: &[(u64, u64, usize)], scale: &TimeScale, y: f64) {
    for &(from, until, missing) in gaps {
        let (x1, x2) = (scale.x(from), scale.x(until));
        let words = format!("… {} more …", text::grouped(missing));
        let half = text_width(&words) / 2.0;
        let middle = f64::midpoint(x1, x2).clamp(scale.left + half, scale.right - half);
        svg.path("gapline", &format!("M{x1:.1} {y:.1}v4H{x2:.1}v-4"));
        svg.text("gaptext mid", (middle, y), &words);
    }
}

/// Draws arrows from the cause to the first step after it: from each of its events, else from where its fault struck.
fn arrows(
    svg: &mut Svg,
    model: &RunModel<'_>,
    witness: &DrawnWitness,
    (scale, rows, discs): (&TimeScale, &[usize], &[Disc]),
    (top, bottom): (f64, f64),
) {
    let Some(cause) = &witness.cause else { return };
    let row = |lane: Option<usize>| rows.iter().position(|row| Some(*row) == lane);
    let height = |row: Option<usize>| row.map_or(top + 3.0, |row| top + row as f64 * ROW + 24.0);
    let mut origins: Vec<(u64, f64)> = cause
        .events
        .iter()
        .map(|&(time, lane)| (time, height(row(lane))))
        .collect();
    let struck = cause
        .window
        .and_then(|id| model.band(id))
        .filter(|_| origins.is_empty());
    origins.extend(struck.map(|band| (band.from, height(row(victim(model, band))))));
    let class = if cause.proven { "cause" } else { "cause maybe" };
    for (time, y) in origins {
        let after = witness.steps.iter().position(|step| step.time > time);
        let Some(disc) = after.map_or(discs.last(), |at| discs.get(at)) else {
            continue;
        };
        let foot = disc_height(disc, (top, bottom));
        marks::arrow(svg, class, (scale.x(time), y), (disc.x, foot), 9.0);
    }
}

/// The row of the first client that a fault hit.
fn victim(model: &RunModel<'_>, band: &Band) -> Option<usize> {
    band.targets.iter().find_map(|target| model.lanes.row_of(target))
}

/// What the steps are about: grants, items, rounds, transactions.
fn about<'a>(model: &RunModel<'a>, steps: &[WitnessStep]) -> Vec<OperationSubject<'a>> {
    let events = &model.record.history.events;
    steps
        .iter()
        .filter_map(|step| OperationSubject::from_event(events.get(step.index)?))
        .collect()
}

/// The clients to show: those of the steps and of their cause, those the faults hit, those that held; at most six
/// beside the first.
fn rows(model: &RunModel<'_>, witness: &DrawnWitness, scale: &TimeScale) -> Vec<usize> {
    let steps = witness.steps.as_slice();
    let mut rows: BTreeSet<usize> = steps.iter().filter_map(|s| s.lane).take(8).collect();
    if let Some(cause) = &witness.cause {
        rows.extend(cause.events.iter().filter_map(|(_, lane)| *lane));
        let struck = cause.window.and_then(|id| model.band(id));
        rows.extend(struck.and_then(|band| victim(model, band)));
    }
    // The coordinator of a transaction is shown too, also where it does nothing more for it.
    let about = about(model, steps);
    let coordinates = |op: &&DrawnOperation<'_>| {
        matches!(op.f, f::BEGIN | f::DECIDE) && op.subject().is_some_and(|s| about.contains(&s))
    };
    rows.extend(model.ops.iter().filter(coordinates).map(|op| op.lane).take(4));
    let near = model.bands_near(AnomalySpan::Between(scale.from, scale.until));
    let hit = near.flat_map(|b| &b.targets).filter_map(|t| model.lanes.row_of(t));
    let held = model.holds.iter().filter(|h| scale.shows(h.from, h.until));
    for lane in hit.chain(held.map(|h| h.lane)) {
        if rows.len() < 5 {
            rows.insert(lane);
        }
    }
    rows.into_iter().collect()
}

/// Which server led the ensemble, as spans of the picture with words for them.
fn leads(model: &RunModel<'_>, scale: &TimeScale) -> Vec<(f64, f64, String)> {
    let mut leads = Vec::new();
    for server in &model.servers {
        let led = server
            .spans
            .iter()
            .filter(|s| s.mode == "leader" && scale.shows(s.from, Some(s.until)));
        let words = |span: &ServerSpan| format!("{} leads the ensemble, epoch {}", server.name, span.epoch);
        let led = led
            .take(40)
            .map(|span| (scale.x(span.from), scale.x(span.until), words(span)));
        leads.extend(led);
    }
    leads
}

/// The way of each item of the steps, from client to client: through the answers to all operations about it.
fn travels(svg: &mut Svg, model: &RunModel<'_>, steps: &[WitnessStep], scale: &TimeScale, rows: &[usize], top: f64) {
    let mut ways: BTreeMap<i64, Vec<(u64, usize)>> = BTreeMap::new();
    for op in model.ops.iter().filter(|op| scale.shows(op.start, op.end)) {
        let row = rows.iter().position(|row| *row == op.lane);
        if let (Some(OperationSubject::Item(item)), Some(row), Some(end)) = (op.subject(), row, op.end)
            && steps.iter().any(|step| step.item == Some(item))
        {
            ways.entry(item).or_default().push((end, row));
        }
    }
    for way in ways.values_mut().take(20) {
        way.sort_unstable();
        for pair in way.windows(2).take(40) {
            let place = |(time, row): (u64, usize)| (scale.x(time), top + row as f64 * ROW + 36.5);
            svg.line("travel", place(pair[0]), place(pair[1]));
        }
    }
}

/// Draws which server led, with words where the numbers in that row leave room.
fn draw_leads<'d>(svg: &mut Svg, leads: &[(f64, f64, String)], discs: impl Iterator<Item = &'d Disc>, y: f64) {
    let mut places = Places::beside(discs.map(|disc| (disc.x - 9.0, disc.x + 9.0)).collect());
    if !leads.is_empty() {
        svg.text("lane end", (LEFT - 6.0, y + 11.0), "ensemble");
    }
    for (x1, x2, words) in leads {
        svg.rect("leads", (*x1, y, (x2 - x1 - 1.0).max(marks::PIXEL), 14.0), words);
        let words = [words.clone()];
        if let Some((x, words)) = places.find(&words, (x1 + 5.0, *x2)) {
            svg.text("leadtext", (x, y + 10.5), words);
        }
    }
}

/// The number of a step in the picture.
struct Disc {
    number: usize,
    last: bool,
    /// The client's row; `None` for what no client of the picture did.
    row: Option<usize>,
    /// Where it is.
    x: f64,
    /// Where the moment is that it marks.
    moment: f64,
}

/// The numbers of the steps, side by side where they would cover each other.
fn numbers(steps: &[WitnessStep], rows: &[usize], scale: &TimeScale) -> Vec<Disc> {
    let disc = |step: &WitnessStep| Disc {
        number: step.number,
        last: step.last,
        row: step.lane.and_then(|lane| rows.iter().position(|row| *row == lane)),
        x: scale.x(step.time),
        moment: scale.x(step.time),
    };
    let mut discs: Vec<Disc> = steps.iter().map(disc).collect();
    let slot = |disc: &Disc| disc.row.unwrap_or(rows.len());
    // To the right of each other, then back from the right edge until all fit.
    let mut taken: Vec<f64> = vec![scale.left - 1.0; rows.len() + 1];
    for disc in &mut discs {
        let radius = marks::number_radius(disc.number);
        disc.x = disc.x.max(taken[slot(disc)] + radius + 1.0);
        taken[slot(disc)] = disc.x + radius + 1.0;
    }
    let mut taken: Vec<f64> = vec![WIDTH; rows.len() + 1];
    for disc in discs.iter_mut().rev() {
        let radius = marks::number_radius(disc.number);
        disc.x = disc.x.min(taken[slot(disc)] - radius - 1.0);
        taken[slot(disc)] = disc.x - radius - 1.0;
    }
    discs
}

fn draw_numbers(svg: &mut Svg, discs: &[Disc], (top, bottom): (f64, f64)) {
    if let Some(last) = discs.last().filter(|disc| disc.last) {
        svg.line("moment", (last.moment, top), (last.moment, bottom));
    }
    for disc in discs {
        let y = disc_height(disc, (top, bottom));
        marks::number(svg, disc.number, disc.last, (disc.x, y), (disc.moment, y + 11.0));
    }
}

fn disc_height(disc: &Disc, (top, bottom): (f64, f64)) -> f64 {
    disc.row.map_or(bottom - 10.0, |row| top + row as f64 * ROW + 10.0)
}
