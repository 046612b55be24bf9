//! One client's row in the picture of an anomaly: what it held, waited and worked for, and what came of it.

use super::scale::TimeScale;
use super::{Svg, marks, text_width};
use crate::model::{Hold, Mark, Op, Outcome, Role, Story};
use crate::{palette, text};

/// Where the rows begin, after the names of the clients.
pub const LEFT: f64 = 52.0;
/// Height of a row.
pub const ROW: f64 = 46.0;
/// How many bars of a row tell what they are when the mouse rests on them.
const TITLES: usize = 60;

/// Draws the row.
pub fn draw(svg: &mut Svg, story: &Story<'_>, scale: &TimeScale, lane: usize, y: f64) {
    let name = &story.lanes.names()[lane];
    svg.text("lane end", (LEFT - 6.0, y + 33.0), &text::clip(name, 7));
    svg.line("row", (LEFT, y + ROW - 2.0), (scale.right, y + ROW - 2.0));
    marks::hatch(svg, story, scale, name, y + 1.0, ROW - 4.0);
    for hold in story
        .holds
        .iter()
        .filter(|h| h.lane == lane && scale.shows(h.from, h.until))
        .take(2000)
    {
        draw_hold(svg, story, scale, hold, y);
    }
    let ops: Vec<&Op> = story
        .ops
        .iter()
        .filter(|op| op.lane == lane && scale.shows(op.start, op.end))
        .collect();
    for role in Role::ALL {
        svg.path(
            palette::role_class(role),
            &marks::op_bars(&ops, role, scale, y + 29.0, 11.0),
        );
    }
    for op in ops.iter().filter(|op| !op.control).take(400) {
        bar_text(svg, scale, op, y);
    }
    for op in ops.iter().filter(|op| !op.control).take(TITLES) {
        let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
        svg.rect("point", (x1, y + 29.0, (x2 - x1).max(3.0), 11.0), &title(story, op));
    }
    for op in ops
        .iter()
        .filter(|op| op.end.is_some_and(|e| e >= scale.from && e <= scale.until))
        .take(2000)
    {
        arrival(svg, scale, op, y);
    }
}

/// An operation in words: what was asked, and what was answered.
fn title(story: &Story<'_>, op: &Op<'_>) -> String {
    let answer = op.answer.map_or("was not answered".into(), |a| story.words(a));
    format!(
        "{} {} ({}); {answer}",
        text::clip(&story.lanes.names()[op.lane], 24),
        story.words(op.invoke),
        text::moment(op.start)
    )
}

fn draw_hold(svg: &mut Svg, story: &Story<'_>, scale: &TimeScale, hold: &Hold<'_>, y: f64) {
    let (x1, x2) = (scale.x(hold.from), scale.x(hold.until.unwrap_or(u64::MAX)));
    let ended = hold.until.map_or("not ended".into(), |u| {
        format!("{} at {}", hold.ended_by, text::moment(u))
    });
    let what = hold.what.map(|what| what.to_string()).unwrap_or_default();
    let holds = story.terms.holds;
    svg.rect(
        "hold",
        (x1, y + 17.0, x2 - x1, 25.0),
        &format!("{holds} {what} from {}, {ended}", text::moment(hold.from)),
    );
    let words = [format!("{holds} {what}"), what]
        .into_iter()
        .find(|w| text_width(w) + 6.0 < x2 - x1);
    if let Some(words) = words {
        svg.text("holdtext", (x1 + 4.0, y + 26.5), &words);
    }
}

/// What is written into a bar, the longest that fits.
fn bar_text(svg: &mut Svg, scale: &TimeScale, op: &Op<'_>, y: f64) {
    let (x1, x2) = (scale.x(op.start), scale.x(op.end.unwrap_or(u64::MAX)));
    let fits = |words: &String| text_width(words) + 14.0 < x2 - x1;
    let class = if op.role == Role::Wait { "waittext" } else { "worktext" };
    if let Some(words) = labels(op).into_iter().find(fits) {
        svg.text(class, (x1 + 5.0, y + 38.0), &words);
    }
}

/// Labels of an operation, the longest first.
fn labels(op: &Op<'_>) -> Vec<String> {
    let what = op.subject().map(|s| format!(" {s}")).unwrap_or_default();
    let work = op.invoke.int("work_ms").filter(|ms| *ms > 0);
    let work = work.map(|ms| text::duration(ms.unsigned_abs().saturating_mul(1_000_000)));
    let verb = match (op.f, &work) {
        ("vote", _) => {
            let vote = op.answer.and_then(|a| a.str("voted")).or(op.invoke.str("vote"));
            return vec![
                format!("votes {} on{what}", text::clip(vote.unwrap_or("…"), 8)),
                format!("votes{what}"),
                what.trim().to_owned(),
            ];
        }
        (_, Some(work)) => return vec![format!("works {work}")],
        ("acquire" | "elect", _) => return vec!["waits".into()],
        ("write", _) => return vec!["writes".into()],
        ("enter", _) => "waits to enter",
        ("decide", _) => "decides",
        ("decided", _) => "waits for",
        ("dequeue", _) if what.is_empty() && op.outcome == Outcome::Ok => return vec!["empty".into()],
        (f, _) if what.is_empty() => return vec![text::clip(f, 24)],
        (f, _) => &text::clip(f, 24),
    };
    vec![format!("{verb}{what}"), what.trim().to_owned()]
}

/// What an operation came to when it was answered: a tick, a cross, a dash, or a question mark.
fn arrival(svg: &mut Svg, scale: &TimeScale, op: &Op<'_>, y: f64) {
    let (x, y) = (scale.x(op.end.unwrap_or(op.start)), y + 34.5);
    match op.mark() {
        Mark::Took => {
            svg.disc("took", (x, y), 6.5);
            svg.path("tick", &format!("M{:.1} {:.1}l2.4 2.6l4.2-5.2", x - 3.2, y + 0.3));
        }
        Mark::Refused => {
            svg.disc("refused", (x, y), 6.5);
            svg.path("tick", &format!("M{:.1} {:.1}l5 5m0-5l-5 5", x - 2.5, y - 2.5));
        }
        Mark::No => {
            svg.disc("said-no", (x, y), 6.5);
            svg.path("tick", &format!("M{:.1} {y:.1}h6", x - 3.0));
        }
        Mark::Nothing if op.outcome == Outcome::Fail => {
            svg.path("badend", &marks::bad_ends(&[op], Outcome::Fail, scale, y))
        }
        Mark::Nothing if op.outcome == Outcome::Info && !op.control => {
            svg.disc("unknown", (x, y), 6.5);
            svg.text("numtext mid", (x, y + 3.8), "?");
        }
        Mark::Nothing => {}
    }
}
