//! From a diagram to shapes with places.

use super::labels::OccupiedPlaces;
use super::places::{DiagramPlaces, HEAD};
use super::shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke};
use super::{MessageDiagram, arrows, lanes};
use crate::text;

/// Room that times have at the left.
const TIMES: f64 = 60.0;
/// The least distance between two times.
const TIME_STEP: f64 = 44.0;

/// A diagram in which everything has its place.
#[derive(Debug)]
pub struct DiagramLayout {
    /// Its width, in units.
    pub width: f64,
    pub height: f64,
    /// What is drawn, from the back to the front.
    pub shapes: Vec<DiagramShape>,
}

/// Gives everything its place.
pub fn layout(diagram: &MessageDiagram) -> DiagramLayout {
    let places = DiagramPlaces::new(diagram);
    let mut shapes = Vec::new();
    let mut occupied = OccupiedPlaces::default();
    for lane in 0..diagram.lanes.len() {
        let x = places.x(lane);
        occupied.add_line((x, HEAD), (x, places.bottom));
    }
    for arrow in &diagram.arrows {
        let (from, to) = arrows::line(arrow, &places);
        occupied.add_line(from, to);
    }
    lanes::bands(diagram, &places, &mut shapes);
    lanes::lines(diagram, &places, &mut shapes);
    lanes::spans(diagram, &places, &mut occupied, &mut shapes);
    times(&places, &mut shapes);
    breaks(&places, &mut shapes);
    arrows::draw(diagram, &places, &mut shapes);
    lanes::marks(diagram, &places, &mut occupied, &mut shapes);
    arrows::labels(diagram, &places, &mut occupied, &mut shapes);
    lanes::brackets(diagram, &places, &mut shapes);
    DiagramLayout {
        width: places.width,
        height: places.bottom + 22.0,
        shapes,
    }
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
            let at = (TIMES, row.y + 4.0);
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
fn breaks(places: &DiagramPlaces, shapes: &mut Vec<DiagramShape>) {
    for stop in &places.breaks {
        let (left, right) = (places.left, places.right);
        if stop.omits {
            let stroke = DiagramStroke::Dotted;
            shapes.push(DiagramShape::line(
                DiagramInk::Faint,
                stroke,
                (left, stop.y),
                (right, stop.y),
            ));
            let words = text::clip(&stop.words, 150);
            let at = (left + 8.0, stop.y + 4.0);
            shapes.push(DiagramShape::words(DiagramInk::Faint, at, Anchor::Start, words));
            continue;
        }
        // Lanes are broken where more time passes than the picture has room for.
        for lane in 0..places.lanes {
            let x = places.x(lane);
            for y in [stop.y + 3.0, stop.y + 6.0] {
                let (from, to) = ((x - 5.0, y), (x + 5.0, y - 4.0));
                shapes.push(DiagramShape::line(DiagramInk::Faint, DiagramStroke::Thin, from, to));
            }
        }
        let words = format!("… {}", stop.words);
        shapes.push(DiagramShape::words(
            DiagramInk::Faint,
            (TIMES, stop.y + 5.0),
            Anchor::End,
            words,
        ));
    }
}
