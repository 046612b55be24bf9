//! Labels where they cover little.

use super::shapes::Point;
use crate::svg::text_width;

/// Height of a line of text.
const HEIGHT: f64 = 12.0;

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
    pub fn covered(&self, place: LabelBox) -> f64 {
        let common: f64 = self.texts.iter().map(|other| place.common(*other)).sum();
        common / place.size()
    }

    /// How bad a place is: covering a text is worse than covering lines.
    pub fn cost(&self, place: LabelBox) -> f64 {
        let lines = self.lines.iter().filter(|line| place.is_crossed(**line)).count();
        20.0 * self.covered(place) + lines as f64
    }
}
