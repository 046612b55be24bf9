//! The picture of an object's operations: a row for each process, a column for each event.

use super::words;
use crate::text;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::ops::Range;
use zooquake_checkers::search::picture::{BarStep, CallOutcome, ObjectPicture, OperationBar};

/// Widths and heights, in pixels: of the narrowest column, a row, a bar.
const COLUMN: usize = 24;
const ROW: usize = 46;
const BAR: usize = 36;
/// From the beginning of a bar to the number of a step that is done at once.
const STEP: usize = 11;
/// Beside the words on a bar.
const BESIDE: usize = 10;

/// Where everything is: columns are as wide as the words on the bars need.
struct ChartPlaces<'a> {
    /// The left edge of the column of each event.
    columns: HashMap<usize, usize>,
    rows: BTreeMap<u64, usize>,
    bars: &'a [OperationBar],
    width: usize,
}

impl<'a> ChartPlaces<'a> {
    fn new(bars: &'a [OperationBar]) -> Self {
        let events = bars.iter().flat_map(|bar| [Some(bar.from), Self::end(bar)]);
        let events: BTreeSet<usize> = events.flatten().collect();
        let number: HashMap<usize, usize> = events.iter().copied().zip(0..).collect();
        let processes: BTreeSet<u64> = bars.iter().map(|bar| bar.process).collect();
        let mut widths = vec![COLUMN; events.len()];
        let span = |bar: &OperationBar| {
            let from = number[&bar.from];
            let until = Self::end(bar).map_or(widths.len(), |to| number[&to]);
            from..until.max(from + 1)
        };
        let mut spans: Vec<(Range<usize>, usize)> = bars.iter().map(|bar| (span(bar), needed(bar))).collect();
        spans.sort_by_key(|(span, _)| (span.end, span.start));
        for (span, needed) in spans {
            let last = span.end - 1;
            widths[last] += needed.saturating_sub(widths[span].iter().sum());
        }
        let lefts = widths.iter().scan(0, |next, width| {
            let left = *next;
            *next += width;
            Some(left)
        });
        Self {
            columns: events.into_iter().zip(lefts).collect(),
            rows: processes.into_iter().zip(0..).collect(),
            bars,
            width: widths.iter().sum::<usize>() + COLUMN,
        }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn height(&self) -> usize {
        self.rows.len() * ROW
    }

    fn left(&self, bar: &OperationBar) -> usize {
        self.columns[&bar.from]
    }

    /// Where it was answered; none if its outcome is unknown, so that it may take effect at any later time.
    fn end(bar: &OperationBar) -> Option<usize> {
        bar.to.filter(|_| bar.outcome != CallOutcome::Info)
    }

    /// Where it ends: at the edge if that is open.
    fn right(&self, bar: &OperationBar) -> usize {
        let end = Self::end(bar).map_or(self.width(), |to| self.columns[&to]);
        match end > self.left(bar) {
            true => end,
            // Its invocation is missing.
            false => self.left(bar) + needed(bar),
        }
    }

    fn top(&self, bar: &OperationBar) -> usize {
        self.rows[&bar.process] * ROW + (ROW - BAR) / 2
    }

    /// The points of the steps, from left to right: each within its operation, as its order fits the intervals.
    fn points(&self, steps: &[BarStep]) -> Vec<(usize, usize)> {
        let mut x = 0;
        let point = |step: &BarStep| {
            let bar = &self.bars[step.bar];
            x = x.max(self.left(bar) + STEP);
            (x, self.top(bar) + BAR - 10)
        };
        steps.iter().map(point).collect()
    }
}

/// How wide a bar has to be for its words, in pixels.
fn needed(bar: &OperationBar) -> usize {
    // Letters of East Asia are twice as wide.
    let width = |letter: char| if letter >= '\u{1100}' { 13.4 } else { 6.7 };
    words::label(bar).chars().map(width).sum::<f64>() as usize + BESIDE
}

/// The picture of an object, with a name of its own on the page. It scrolls in its box; on paper it is as wide as that
/// at most.
pub fn draw(name: &str, one: &ObjectPicture) -> Markup {
    let places = ChartPlaces::new(&one.bars);
    let (width, height) = (places.width(), places.height());
    let steps = one.order.as_ref().map_or(&[][..], |order| &order.steps[..]);
    let marks = BarMarks::new(one);
    let points = places.points(steps);
    html! {
        div.chart tabindex="0" role="region" aria-label="Operations by process" {
            svg.processes width="64" height=(height) viewBox={ "0 0 64 " (height) } aria-hidden="true" {
                @for (process, row) in &places.rows {
                    text x="58" y=(row * ROW + ROW / 2 + 4) text-anchor="end" { (short_process(*process)) }
                }
            }
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-label="Operations in the order of events" {
                @for row in 1..places.rows.len() { line.rule x1="0" x2=(width) y1=(row * ROW) y2=(row * ROW) {} }
                @for (at, bar) in one.bars.iter().enumerate() {
                    (operation(name, &places, (at, bar), &marks))
                    "\n"
                }
                path.order d=(line(&points)) {}
                @for (step, (x, y)) in steps.iter().zip(&points) {
                    g class=(if step.certain { "step" } else { "step unknown" }) {
                        circle cx=(x) cy=(y) r="9.5" {}
                        text x=(x) y=(y + 3) text-anchor="middle" { (step.number % 10_000) }
                        title { (under_pointer(step, &one.bars[step.bar])) }
                    }
                    "\n"
                }
            }
        }
    }
}

fn under_pointer(step: &BarStep, bar: &OperationBar) -> String {
    let state = text::clip(&step.state, 240);
    format!(
        "step {}, state after it: {state} · {}",
        text::grouped(step.number),
        words::pointed(bar)
    )
}

/// A process in the width of its column.
fn short_process(process: u64) -> String {
    let digits = process.to_string();
    match digits.len() {
        0..=8 => digits,
        length => format!("…{}", &digits[length - 7..]),
    }
}

/// The operations that are marked, of which the first stands for all.
struct BarMarks<'a> {
    bars: &'a [usize],
    words: &'static str,
    /// The words of the link to the first.
    link: &'static str,
}

impl<'a> BarMarks<'a> {
    /// The operation that cannot have its answer, by the proof of the anomaly; without a proof those at which the
    /// longest order ends.
    fn new(one: &'a ObjectPicture) -> Self {
        match (&one.stuck, &one.order) {
            (Some(stuck), _) => Self {
                bars: std::slice::from_ref(stuck),
                words: "cannot have its answer",
                link: "Show it",
            },
            (None, order) => Self {
                bars: order.as_ref().map_or(&[], |order| &order.refused),
                words: "cannot be next",
                link: "Show where the order ends",
            },
        }
    }
}

fn operation(name: &str, places: &ChartPlaces<'_>, (at, bar): (usize, &OperationBar), marks: &BarMarks<'_>) -> Markup {
    let (left, right, top) = (places.left(bar) + 1, places.right(bar) - 1, places.top(bar));
    let outcome = match bar.outcome {
        CallOutcome::Ok => "bar ok",
        CallOutcome::Fail => "bar fail",
        CallOutcome::Info => "bar info",
    };
    let (marked, leads) = (marks.bars.contains(&at), marks.bars.first() == Some(&at));
    html! {
        g id=[leads.then(|| format!("stuck-{name}"))]
            class={ (outcome) @if bar.witness { " witness" } @if marked { " refused" } } {
            @if ChartPlaces::end(bar).is_some() {
                rect x=(left) y=(top) width=(right - left) height=(BAR) rx="3" {}
            } @else {
                path.open d={ "M" (right) " " (top) "H" (left) "V" (top + BAR) "H" (right) } {}
            }
            text.words x=(left + 4) y=(top + 13) { (words::label(bar)) }
            @if leads { text.cannot x=(left + 6) y=(top + BAR - 5) { "✗" } }
            title { (words::pointed(bar)) @if marked { " · " (marks.words) } }
        }
    }
}

/// The way from step to step.
fn line(points: &[(usize, usize)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let to = if at == 0 { "M" } else { "L" };
        write!(path, "{to}{x} {y}").expect("a text takes all");
    }
    path
}

/// What the marks mean, and the way to where the order ends.
pub fn legend(name: &str, one: &ObjectPicture) -> Markup {
    let has = |wanted: fn(&OperationBar) -> bool| one.bars.iter().any(wanted);
    let order = one.order.as_ref().ok();
    let marks = BarMarks::new(one);
    html! {
        div.legend {
            @if has(|bar| bar.outcome == CallOutcome::Ok) { span { i.key.ok {} "answered" } }
            @if has(|bar| bar.outcome == CallOutcome::Info) { span { i.key.info {} "outcome unknown" } }
            @if has(|bar| bar.outcome == CallOutcome::Fail) { span { i.key.fail {} "failed" } }
            @if has(|bar| bar.witness) { span { i.key.witness {} "proves the anomaly" } }
            @if order.is_some_and(|order| !order.steps.is_empty()) { span { i.key.number { "1" } "its number in the order" } }
            @if !marks.bars.is_empty() {
                span { i.key.refused { "✗" } (marks.words) }
                a href={ "#stuck-" (name) } { (marks.link) }
            }
        }
        p.hint { "Point at a bar or a number for the request, the answer and the state. The columns are events, not times." }
    }
}
