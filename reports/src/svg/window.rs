//! The picture of one anomaly: the clients involved, around the events that prove it. The row of a client has what it
//! held, waited and worked for, and what came of it.

use super::scale::TimeScale;
use super::{Screen, Svg, marks, text_width};
use crate::model::{
    DrawnHold, DrawnOperation, DrawnWitness, Mark, OperationOutcome, Role, RunModel, ServerSpan, WitnessStep,
    subject_name,
};
use crate::{palette, text};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::AnomalySpan;
use zooquake_checkers::analysis::{OperationSubject, SessionEnd};
use zooquake_history::FaultKind;
use zooquake_history::operation::{barrier, commit, grant, queue};

/// Room above the rows for how many steps are left out.
const GAP: f64 = 18.0;
/// Where the rows begin, after the names of the clients.
const LEFT: f64 = 70.0;
/// Height of a row.
const ROW: f64 = 46.0;
/// Radius of the disc that marks what an operation came to.
const DISC: f64 = 6.5;
/// How many bars of a row have a title for when the mouse rests on them.
const TITLES: usize = 60;

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
pub fn view(model: &RunModel<'_>, witness: &DrawnWitness, screen: Screen) -> (TimeScale, Vec<usize>) {
    let (from, until) = span(model, witness);
    let mut scale = TimeScale {
        from,
        until,
        left: LEFT,
        right: screen.width() - 8.0,
        breaks: Vec::new(),
    };
    let rows = rows(model, witness, &scale);
    scale.breaks = quiet(model, witness, &scale, &rows);
    (scale, rows)
}

/// The spans in which nothing that the picture shows begins or ends, each a sixth of it and two seconds long at least,
/// less some air on both sides.
fn quiet(model: &RunModel<'_>, witness: &DrawnWitness, scale: &TimeScale, rows: &[usize]) -> Vec<(u64, u64)> {
    let least = ((scale.until - scale.from) / 6).max(2_000_000_000);
    let both = |(from, until): (u64, Option<u64>)| std::iter::once(from).chain(until);
    let ops = model.ops.iter().filter(|op| rows.contains(&op.lane) && !op.control);
    let holds = model.holds.iter().filter(|hold| rows.contains(&hold.lane));
    let mut moments: Vec<u64> = ops
        .map(|op| (op.start, op.end))
        .chain(holds.map(|hold| (hold.from, hold.until)))
        .chain(model.bands.iter().map(|band| (band.from, band.until)))
        .chain(model.bands.iter().map(|band| (band.sure(), band.healing)))
        .flat_map(both)
        .chain(
            witness
                .cause
                .iter()
                .flat_map(|cause| &cause.events)
                .map(|(time, _)| *time),
        )
        .chain(witness.steps.iter().map(|step| step.time))
        .chain(ended_sessions(model, rows).map(|(_, at, _)| at))
        .chain([scale.from, scale.until])
        .filter(|time| (scale.from..=scale.until).contains(time))
        .collect();
    moments.sort_unstable();
    let air = least / 8;
    let gaps = moments.windows(2).filter(|pair| pair[1] - pair[0] >= least);
    gaps.map(|pair| (pair[0] + air, pair[1] - air)).collect()
}

/// The sessions of the rows that did not end by their client: the place of the row, when, and in words.
fn ended_sessions<'m>(model: &'m RunModel<'_>, rows: &'m [usize]) -> impl Iterator<Item = (usize, u64, &'m str)> {
    let of_row = |(place, lane): (usize, &'m usize)| {
        let sessions = model.sessions.iter().filter(move |of| of.lane == *lane);
        sessions
            .flat_map(|of| &of.sessions)
            .map(move |session| (place, session))
    };
    let ended = rows.iter().enumerate().flat_map(of_row);
    ended.filter_map(|(place, session)| {
        let expired = session.end == Some(SessionEnd::Expired);
        session
            .until
            .filter(|_| expired)
            .map(|at| (place, at, session.words.as_str()))
    })
}

/// Whether the picture shows that a session was expired by the ensemble.
pub fn shows_expiry(model: &RunModel<'_>, scale: &TimeScale, rows: &[usize]) -> bool {
    ended_sessions(model, rows).any(|(_, at, _)| scale.shows(at, Some(at)))
}

/// Draws a cross below the row of each client whose session was expired, when that was so.
fn draw_expiries(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, rows: &[usize], top: f64) {
    for (place, at, words) in ended_sessions(model, rows).filter(|(_, at, _)| scale.shows(*at, Some(*at))) {
        let (x, y) = (scale.x(at), top + place as f64 * ROW + 46.0);
        svg.path("expiry", &format!("M{:.1} {:.1}l8 8m0-8l-8 8", x - 4.0, y - 4.0));
        svg.rect("point", (x - 6.0, y - 6.0, 12.0, 12.0), words);
    }
}

/// Draws an anomaly, its steps and what it comes from.
pub fn draw(model: &RunModel<'_>, witness: &DrawnWitness, id: &str, label: &str) -> Markup {
    let (svg, height) = drawing(model, witness, Screen::Desk);
    svg.finish(id, height, label)
}

/// Draws it for each kind of screen.
pub fn draw_for_all(model: &RunModel<'_>, witness: &DrawnWitness, id: &str, label: &str) -> Markup {
    html! {
        div.chart {
            @for screen in Screen::ALL {
                @let (svg, height) = drawing(model, witness, screen);
                (svg.finish_for(screen, id, height, label))
            }
        }
    }
}

/// The drawing of that width, and its height.
fn drawing(model: &RunModel<'_>, witness: &DrawnWitness, screen: Screen) -> (Svg, f64) {
    let steps = witness.steps.as_slice();
    let (scale, rows) = view(model, witness, screen);
    let about = about(model, steps);
    let leads = leads(model, &scale);
    let lead_height = if leads.is_empty() { 0.0 } else { 20.0 };
    let gap = gaps(steps);
    let gap_height = if gap.is_empty() { 0.0 } else { GAP };
    let height = rows.len() as f64 * ROW + lead_height + gap_height;
    let mut svg = Svg::new(screen.width());
    let bands_end = marks::bands(&mut svg, model, &scale, height + 4.0);
    let (top, bottom) = (bands_end + gap_height, bands_end + height + 4.0);
    scale.draw(&mut svg, bands_end, bottom);
    for (i, &lane) in rows.iter().enumerate() {
        draw_row(&mut svg, model, &scale, &about, (lane, top + i as f64 * ROW + 2.0));
    }
    let discs = numbers(steps, &rows, &scale);
    draw_leads(
        &mut svg,
        &leads,
        discs.iter().filter(|d| d.row.is_none()),
        bottom - 18.0,
    );
    travels(&mut svg, model, steps, &scale, &rows, top);
    draw_expiries(&mut svg, model, &scale, &rows, top);
    scale.draw_breaks(&mut svg, bands_end, bottom);
    draw_gaps(&mut svg, &gap, &scale, bands_end + 11.0);
    arrows(&mut svg, model, witness, (&scale, &rows, &discs), (top, bottom));
    draw_numbers(&mut svg, &discs, (top, bottom));
    (svg, bottom + 18.0)
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
    origins.extend(struck.map(|band| (band.from, height(row(cause.victim)))));
    let class = if cause.proven { "cause" } else { "cause maybe" };
    for &(time, y) in &origins {
        let after = witness.steps.iter().position(|step| step.time > time);
        let Some(disc) = after.map_or(discs.last(), |at| discs.get(at)) else {
            continue;
        };
        let foot = disc_height(disc, (top, bottom));
        marks::arrow(svg, class, (scale.x(time), y), (disc.x, foot), 9.0);
    }
    if let Some((step, &(time, y))) = cause.step.as_ref().zip(origins.first()) {
        marks::number(svg, step.number, false, (scale.x(time), y), (scale.x(time), y));
    }
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
        rows.extend(cause.victim);
    }
    // The coordinator of a transaction is shown too, also where it does nothing more for it.
    let about = about(model, steps);
    let coordinates = |op: &&DrawnOperation<'_>| {
        matches!(op.f, commit::f::BEGIN | commit::f::DECIDE) && op.subject().is_some_and(|s| about.contains(&s))
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
    let mut taken: Vec<f64> = vec![scale.right + 8.0; rows.len() + 1];
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

/// Draws the row of a client; holds of what the picture is about are labelled first.
fn draw_row(
    svg: &mut Svg,
    model: &RunModel<'_>,
    scale: &TimeScale,
    about: &[OperationSubject<'_>],
    (lane, y): (usize, f64),
) {
    let name = &model.lanes.names[lane];
    svg.text("lane end", (LEFT - 6.0, y + 33.0), &text::name(name, 9));
    svg.line("row", (LEFT, y + ROW - 2.0), (scale.right, y + ROW - 2.0));
    marks::hatch(svg, model, scale, name, y + 1.0, ROW - 4.0);
    let seen = |hold: &&DrawnHold| hold.lane == lane && scale.shows(hold.from, hold.until);
    let holds: Vec<&DrawnHold> = model.holds.iter().filter(seen).take(2000).collect();
    for hold in &holds {
        draw_hold(svg, model, scale, hold, y);
    }
    label_holds(svg, model, scale, about, (&holds, y));
    let shown = |op: &&DrawnOperation| op.lane == lane && scale.shows(op.start, op.end);
    let ops: Vec<&DrawnOperation> = model.ops.iter().filter(shown).collect();
    marks::op_bars(svg, &ops, scale, y + 29.0, 11.0);
    let discs = ops.iter().filter(|op| marked(op, scale)).take(2000);
    let discs = discs.map(|op| scale.x(op.end.unwrap_or(op.start)));
    let mut places = Places::beside(discs.map(|x| (x - DISC - 1.0, x + DISC)).collect());
    for op in ops.iter().filter(|op| !op.control).take(400) {
        bar_text(svg, scale, &mut places, (op, &op_labels(model, op)), y);
    }
    for op in ops.iter().filter(|op| !op.control).take(TITLES) {
        let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
        svg.rect("point", (x1, y + 29.0, (x2 - x1).max(3.0), 11.0), &op_title(model, op));
    }
    for op in ops.iter().filter(|op| marked(op, scale)).take(2000) {
        arrival(svg, scale, op, y);
    }
}

/// Whether the end of the operation is marked in the picture.
pub fn marked(op: &DrawnOperation<'_>, scale: &TimeScale) -> bool {
    let bad = matches!(op.outcome, OperationOutcome::Fail | OperationOutcome::Info) && !op.control;
    let seen = op.end.is_some_and(|end| end >= scale.from && end <= scale.until);
    seen && (bad || op.mark() != Mark::Nothing)
}

/// An operation in words: what was asked, and what was answered.
fn op_title(model: &RunModel<'_>, op: &DrawnOperation<'_>) -> String {
    let answer = op.answer.map_or("was not answered".into(), |a| model.words(a));
    format!(
        "{} {} ({}); {answer}",
        text::clip(&model.lanes.names[op.lane], 24),
        model.words(op.invoke),
        text::moment(op.start)
    )
}

fn draw_hold(svg: &mut Svg, model: &RunModel<'_>, scale: &TimeScale, hold: &DrawnHold<'_>, y: f64) {
    let (x1, x2) = (scale.x(hold.from), scale.x(hold.until.unwrap_or(u64::MAX)));
    let ended = hold.until.map_or("not ended".into(), |u| {
        format!("{} at {}", hold.ended_by, text::moment(u))
    });
    let (holds, what) = (model.terms.holds, hold.name());
    svg.rect(
        palette::hold_class(hold.shared),
        (x1, y + 17.0, (x2 - x1).max(marks::PIXEL), 25.0),
        &format!("{holds} {what} from {}, {ended}", text::moment(hold.from)),
    );
}

/// What is written into holds. One that overlaps a hold of what the picture is about gets no label: it would be read as
/// the other's.
fn label_holds(
    svg: &mut Svg,
    model: &RunModel<'_>,
    scale: &TimeScale,
    about: &[OperationSubject<'_>],
    (holds, y): (&[&DrawnHold<'_>], f64),
) {
    let is_it = |hold: &DrawnHold<'_>| about.contains(&hold.what);
    let (subject, others): (Vec<&DrawnHold>, Vec<&DrawnHold>) = holds.iter().copied().partition(|hold| is_it(hold));
    let until = |hold: &DrawnHold<'_>| hold.until.unwrap_or(u64::MAX);
    let overlap = |one: &DrawnHold<'_>, other: &DrawnHold<'_>| one.from < until(other) && other.from < until(one);
    let apart = |hold: &&DrawnHold<'_>| !subject.iter().any(|other| overlap(hold, other));
    let span = |hold: &DrawnHold<'_>| (scale.x(hold.from), scale.x(until(hold)));
    let labels = |hold: &DrawnHold<'_>| {
        [
            format!("{} {}", model.terms.holds, hold.name()),
            subject_name(hold.what),
        ]
    };
    // Beside the edges of what it overlaps, if there is room.
    let edges = others.iter().flat_map(|hold| <[f64; 2]>::from(span(hold)));
    let mut clear = Places::beside(edges.map(|x| (x - 2.0, x + 2.0)).collect());
    let mut places = Places::default();
    for hold in subject.iter().copied().chain(others.iter().copied().filter(apart)) {
        let ((x1, x2), labels) = (span(hold), labels(hold));
        let room = (x1 + 4.0, x2 - 2.0);
        let beside = if is_it(hold) { clear.find(&labels, room) } else { None };
        if let Some((x, words)) = beside.or_else(|| places.find(&labels, room)) {
            svg.text("holdtext", (x, y + 26.5), words);
        }
    }
}

/// What is written into a bar, the longest of the labels that fits.
fn bar_text(
    svg: &mut Svg,
    scale: &TimeScale,
    places: &mut Places,
    (op, labels): (&DrawnOperation<'_>, &[String]),
    y: f64,
) {
    let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
    let class = if op.role == Role::Wait { "waittext" } else { "worktext" };
    if let Some((x, words)) = places.find(labels, (x1 + 5.0, x2 - 2.0)) {
        svg.text(class, (x, y + 38.0), words);
    }
}

/// Labels of an operation, the longest first.
fn op_labels(model: &RunModel<'_>, op: &DrawnOperation<'_>) -> Vec<String> {
    let what = op
        .subject()
        .map(|what| format!(" {}", subject_name(what)))
        .unwrap_or_default();
    let work = op.invoke.work_ms().filter(|ms| *ms > 0);
    let work = work.map(|ms| text::millis(ms.unsigned_abs()));
    let verb = match (op.f, &work) {
        (commit::f::VOTE, _) => {
            let vote = op.answer.and_then(|a| a.voted()).or(op.invoke.vote());
            return vec![
                format!("votes {} on{what}", text::clip(vote.unwrap_or("…"), 8)),
                format!("votes{what}"),
                what.trim().to_owned(),
            ];
        }
        (_, Some(work)) if frozen(model, op) => {
            return vec![format!("works {work} (frozen meanwhile)"), format!("works {work}")];
        }
        (_, Some(work)) => return vec![format!("works {work}")],
        (grant::f::ACQUIRE | grant::f::ELECT, _) => return vec!["waits".into()],
        (grant::f::READ, _) if !what.is_empty() => return vec!["reads".into()],
        (grant::f::WRITE, _) => return vec!["writes".into()],
        (grant::f::WORK, _) => return vec!["works".into()],
        (barrier::f::ENTER, _) => "waits to enter",
        (barrier::f::WAIT, _) => "waits at",
        (commit::f::DECIDE, _) => "decides",
        (commit::f::DECIDED, _) => "waits for",
        (queue::f::DEQUEUE, _) if what.is_empty() && op.outcome == OperationOutcome::Ok => return vec!["empty".into()],
        (f, _) if what.is_empty() => return vec![text::clip(f, 24)],
        (f, _) => &text::clip(f, 24),
    };
    vec![format!("{verb}{what}"), what.trim().to_owned()]
}

/// Whether the client was paused while the operation ran, which then took longer than was asked.
fn frozen(model: &RunModel<'_>, op: &DrawnOperation<'_>) -> bool {
    let name = &model.lanes.names[op.lane];
    let bands = model.bands.iter();
    let mut bands = bands.filter(|b| FaultKind::by_name(&b.fault).freezes && b.hits(name));
    // Only what was verified: the client may have gone on for a moment after the strike.
    bands.any(|b| b.sure() < op.end.unwrap_or(u64::MAX) && op.start < b.ended())
}

/// What an operation came to when it was answered: a tick, a cross, a dash, or a question mark.
fn arrival(svg: &mut Svg, scale: &TimeScale, op: &DrawnOperation<'_>, y: f64) {
    let (x, y) = (scale.x(op.end.unwrap_or(op.start)), y + 34.5);
    match op.mark() {
        Mark::Took => {
            svg.disc("took", (x, y), DISC);
            svg.path("tick", &format!("M{:.1} {:.1}l2.4 2.6l4.2-5.2", x - 3.2, y + 0.3));
        }
        Mark::Refused => {
            svg.disc("refused", (x, y), DISC);
            svg.path("tick", &format!("M{:.1} {:.1}l5 5m0-5l-5 5", x - 2.5, y - 2.5));
        }
        Mark::No => {
            svg.disc("said-no", (x, y), DISC);
            svg.path("tick", &format!("M{:.1} {y:.1}h6", x - 3.0));
        }
        Mark::Nothing if op.outcome == OperationOutcome::Fail => {
            svg.path("badend", &marks::bad_ends(&[op], OperationOutcome::Fail, scale, y))
        }
        Mark::Nothing if op.outcome == OperationOutcome::Info && !op.control => {
            svg.disc("unknown", (x, y), DISC);
            svg.text("numtext mid", (x, y + 3.8), "?");
        }
        Mark::Nothing => {}
    }
}

/// Places for labels on a line, so that none lies over another, or under a mark: what of the line is taken, as spans
/// from left to right ends.
#[derive(Debug, Default)]
struct Places {
    taken: Vec<(f64, f64)>,
}

impl Places {
    /// A line on which these spans are taken.
    fn beside(taken: Vec<(f64, f64)>) -> Self {
        Self { taken }
    }

    /// Where in `from..until` the longest of the labels that fit begins, which is taken then; `None` if none fits.
    fn find<'l>(&mut self, labels: &'l [String], (from, until): (f64, f64)) -> Option<(f64, &'l str)> {
        let found = labels
            .iter()
            .find_map(|label| Some((self.free(text_width(label), from, until)?, label.as_str())));
        if let Some((x, label)) = found {
            self.taken.push((x, x + text_width(label)));
        }
        found
    }

    /// The leftmost free place of that width: the beginning, or right after something that is taken.
    fn free(&self, width: f64, from: f64, until: f64) -> Option<f64> {
        let after = self.taken.iter().map(|&(_, end)| end + 2.0).filter(|x| *x > from);
        let mut starts: Vec<f64> = std::iter::once(from).chain(after).collect();
        starts.sort_by(f64::total_cmp);
        let free = |x: &f64| !self.taken.iter().any(|&(start, end)| *x < end && start < x + width);
        starts.into_iter().take_while(|x| x + width < until).find(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_gives_way_to_what_is_taken() {
        let mut places = Places::beside(vec![(0.0, 20.0), (30.0, 40.0)]);
        let labels = ["long words".to_owned(), "long".to_owned()];
        let (x, label) = places.find(&labels, (0.0, 200.0)).expect("there is room");
        assert_eq!((x, label), (42.0, "long words"));
        let (x, label) = places
            .find(&labels, (0.0, 145.0))
            .expect("there is room for the short one");
        assert_eq!(label, "long");
        assert!(x >= 42.0 + text_width("long words"));
        assert_eq!(places.find(&labels, (0.0, 60.0)), None, "rather none than over another");
    }
}
