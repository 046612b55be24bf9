//! Messages as arrows, with labels where they cover little.

use super::lanes::ink;
use super::layout::{DiagramPlaces, ROW};
use super::shapes::{Anchor, DiagramShape, DiagramStroke, Point};
use super::{ArrowEnd, DiagramArrow, DiagramTone, MessageDiagram};
use crate::svg::text_width;
use crate::text;

/// The part of its way that a message comes which is lost at once, and one that nobody receives in the end.
const LOST: (f64, f64) = (0.42, 0.86);
/// The part of its way that is drawn of a message that is on its way.
const STUB: f64 = 0.3;
/// Where on an arrow its label may be, the best place first.
const ALONG: [f64; 9] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85];
/// The share of a label that others may cover before it is left out, if another one of its broadcast is written.
const COVERED: f64 = 0.2;
/// Height of a line of text.
const HEIGHT: f64 = 12.0;

/// Where an arrow begins and ends.
pub fn line(arrow: &DiagramArrow, places: &DiagramPlaces) -> (Point, Point) {
    let (from, to) = (places.x(arrow.from), places.x(arrow.to));
    let begin = (from, places.y(arrow.sent));
    let part = |share: f64, y: f64| (from + (to - from) * share, y);
    let end = match arrow.end {
        ArrowEnd::Received(at) => (to, places.y(at)),
        ArrowEnd::Lost(at) if at <= arrow.sent => part(LOST.0, begin.1 + ROW * 0.7),
        ArrowEnd::Lost(at) => part(LOST.1, places.y(at)),
        ArrowEnd::OnItsWay => part(STUB, begin.1 + ROW * 0.7),
    };
    (begin, end)
}

/// Draws the arrows; labels are placed afterwards.
pub fn draw(diagram: &MessageDiagram, places: &DiagramPlaces, shapes: &mut Vec<DiagramShape>) {
    // What stands out lies on top.
    for emphasis in [false, true] {
        let layer = |arrow: &&DiagramArrow| (arrow.tone != DiagramTone::Plain) == emphasis;
        for arrow in diagram.arrows.iter().filter(layer) {
            one(arrow, line(arrow, places), shapes);
        }
    }
}

fn one(arrow: &DiagramArrow, (begin, end): (Point, Point), shapes: &mut Vec<DiagramShape>) {
    let ink = ink(arrow.tone);
    let stroke = match (arrow.end, arrow.copy, arrow.tone) {
        (ArrowEnd::OnItsWay, ..) => DiagramStroke::Dotted,
        (_, true, _) => DiagramStroke::Dashed,
        (.., DiagramTone::Plain) => DiagramStroke::Thin,
        _ => DiagramStroke::Bold,
    };
    shapes.push(DiagramShape::line(ink, stroke, begin, end));
    let stroke = DiagramStroke::Bold;
    match arrow.end {
        ArrowEnd::Received(_) => shapes.push(head(arrow, begin, end)),
        ArrowEnd::Lost(_) => {
            for slant in [-4.0, 4.0] {
                let (from, to) = ((end.0 - 4.0, end.1 - slant), (end.0 + 4.0, end.1 + slant));
                shapes.push(DiagramShape::line(ink, stroke, from, to));
            }
        }
        ArrowEnd::OnItsWay => {}
    }
}

/// The head of an arrow.
fn head(arrow: &DiagramArrow, begin: Point, end: Point) -> DiagramShape {
    let (along, down) = (end.0 - begin.0, end.1 - begin.1);
    let length = along.hypot(down).max(1.0);
    let (along, down) = (along / length, down / length);
    let foot = (end.0 - 9.0 * along, end.1 - 9.0 * down);
    DiagramShape::Polygon {
        ink: ink(arrow.tone),
        points: vec![
            end,
            (foot.0 - 3.5 * down, foot.1 + 3.5 * along),
            (foot.0 + 3.5 * down, foot.1 - 3.5 * along),
        ],
    }
}

/// Writes a label on each arrow where it covers least. Of messages that one node sends to many at once each has a
/// label where there is room, and one of them in any case.
pub fn labels(
    diagram: &MessageDiagram,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    shapes: &mut Vec<DiagramShape>,
) {
    let mut written: Vec<(usize, u64, &str)> = Vec::new();
    let mut order: Vec<&DiagramArrow> = diagram.arrows.iter().collect();
    order.sort_by_key(|arrow| arrow.tone == DiagramTone::Plain);
    for arrow in order {
        let words = text::clip(&arrow.label, 44);
        let (begin, end) = line(arrow, places);
        let width = text_width(&words);
        let place = |share: f64, above: f64| {
            let (x, y) = (begin.0 + (end.0 - begin.0) * share, begin.1 + (end.1 - begin.1) * share);
            (x - width / 2.0, y + above)
        };
        // A label beside the end of a part of an arrow is no worse than one on it.
        let all = ALONG.iter().enumerate().flat_map(|(nth, share)| {
            [(-3.0, 0.0), (4.0, 0.6), (12.0, 0.3)]
                .map(|(above, worse)| (place(*share, above), worse + 0.3 * nth as f64))
        });
        let cost = |(at, worse): &(Point, f64)| {
            let inside = at.0 > places.left && at.0 + width < places.right;
            occupied.cost(LabelBox::at(*at, &words)) + worse + if inside { 0.0 } else { 40.0 }
        };
        let Some((at, _)) = all.min_by(|one, other| cost(one).total_cmp(&cost(other))) else {
            continue;
        };
        let broadcast = (arrow.from, arrow.sent, arrow.label.as_str());
        let area = LabelBox::at(at, &words);
        if written.contains(&broadcast) && occupied.covered(area) > COVERED {
            continue;
        }
        written.push(broadcast);
        occupied.add(area);
        let text = DiagramShape::words(ink(arrow.tone), at, Anchor::Start, words);
        shapes.push(if arrow.tone == DiagramTone::Plain {
            text
        } else {
            text.bold()
        });
    }
}

/// A rectangle: left, top, right, bottom.
#[derive(Debug, Clone, Copy)]
pub struct LabelBox {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl LabelBox {
    /// The rectangle of a text that begins at a place.
    pub fn at((x, y): Point, words: &str) -> Self {
        Self {
            left: x - 1.0,
            top: y - 9.5,
            right: x + text_width(words) + 1.0,
            bottom: y - 9.5 + HEIGHT,
        }
    }

    fn size(self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top)
    }

    fn common(self, other: Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// Whether a line goes through it.
    fn is_crossed(self, (from, to): (Point, Point)) -> bool {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [
            (from.0, to.0 - from.0, self.left, self.right),
            (from.1, to.1 - from.1, self.top, self.bottom),
        ];
        for (start, along, low, high) in sides {
            if along.abs() < 1e-9 {
                if start < low || start > high {
                    return false;
                }
                continue;
            }
            let (one, other) = ((low - start) / along, (high - start) / along);
            enter = enter.max(one.min(other));
            leave = leave.min(one.max(other));
        }
        enter <= leave
    }
}

/// What is on a diagram already.
#[derive(Debug, Default)]
pub struct OccupiedPlaces {
    texts: Vec<LabelBox>,
    lines: Vec<(Point, Point)>,
}

impl OccupiedPlaces {
    /// A line is drawn there.
    pub fn add_line(&mut self, from: Point, to: Point) {
        self.lines.push((from, to));
    }

    /// A text is written there.
    pub fn add(&mut self, place: LabelBox) {
        self.texts.push(place);
    }

    /// The share of a rectangle that texts cover already.
    fn covered(&self, place: LabelBox) -> f64 {
        let common: f64 = self.texts.iter().map(|other| place.common(*other)).sum();
        common / place.size()
    }

    /// How bad a place is: covering a text is worse than covering lines.
    pub fn cost(&self, place: LabelBox) -> f64 {
        let lines = self.lines.iter().filter(|line| place.is_crossed(**line)).count();
        20.0 * self.covered(place) + lines as f64
    }
}
