//! Lanes with what nodes do, and what is wrong with them.

use super::arrows::{HEIGHT, LabelBox, OccupiedPlaces, words_width};
use super::layout::{BRACKET, DiagramPlaces, HEAD, ROUND, ROW};
use super::shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point};
use super::{DiagramTone, FaultSpan, LaneMark, MarkSign, MessageDiagram};
use crate::text;

/// The colour of a tone.
pub fn ink(tone: DiagramTone) -> DiagramInk {
    match tone {
        DiagramTone::Plain => DiagramInk::Ink,
        DiagramTone::First => DiagramInk::First,
        DiagramTone::Second => DiagramInk::Second,
    }
}

/// Rounds, as backgrounds with bars and names at the left.
pub fn bands(diagram: &MessageDiagram, places: &DiagramPlaces, shapes: &mut Vec<DiagramShape>) {
    for (number, (band, &column)) in diagram.bands.iter().zip(&places.bands).enumerate() {
        let (top, bottom) = (places.y(band.from) - ROW / 2.0, places.y(band.until) + ROW / 2.0);
        let x = places.left - ROUND * (column + 1) as f64 + 4.0;
        let background = ((x, top), (places.right - x, bottom - top));
        shapes.push(DiagramShape::area(
            DiagramInk::Round(number),
            background.0,
            background.1,
        ));
        shapes.push(DiagramShape::area(
            DiagramInk::RoundBar(number),
            (x, top),
            (3.0, bottom - top),
        ));
        let words = text::clip(&band.label, 12);
        shapes.push(DiagramShape::words(DiagramInk::Ink, (x + 6.0, top + 11.0), Anchor::Start, words).bold());
    }
}

/// Faults of many nodes, as brackets at the right.
pub fn brackets(diagram: &MessageDiagram, places: &DiagramPlaces, shapes: &mut Vec<DiagramShape>) {
    for (bracket, &column) in diagram.brackets.iter().zip(&places.brackets) {
        let ink = DiagramInk::Fault(bracket.fault);
        let x = places.right + 8.0 + BRACKET * column as f64;
        let (top, bottom) = (places.y(bracket.from), places.y(bracket.until));
        let points = vec![(x - 5.0, top), (x, top), (x, bottom), (x - 5.0, bottom)];
        let stroke = DiagramStroke::Bold;
        shapes.push(DiagramShape::Line { ink, stroke, points });
        let words = text::clip(&bracket.label, 10);
        shapes.push(DiagramShape::words(
            DiagramInk::Ink,
            (x + 4.0, top + 11.0),
            Anchor::Start,
            words,
        ));
    }
}

/// The lines and names of lanes.
pub fn lines(
    diagram: &MessageDiagram,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    shapes: &mut Vec<DiagramShape>,
) {
    for (lane, node) in diagram.lanes.iter().enumerate() {
        let x = places.x(lane);
        for (from, to) in places.parts() {
            let stroke = DiagramStroke::Thin;
            shapes.push(DiagramShape::line(DiagramInk::Lane, stroke, (x, from), (x, to)));
        }
        let name = text::clip(&node.name, 20);
        for y in [HEAD - 10.0, places.bottom + 14.0] {
            let width = words_width(&name, true);
            occupied.add(LabelBox::at((x - width / 2.0, y), width));
            shapes.push(DiagramShape::words(DiagramInk::Ink, (x, y), Anchor::Middle, name.clone()).bold());
        }
        let begin = x - 5.0 * (node.tones.len().saturating_sub(1)) as f64;
        for (nth, tone) in node.tones.iter().enumerate() {
            shapes.push(DiagramShape::Disc {
                ink: ink(*tone),
                middle: (begin + 10.0 * nth as f64, 6.0),
                radius: 4.0,
                filled: true,
            });
        }
    }
}

/// What is wrong with nodes, on their lanes: a node that does nothing is hatched, one that is cut off has a bar beside
/// its line. The names of the faults are texts, which lie above what else is drawn.
pub fn spans(
    diagram: &MessageDiagram,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    (shapes, texts): (&mut Vec<DiagramShape>, &mut Vec<DiagramShape>),
) {
    for span in &diagram.spans {
        let top = span.from.map_or(HEAD - 2.0, |from| places.y(from));
        let bottom = span.until.map_or(places.bottom, |until| places.y(until)).max(top + 3.0);
        let x = places.x(span.lane);
        let (left, width) = if does_nothing(span) {
            (x - 6.0, 12.0)
        } else {
            (x - 10.0, 5.0)
        };
        shapes.push(DiagramShape::Hatch {
            fault: span.fault,
            corner: (left, top),
            size: (width, bottom - top),
        });
        occupied.add_area(LabelBox::area((left, top), (width, bottom - top)));
        let words = text::clip(span.fault.name, 12);
        let rows = ((bottom - top - HEIGHT) / 4.0).max(0.0) as usize;
        let width = words_width(&words, false);
        let down = (0..=rows).map(|row| (left - 3.0 - width, top + 10.0 + 4.0 * row as f64));
        let cost = |at: &Point| occupied.cost(LabelBox::at(*at, width));
        let Some(at) = down.min_by(|one, other| cost(one).total_cmp(&cost(other))) else {
            continue;
        };
        let text = DiagramShape::words(DiagramInk::Faint, at, Anchor::Start, words.clone());
        occupied.write(LabelBox::at(at, width), text, texts);
    }
}

fn does_nothing(span: &FaultSpan) -> bool {
    span.fault.fatal || span.fault.freezes || span.fault.name == "kill"
}

/// What nodes do.
pub fn marks(
    diagram: &MessageDiagram,
    places: &DiagramPlaces,
    occupied: &mut OccupiedPlaces,
    shapes: &mut Vec<DiagramShape>,
) {
    for mark in &diagram.marks {
        let y = places.y(mark.time);
        let words = text::clip(&mark.label, 64);
        let Some(lane) = mark.lane else {
            across(mark, places, y, shapes);
            continue;
        };
        let x = places.x(lane);
        sign(mark, (x, y), shapes);
        let beside = if mark.step.is_some() { 12.0 } else { 8.0 };
        let width = words_width(&words, mark.sign != MarkSign::Change);
        let (right, left) = (x + beside, x - beside - width);
        let sides = [4.0, -4.0, 12.0, -9.0, 17.0].map(|below| [(right, y + below), (left, y + below)]);
        let sides = sides.as_flattened();
        let cost = |(nth, at): &(usize, (f64, f64))| {
            let outside = if places.has(LabelBox::at(*at, width)) {
                0.0
            } else {
                60.0
            };
            occupied.cost(LabelBox::at(*at, width)) + outside + 0.8 * *nth as f64
        };
        let best = sides
            .iter()
            .copied()
            .enumerate()
            .min_by(|one, other| cost(one).total_cmp(&cost(other)));
        let at = best.map_or(sides[0], |(_, at)| at);
        let area = LabelBox::at(at, width);
        let text = DiagramShape::words(DiagramInk::Ink, at, Anchor::Start, words);
        let text = match mark.sign {
            MarkSign::Change => text,
            _ => text.bold(),
        };
        occupied.write(area, text, shapes);
        occupied.add_area(LabelBox::area((x - 7.0, y - 5.5), (14.0, 12.0)));
    }
}

/// What concerns all lanes.
fn across(mark: &LaneMark, places: &DiagramPlaces, y: f64, shapes: &mut Vec<DiagramShape>) {
    let begin = if mark.step.is_some() {
        places.left + 22.0
    } else {
        places.left + 4.0
    };
    sign(mark, (places.left + 10.0, y), shapes);
    let words = text::clip(&mark.label, 120);
    let (from, to) = ((begin + words_width(&words, true) + 6.0, y), (places.right, y));
    shapes.push(DiagramShape::line(DiagramInk::Faint, DiagramStroke::Dashed, from, to));
    shapes.push(DiagramShape::words(DiagramInk::Ink, (begin, y + 4.0), Anchor::Start, words).bold());
}

fn sign(mark: &LaneMark, (x, y): (f64, f64), shapes: &mut Vec<DiagramShape>) {
    let disc = |ink, radius, filled| DiagramShape::Disc {
        ink,
        middle: (x, y),
        radius,
        filled,
    };
    if let Some((number, last)) = mark.step {
        let ink = if last { DiagramInk::Violation } else { DiagramInk::Ink };
        shapes.push(disc(ink, 8.0, true));
        let number = number.to_string();
        shapes.push(DiagramShape::words(DiagramInk::Paper, (x, y + 4.0), Anchor::Middle, number).bold());
        return;
    }
    if mark.lane.is_none() {
        return;
    }
    shapes.push(match mark.sign {
        MarkSign::Decision => disc(DiagramInk::Ink, 5.5, true),
        MarkSign::Change => DiagramShape::area(DiagramInk::Ink, (x - 3.0, y - 3.0), (6.0, 6.0)),
        MarkSign::Operation => disc(DiagramInk::Ink, 4.0, false),
    });
}
