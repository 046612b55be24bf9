//! One client's row in the picture of an anomaly: what it held, waited and worked for, and what came of it.

use super::places::Places;
use super::scale::TimeScale;
use super::{Svg, marks};
use crate::model::{DrawnHold, DrawnOperation, Mark, OperationOutcome, Role, RunModel, subject_name};
use crate::{palette, text};
use zooquake_checkers::analysis::OperationSubject;
use zooquake_history::FaultKind;
use zooquake_history::operation::{barrier, commit, grant, queue};

/// Where the rows begin, after the names of the clients.
pub const LEFT: f64 = 70.0;
/// Height of a row.
pub const ROW: f64 = 46.0;
/// Radius of the disc that marks what an operation came to.
const DISC: f64 = 6.5;
/// How many bars of a row have a title for when the mouse rests on them.
const TITLES: usize = 60;

/// Draws the row; holds of what the picture is about are labelled first.
pub fn draw(
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
        bar_text(svg, scale, &mut places, (op, &labels(model, op)), y);
    }
    for op in ops.iter().filter(|op| !op.control).take(TITLES) {
        let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
        svg.rect("point", (x1, y + 29.0, (x2 - x1).max(3.0), 11.0), &title(model, op));
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
fn title(model: &RunModel<'_>, op: &DrawnOperation<'_>) -> String {
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
fn labels(model: &RunModel<'_>, op: &DrawnOperation<'_>) -> Vec<String> {
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
