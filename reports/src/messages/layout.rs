//! From a diagram to shapes with places: where lanes and moments lie, and what is drawn there.

use super::arrows::{self, LabelBox, OccupiedPlaces};
use super::shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point};
use super::{ArrowEnd, DiagramLane, FaultSpan, MessageDiagram, lanes};
use crate::svg::text_width;
use crate::text;
use std::collections::BTreeSet;

/// Where times end, at the left.
const TIMES_END: f64 = 60.0;
/// The least distance between two times.
const TIME_STEP: f64 = 44.0;
/// Height of a row, unless texts need more room.
pub const ROW: f64 = 16.0;
/// The heights of a row, one after the other until there is room for all texts beside the lines.
const STEPS: [f64; 2] = [ROW, 20.0];
/// Room for the names of lanes.
pub const HEAD: f64 = 34.0;
/// Width of the column of times.
const TIMES: f64 = 66.0;
/// Width of a column of rounds.
pub const ROUND: f64 = 74.0;
/// The most columns of rounds; what overlaps more shares the last one.
const ROUNDS: usize = 3;
/// Width of a column of brackets.
pub const BRACKET: f64 = 66.0;
/// The most columns of brackets.
const BRACKETS: usize = 3;
/// The width that lanes fill if there are few of them: that of a page.
const WIDTH: f64 = 950.0;
/// The least and the greatest distance between two lanes.
const BETWEEN: (f64, f64) = (84.0, 230.0);
/// The distance that labels between two lanes can ask for.
const LABELS: f64 = 160.0;
/// A distance in time that is marked: so many times a message is on its way.
const GAP: u64 = 4;

/// A diagram in which everything has its place.
#[derive(Debug)]
pub struct DiagramLayout {
    /// Its width, in units.
    pub width: f64,
    pub height: f64,
    /// What is drawn, from the back to the front.
    pub shapes: Vec<DiagramShape>,
}

/// Gives everything its place, with as little room between two moments as leaves no text with a line through it.
pub fn layout(diagram: &MessageDiagram) -> DiagramLayout {
    let mut tried = STEPS.into_iter().map(|step| with_rows(diagram, step));
    let mut best = tried.next().expect("there is a first step");
    for next in tried {
        if best.1 == 0 {
            break;
        }
        if next.1 < best.1 {
            best = next;
        }
    }
    best.0
}

/// Gives everything its place in rows of a height, and counts the texts that have a line through them.
fn with_rows(diagram: &MessageDiagram, step: f64) -> (DiagramLayout, usize) {
    let places = DiagramPlaces::new(diagram, step);
    let (mut shapes, mut messages, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let mut occupied = OccupiedPlaces::default();
    lanes::bands(diagram, &places, &mut shapes);
    lanes::lines(diagram, &places, &mut occupied, &mut shapes);
    lanes::brackets(diagram, &places, &mut shapes);
    arrows::draw(diagram, &places, &mut messages);
    occupied.draw(&shapes);
    occupied.draw(&messages);
    lanes::spans(diagram, &places, &mut occupied, (&mut shapes, &mut texts));
    times(&places, &mut shapes);
    breaks(&places, &mut occupied, (&mut shapes, &mut texts));
    shapes.append(&mut messages);
    shapes.append(&mut texts);
    lanes::marks(diagram, &places, &mut occupied, &mut shapes);
    arrows::labels(diagram, &places, &mut occupied, &mut shapes);
    let layout = DiagramLayout {
        width: places.width,
        height: places.bottom + 22.0,
        shapes,
    };
    (layout, occupied.struck())
}

/// The times of some rows, at the left.
fn times(places: &DiagramPlaces, shapes: &mut Vec<DiagramShape>) {
    let mut free = 0.0;
    let mut after_break = places.breaks.iter().map(|stop| stop.y).peekable();
    for row in &places.rows {
        let mut broken = false;
        while after_break.next_if(|y| *y <= row.y).is_some() {
            broken = true;
        }
        if row.y >= free || broken {
            let at = (TIMES_END, row.y + 4.0);
            shapes.push(DiagramShape::words(DiagramInk::Faint, at, Anchor::End, time(row.time)));
            free = row.y + TIME_STEP;
        }
    }
}

/// `12.34 ms`, cut to what there is room for: `1234.5 ms`.
fn time(ns: u64) -> String {
    let (ms, us) = (ns / 1_000_000, ns / 1_000 % 1_000);
    match ms {
        0..1_000 => format!("{ms}.{:02} ms", us / 10),
        _ => format!("{ms}.{} ms", us / 100),
    }
}

/// Where much time passes, or messages are left out.
fn breaks(
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    (shapes, texts): (&mut Vec<DiagramShape>, &mut Vec<DiagramShape>),
) {
    for stop in &places.breaks {
        if stop.omits {
            omission(stop, places, occupied, (shapes, texts));
            continue;
        }
        // Lanes are broken where more time passes than the picture has room for.
        let mut slashes = Vec::new();
        for lane in 0..places.lanes {
            let x = places.x(lane);
            for y in [stop.y + 3.0, stop.y + 6.0] {
                let (from, to) = ((x - 5.0, y), (x + 5.0, y - 4.0));
                slashes.push(DiagramShape::line(DiagramInk::Faint, DiagramStroke::Thin, from, to));
            }
        }
        occupied.draw(&slashes);
        shapes.append(&mut slashes);
        let words = format!("… {}", stop.words);
        shapes.push(DiagramShape::words(
            DiagramInk::Faint,
            (TIMES_END, stop.y + 5.0),
            Anchor::End,
            words,
        ));
    }
}

/// What is left out, in words where fewest arrows go, and a line beside them.
fn omission(
    stop: &RowBreak,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    (shapes, texts): (&mut Vec<DiagramShape>, &mut Vec<DiagramShape>),
) {
    let words = text::clip(&stop.words, 150);
    let (left, right) = (places.left + 8.0, places.right);
    let width = text_width(&words);
    let steps = ((right - left - width) / 12.0).max(0.0) as usize;
    let places = (0..=steps).map(|step| (left + 12.0 * step as f64, stop.y + 4.0));
    let cost = |at: &Point| occupied.cost(LabelBox::at(*at, width));
    let at = places.min_by(|one, other| cost(one).total_cmp(&cost(other)));
    let at = at.unwrap_or((left, stop.y + 4.0));
    let dots = [(left - 8.0, at.0 - 6.0), (at.0 + width + 6.0, right)].map(|(from, to)| {
        let ends = ((from, stop.y), (to.max(from), stop.y));
        DiagramShape::line(DiagramInk::Faint, DiagramStroke::Dotted, ends.0, ends.1)
    });
    occupied.draw(&dots);
    shapes.extend(dots);
    let area = LabelBox::at(at, width);
    occupied.write(
        area,
        DiagramShape::words(DiagramInk::Faint, at, Anchor::Start, words),
        texts,
    );
}

/// A moment with its height.
#[derive(Debug, Clone, Copy)]
struct DiagramRow {
    /// The moment.
    time: u64,
    /// Its height.
    y: f64,
}

/// What stands between two rows.
#[derive(Debug, Clone)]
struct RowBreak {
    /// Its height.
    y: f64,
    /// What is written there.
    words: String,
    /// Whether messages are left out there; else it is only a long time.
    omits: bool,
}

/// Places of everything.
#[derive(Debug)]
pub struct DiagramPlaces {
    /// The moments in order.
    rows: Vec<DiagramRow>,
    /// What stands between them.
    breaks: Vec<RowBreak>,
    /// The column of each band.
    pub bands: Vec<usize>,
    /// The column of each bracket.
    pub brackets: Vec<usize>,
    /// Where backgrounds begin, at the left of the lanes.
    pub left: f64,
    /// Where they end.
    pub right: f64,
    /// How many lanes there are.
    lanes: usize,
    /// The lane at the left.
    first: f64,
    /// From one lane to the next.
    between: f64,
    /// The whole width.
    width: f64,
    /// Below the last row.
    pub bottom: f64,
}

impl DiagramPlaces {
    /// The places in a diagram, with this height from one row to the next.
    pub fn new(diagram: &MessageDiagram, step: f64) -> Self {
        let spans = diagram.bands.iter().map(|band| (band.from, band.until));
        let bands = columns(spans, ROUNDS);
        let spans = diagram.brackets.iter().map(|bracket| (bracket.from, bracket.until));
        let brackets = columns(spans, BRACKETS);
        let count = |columns: &[usize]| columns.iter().max().map_or(0, |most| most + 1) as f64;
        let left = TIMES + ROUND * count(&bands);
        let lanes = diagram.lanes.len().max(1) as f64;
        let beside = beside(diagram);
        let first = left + beside.0;
        let outside = beside.1 + BRACKET * count(&brackets);
        let room = WIDTH - first - outside;
        let labels = diagram
            .arrows
            .iter()
            .map(|arrow| text_width(&arrows::label(arrow)) + 12.0);
        let labels = labels.fold(BETWEEN.0, f64::max).min(LABELS);
        let names = diagram.lanes.iter();
        let names = names.map(|lane| arrows::words_width(&text::clip(&lane.name, 20), true) + 10.0);
        let least = names.fold(labels, f64::max).min(BETWEEN.1);
        let between = (room / (lanes - 1.0).max(1.0)).clamp(least, BETWEEN.1);
        let right = first + between * (lanes - 1.0) + beside.1;
        let (rows, breaks, bottom) = rows(diagram, step);
        let stubs = diagram
            .arrows
            .iter()
            .any(|arrow| !matches!(arrow.end, ArrowEnd::Received(_)));
        let bottom = bottom + if stubs { ROW } else { 0.0 };
        let width = right + BRACKET * count(&brackets) + 4.0;
        Self {
            rows,
            breaks,
            bands,
            brackets,
            left,
            right,
            lanes: diagram.lanes.len(),
            first,
            between,
            width,
            bottom,
        }
    }

    /// Whether a text lies between the names of the lanes, and not beside the rounds.
    pub fn has(&self, text: LabelBox) -> bool {
        text.is_within((self.left, HEAD - 6.0), (self.right + 8.0, self.bottom + 3.0))
    }

    /// The parts of the line of each lane, from top to bottom: where messages are left out there is none.
    pub fn parts(&self) -> Vec<(f64, f64)> {
        let omitted = self.breaks.iter().filter(|stop| stop.omits).map(|stop| stop.y);
        let begins = std::iter::once(HEAD - 4.0).chain(omitted.clone().map(|y| y + 8.0));
        let ends = omitted.map(|y| y - 8.0).chain([self.bottom]);
        begins.zip(ends).filter(|(from, to)| to > from).collect()
    }

    /// The line of a lane.
    pub fn x(&self, lane: usize) -> f64 {
        self.first + self.between * lane as f64
    }

    /// The height of a moment: of its row, else between those around it.
    pub fn y(&self, time: u64) -> f64 {
        let at = self.rows.partition_point(|row| row.time < time);
        match (
            at.checked_sub(1).and_then(|before| self.rows.get(before)),
            self.rows.get(at),
        ) {
            (_, Some(row)) if row.time == time => row.y,
            (Some(before), Some(after)) => f64::midpoint(before.y, after.y),
            (None, Some(after)) => after.y - ROW / 2.0,
            (Some(before), None) => before.y + ROW / 2.0,
            (None, None) => HEAD,
        }
    }
}

/// Room at the left and at the right of the lanes: of labels that stand there.
fn beside(diagram: &MessageDiagram) -> (f64, f64) {
    let widest = |lane: usize| {
        let marks = diagram.marks.iter().filter(|mark| mark.lane == Some(lane));
        marks.map(|mark| text_width(&mark.label)).fold(0.0, f64::max)
    };
    let width = |lane: &DiagramLane| text_width(&text::clip(&lane.name, 20));
    let name = |lane: usize| diagram.lanes.get(lane).map_or(0.0, width);
    let last = diagram.lanes.len().saturating_sub(1);
    let fault = |span: &FaultSpan| text_width(&text::clip(span.fault.name, 12)) + 14.0;
    let faults = diagram.spans.iter().filter(|span| span.lane == 0).map(fault);
    let left = faults.fold((name(0) / 2.0 + 6.0).max(30.0), f64::max);
    let right = (widest(last) * 1.1 + 24.0)
        .max(name(last) / 2.0 + 24.0)
        .clamp(40.0, 200.0);
    (left, right)
}

/// The column of each span: one in which the spans before it have ended, by their beginnings.
fn columns(spans: impl Iterator<Item = (u64, u64)>, most: usize) -> Vec<usize> {
    let spans: Vec<(u64, u64)> = spans.collect();
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&at| spans[at]);
    let mut ends: Vec<u64> = Vec::new();
    let mut columns = vec![0; spans.len()];
    for at in order {
        let (from, until) = spans[at];
        let free = ends.iter().position(|end| *end < from).unwrap_or(ends.len());
        let column = free.min(most - 1);
        match ends.get_mut(column) {
            Some(end) => *end = until.max(*end),
            None => ends.push(until),
        }
        columns[at] = column;
    }
    columns
}

fn moments(diagram: &MessageDiagram) -> BTreeSet<u64> {
    let arrows = diagram.arrows.iter().flat_map(|arrow| [arrow.sent, arrow.until()]);
    let marks = diagram.marks.iter().map(|mark| mark.time);
    let spans = diagram.spans.iter().flat_map(|span| [span.from, span.until]).flatten();
    arrows.chain(marks).chain(spans).collect()
}

/// The time that is long in a diagram.
fn long(diagram: &MessageDiagram) -> u64 {
    let travel = diagram.arrows.iter().filter_map(|arrow| match arrow.end {
        ArrowEnd::Received(at) => Some(at.saturating_sub(arrow.sent)),
        _ => None,
    });
    let mut travel: Vec<u64> = travel.collect();
    travel.sort_unstable();
    travel
        .get(travel.len() / 2)
        .map_or(u64::MAX, |usual| usual.saturating_mul(GAP).max(1))
}

fn rows(diagram: &MessageDiagram, step: f64) -> (Vec<DiagramRow>, Vec<RowBreak>, f64) {
    let long = long(diagram);
    let (mut rows, mut breaks): (Vec<DiagramRow>, Vec<RowBreak>) = (Vec::new(), Vec::new());
    let mut y = HEAD + ROW;
    let mut omissions = diagram.omissions.iter().peekable();
    for time in moments(diagram) {
        let mut omits = false;
        while let Some(omission) = omissions.next_if(|omission| omission.before <= time) {
            omits = true;
            let words = omission.words.clone();
            breaks.push(RowBreak { y, words, omits });
            y += ROW + 4.0;
        }
        let passed = rows.last().map_or(0, |row: &DiagramRow| time - row.time);
        if !omits && passed > long {
            let words = text::duration(passed);
            breaks.push(RowBreak {
                y: y - 2.0,
                words,
                omits,
            });
            y += ROW;
        }
        rows.push(DiagramRow { time, y });
        y += step;
    }
    for omission in omissions {
        let words = omission.words.clone();
        breaks.push(RowBreak { y, words, omits: true });
        y += ROW + 4.0;
    }
    (rows, breaks, y)
}
