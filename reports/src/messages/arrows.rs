//! Messages as arrows, with labels where they cover little.

use super::lanes::ink;
use super::layout::{DiagramPlaces, ROW};
use super::shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point};
use super::{ArrowEnd, DiagramArrow, DiagramTone, MessageDiagram};
use crate::svg::text_width;
use crate::text;

/// The part of its way that a message comes which is lost at once.
const LOST: f64 = 0.42;
/// How far before the lane a message ends that arrives and that nobody receives there.
const BEFORE: f64 = 8.0;
/// The part of its way that is drawn of a message that is on its way.
const STUB: f64 = 0.3;
/// Where on an arrow its label may be, the best place first.
const ALONG: [f64; 15] = [
    0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.14, 0.86, 0.08, 0.92,
];
/// How much farther from its line than it must a label may be.
const ASIDE: [f64; 5] = [0.0, 4.0, 9.0, 15.0, 22.0];
/// How bad it is to cover a text, and to be crossed by a line.
const COVERS: f64 = 60.0;
const CROSSED: f64 = 15.0;
/// The share of a label that others may cover before it is left out, if another one of its broadcast is written.
const COVERED: f64 = 0.2;
/// Height of a line of text.
pub const HEIGHT: f64 = 12.0;

/// Where an arrow begins and ends.
pub fn line(arrow: &DiagramArrow, places: &DiagramPlaces) -> (Point, Point) {
    let (from, to) = (places.x(arrow.from), places.x(arrow.to));
    let begin = (from, places.y(arrow.sent));
    let part = |share: f64, y: f64| (from + (to - from) * share, y);
    let end = match arrow.end {
        ArrowEnd::Received(at) => (to, places.y(at)),
        ArrowEnd::Lost(at) if at <= arrow.sent => part(LOST, begin.1 + ROW * 0.7),
        ArrowEnd::Lost(at) => (to - BEFORE.copysign(to - from), places.y(at)),
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

/// Writes a label beside each arrow where it covers least and no line goes through it. Of messages that one node sends
/// to many, or again, each has a label where there is room, and one of them in any case.
pub fn labels(
    diagram: &MessageDiagram,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    shapes: &mut Vec<DiagramShape>,
) {
    let mut written: Vec<(usize, &str)> = Vec::new();
    let mut order: Vec<&DiagramArrow> = diagram.arrows.iter().collect();
    order.sort_by_key(|arrow| arrow.tone == DiagramTone::Plain);
    for arrow in order {
        let words = label(arrow);
        let width = words_width(&words, arrow.tone != DiagramTone::Plain);
        let cost = |(at, worse): &(Point, f64)| {
            let outside = if places.has(LabelBox::at(*at, width)) {
                0.0
            } else {
                40.0
            };
            occupied.cost(LabelBox::at(*at, width)) + worse + outside
        };
        let all = beside(line(arrow, places), width);
        let Some((at, _)) = all.min_by(|one, other| cost(one).total_cmp(&cost(other))) else {
            continue;
        };
        let broadcast = (arrow.from, arrow.label.as_str());
        let area = LabelBox::at(at, width);
        let hidden = occupied.covered(area) > COVERED || occupied.crossings(area) > 0;
        if hidden && written.contains(&broadcast) {
            continue;
        }
        written.push(broadcast);
        let text = DiagramShape::words(ink(arrow.tone), at, Anchor::Start, words);
        let text = match arrow.tone {
            DiagramTone::Plain => text,
            _ => text.bold(),
        };
        occupied.write(area, text, shapes);
    }
}

/// Room that a text takes; a bold one is wider.
pub fn words_width(words: &str, bold: bool) -> f64 {
    text_width(words) * if bold { 1.08 } else { 1.0 }
}

/// The label of an arrow.
pub fn label(arrow: &DiagramArrow) -> String {
    text::clip(&arrow.label, 44)
}

/// Where a label of a width may begin that belongs to a line: above it and below it, so far from it that the line does
/// not go through it, each place with how much worse it is than the best.
fn beside((begin, end): (Point, Point), width: f64) -> impl Iterator<Item = (Point, f64)> {
    let (along, down) = (end.0 - begin.0, end.1 - begin.1);
    let clear = (down / along * width / 2.0).abs().min(down.abs());
    let lifts = ASIDE.into_iter().flat_map(move |aside| {
        let far = 0.15 * aside;
        [(-(clear + aside + 4.0), far), (clear + aside + 11.0, far + 0.6)]
    });
    let shares = ALONG.into_iter().enumerate();
    shares.flat_map(move |(nth, share)| {
        let (x, y) = (begin.0 + along * share, begin.1 + down * share);
        lifts
            .clone()
            .map(move |(lift, far)| ((x - width / 2.0, y + lift), far + 0.2 * nth as f64))
    })
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
    /// The rectangle of a text of a width that begins at a place.
    pub fn at((x, y): Point, width: f64) -> Self {
        Self {
            left: x - 1.0,
            top: y - 9.5,
            right: x + width + 1.0,
            bottom: y - 9.5 + HEIGHT,
        }
    }

    /// The rectangle from an upper left corner, of this width and height.
    pub fn area((left, top): Point, (width, height): Point) -> Self {
        Self {
            left,
            top,
            right: left + width,
            bottom: top + height,
        }
    }

    /// Whether it lies between two corners.
    pub fn is_within(self, (left, top): Point, (right, bottom): Point) -> bool {
        self.left >= left && self.right <= right && self.top >= top && self.bottom <= bottom
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
    pub fn is_crossed(self, (from, to): (Point, Point)) -> bool {
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
    areas: Vec<LabelBox>,
    lines: Vec<(Point, Point)>,
}

impl OccupiedPlaces {
    /// These are drawn: no text is to be put onto their lines.
    pub fn draw(&mut self, shapes: &[DiagramShape]) {
        for shape in shapes {
            if let DiagramShape::Line { points, .. } = shape {
                self.lines.extend(points.windows(2).map(|ends| (ends[0], ends[1])));
            }
        }
    }

    /// A sign or a hatch is there, on its lane.
    pub fn add_area(&mut self, place: LabelBox) {
        self.areas.push(place);
    }

    /// A text is written there.
    pub fn add(&mut self, place: LabelBox) {
        self.texts.push(place);
    }

    /// Writes a text there, on a ground that hides the lines behind it if there are any.
    pub fn write(&mut self, place: LabelBox, text: DiagramShape, shapes: &mut Vec<DiagramShape>) {
        if self.crossings(place) > 0 {
            let size = (place.right - place.left, place.bottom - place.top);
            shapes.push(DiagramShape::area(DiagramInk::Paper, (place.left, place.top), size));
        }
        self.add(place);
        shapes.push(text);
    }

    /// The share of a rectangle that texts cover already.
    fn covered(&self, place: LabelBox) -> f64 {
        let others = self.texts.iter().chain(&self.areas);
        let common: f64 = others.map(|other| place.common(*other)).sum();
        common / place.size()
    }

    /// How many texts have a line through them.
    pub fn struck(&self) -> usize {
        let crossed = |text: &&LabelBox| self.crossings(**text) > 0;
        self.texts.iter().filter(crossed).count()
    }

    /// How many lines go through a rectangle.
    pub fn crossings(&self, place: LabelBox) -> usize {
        self.lines.iter().filter(|line| place.is_crossed(**line)).count()
    }

    /// How bad a place is: covering a text is worse than covering lines.
    pub fn cost(&self, place: LabelBox) -> f64 {
        COVERS * self.covered(place) + CROSSED * self.crossings(place) as f64
    }
}
