//! What a diagram consists of when all places are known.

use zooquake_history::FaultKind;

/// A place, in units from the upper left corner.
pub type Point = (f64, f64);

/// A colour by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagramInk {
    /// Of text and arrows.
    Ink,
    /// Of what is there to be looked up.
    Faint,
    Lane,
    /// Of what is written on dark discs, and of what hides lines behind a text.
    Paper,
    /// Of what a proof ends with.
    Violation,
    /// Of the first of two sets.
    First,
    /// Of the second of two sets.
    Second,
    /// Of the background of a round, by its number among those of the diagram.
    Round(usize),
    /// Of the bar beside a round.
    RoundBar(usize),
    Fault(&'static FaultKind),
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagramStroke {
    /// One unit wide.
    Thin,
    /// Two units wide.
    Bold,
    /// Thin and dashed.
    Dashed,
    /// Thin and dotted.
    Dotted,
}

/// Where a text lies beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum DiagramShape {
    /// A line through points.
    Line {
        /// Its colour.
        ink: DiagramInk,
        /// How it is drawn.
        stroke: DiagramStroke,
        points: Vec<Point>,
    },
    /// A filled area between points.
    Polygon {
        /// Its colour.
        ink: DiagramInk,
        points: Vec<Point>,
    },
    /// A disc, or a ring.
    Disc {
        /// Its colour.
        ink: DiagramInk,
        middle: Point,
        radius: f64,
        /// Whether it is filled.
        filled: bool,
    },
    /// A rectangle with the hatch of a fault.
    Hatch {
        fault: &'static FaultKind,
        /// The upper left corner.
        corner: Point,
        /// Width and height.
        size: Point,
    },
    /// A line of text whose foot is at a place.
    Words {
        /// Its colour.
        ink: DiagramInk,
        /// The place.
        at: Point,
        /// Where it lies beside it.
        anchor: Anchor,
        /// Whether it is bold.
        bold: bool,
        /// The text.
        words: String,
    },
}

impl DiagramShape {
    /// A rectangle.
    pub fn area(ink: DiagramInk, (x, y): Point, (width, height): Point) -> Self {
        let points = vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        Self::Polygon { ink, points }
    }

    /// A straight line.
    pub fn line(ink: DiagramInk, stroke: DiagramStroke, from: Point, to: Point) -> Self {
        let points = vec![from, to];
        Self::Line { ink, stroke, points }
    }

    /// A text.
    pub fn words(ink: DiagramInk, at: Point, anchor: Anchor, words: impl Into<String>) -> Self {
        Self::Words {
            ink,
            at,
            anchor,
            bold: false,
            words: words.into(),
        }
    }

    /// The same; a text becomes bold.
    pub fn bold(mut self) -> Self {
        if let Self::Words { bold, .. } = &mut self {
            *bold = true;
        }
        self
    }
}
