//! Messages as arrows.

use super::labels::{LabelBox, OccupiedPlaces};
use super::lanes::ink;
use super::places::{DiagramPlaces, ROW};
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
