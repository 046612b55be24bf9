//! The picture of one anomaly: the clients involved, around the events that prove it.

use super::places::Places;
use super::row::{LEFT, ROW};
use super::scale::TimeScale;
use super::{Svg, marks, row};
use crate::model::{DrawnOperation, RunModel, WitnessStep};
use maud::Markup;
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::AnomalySpan;
use zooquake_checkers::analysis::OperationSubject;
use zooquake_history::operation::commit::f;

const WIDTH: f64 = 1200.0;

/// The span of time that the picture of these steps shows: the steps, the faults that were on, and some air.
pub fn span(model: &RunModel<'_>, steps: &[WitnessStep]) -> (u64, u64) {
    let from = steps.iter().map(|s| s.time).min().unwrap_or(0);
    let until = steps.iter().map(|s| s.time).max().unwrap_or(model.end);
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

/// What the picture of these steps shows: its time axis, and the rows of the clients.
pub fn view(model: &RunModel<'_>, steps: &[WitnessStep]) -> (TimeScale, Vec<usize>) {
    let (from, until) = span(model, steps);
    let scale = TimeScale {
        from,
        until,
        left: LEFT,
        right: WIDTH - 8.0,
    };
    (scale, rows(model, steps, &scale))
}

/// Draws the steps of an anomaly.
pub fn draw(model: &RunModel<'_>, steps: &[WitnessStep], id: &str, label: &str) -> Markup {
    let (scale, rows) = view(model, steps);
    let about = about(model, steps);
    let leads = leads(model, &scale);
    let lead_height = if leads.is_empty() { 0.0 } else { 20.0 };
    let height = rows.len() as f64 * ROW + lead_height;
    let mut svg = Svg::new(WIDTH);
    let top = marks::bands(&mut svg, model, &scale, 2.0, |rows_end| rows_end + height + 4.0);
    let bottom = top + height + 4.0;
    scale.draw(&mut svg, top, bottom);
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
    draw_numbers(&mut svg, &discs, (top, bottom));
    svg.finish(id, bottom + 18.0, label)
}

/// What the steps are about: grants, items, rounds, transactions.
fn about<'a>(model: &RunModel<'a>, steps: &[WitnessStep]) -> Vec<OperationSubject<'a>> {
    let events = &model.record.history.events;
    steps
        .iter()
        .filter_map(|step| OperationSubject::from_event(events.get(step.index)?))
        .collect()
}

/// The clients to show: those of the steps, those the faults hit, those that held; at most six beside the first.
fn rows(model: &RunModel<'_>, steps: &[WitnessStep], scale: &TimeScale) -> Vec<usize> {
    let mut rows: BTreeSet<usize> = steps.iter().filter_map(|s| s.lane).take(8).collect();
    // The coordinator of a transaction is shown too, also where it does nothing more for it.
    let about = about(model, steps);
    let coordinates = |op: &&DrawnOperation<'_>| {
        matches!(op.f, f::BEGIN | f::DECIDE) && op.subject().is_some_and(|s| about.contains(&s))
    };
    rows.extend(model.ops.iter().filter(coordinates).map(|op| op.lane).take(4));
    let hit = model
        .bands_near(AnomalySpan::Between(scale.from, scale.until))
        .flat_map(|b| &b.targets);
    let hit = hit.filter_map(|t| model.lanes.row_of(t));
    let holds = model.holds.iter().filter(|h| scale.shows(h.from, h.until));
    let held = holds.map(|h| h.lane);
    for lane in hit.chain(held) {
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
        for span in led.take(40) {
            let words = format!("{} leads the ensemble, epoch {}", server.name, span.epoch);
            leads.push((scale.x(span.from), scale.x(span.until), words));
        }
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
        svg.rect("leads", (*x1, y, x2 - x1 - 1.0, 14.0), words);
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
    let mut taken: Vec<f64> = vec![f64::MIN; rows.len() + 1];
    let place = |step: &WitnessStep| {
        let row = step.lane.and_then(|l| rows.iter().position(|r| *r == l));
        let slot = &mut taken[row.unwrap_or(rows.len())];
        let moment = scale.x(step.time);
        let x = moment.max(*slot + 18.0).max(scale.left + 8.0).min(WIDTH - 10.0);
        *slot = x;
        Disc {
            number: step.number,
            last: step.number == steps.len(),
            row,
            x,
            moment,
        }
    };
    steps.iter().map(place).collect()
}

fn draw_numbers(svg: &mut Svg, discs: &[Disc], (top, bottom): (f64, f64)) {
    if let Some(last) = discs.last() {
        svg.line("moment", (last.moment, top), (last.moment, bottom));
    }
    for disc in discs {
        let y = disc.row.map_or(bottom - 10.0, |r| top + r as f64 * ROW + 10.0);
        marks::number(svg, disc.number, disc.last, (disc.x, y), (disc.moment, y + 11.0));
    }
}
