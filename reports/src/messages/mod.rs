//! Space-time diagrams, as Lamport's papers have them: a vertical line for each node, arrows for messages, time
//! downwards. The drawing is of any messages, not of a protocol; one layout becomes an SVG or a PNG.
//!
//! Time is not to scale: each moment at which something is sent, received, lost or done has a row of its own.

mod arrows;
mod lanes;
mod layout;
mod shapes;
mod svg;
#[cfg(test)]
pub mod tests;

pub use layout::layout;
pub use shapes::{Anchor, DiagramInk, DiagramShape, DiagramStroke, Point};
pub use svg::{draw, file};

use zooquake_history::FaultKind;

/// What a diagram shows. Lanes are numbers; times are nanoseconds since the run began.
#[derive(Debug, Clone, Default)]
pub struct MessageDiagram {
    /// One vertical line each, from the left.
    pub lanes: Vec<DiagramLane>,
    /// The messages.
    pub arrows: Vec<DiagramArrow>,
    /// What lies behind the messages of one round.
    pub bands: Vec<RoundBand>,
    /// What nodes did.
    pub marks: Vec<LaneMark>,
    /// When a fault was on at a node.
    pub spans: Vec<FaultSpan>,
    /// When a fault was on that is no single node's.
    pub brackets: Vec<FaultBracket>,
    /// Where something is left out.
    pub omissions: Vec<MessageOmission>,
}

/// A node.
#[derive(Debug, Clone, Default)]
pub struct DiagramLane {
    pub name: String,
    /// The tones that it belongs to: a sign each beside its name.
    pub tones: Vec<DiagramTone>,
}

/// How much something stands out: two sets of arrows that are compared have a colour each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DiagramTone {
    /// As everything else.
    #[default]
    Plain,
    /// Of the first set.
    First,
    /// Of the second set.
    Second,
}

/// A message.
#[derive(Debug, Clone)]
pub struct DiagramArrow {
    /// The lane of its sender.
    pub from: usize,
    /// The lane that it is for.
    pub to: usize,
    /// When it was sent.
    pub sent: u64,
    /// What became of it.
    pub end: ArrowEnd,
    /// What it is, in a few characters.
    pub label: String,
    /// Whether it is a second copy of another one.
    pub copy: bool,
    /// How it stands out.
    pub tone: DiagramTone,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrowEnd {
    /// It was received at this moment.
    Received(u64),
    /// It was lost at this moment.
    Lost(u64),
    /// It is on its way where the diagram ends.
    OnItsWay,
}

impl DiagramArrow {
    /// The last moment of it that the diagram has.
    pub fn until(&self) -> u64 {
        match self.end {
            ArrowEnd::Received(at) | ArrowEnd::Lost(at) => at,
            ArrowEnd::OnItsWay => self.sent,
        }
    }
}

/// A round, ballot, term or epoch.
#[derive(Debug, Clone)]
pub struct RoundBand {
    /// What it is called.
    pub label: String,
    /// Its first moment.
    pub from: u64,
    /// Its last moment.
    pub until: u64,
}

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkSign {
    /// Something is decided: a large filled disc.
    Decision,
    /// A node changes what it is: a small square.
    Change,
    /// A client asks, or is answered: a ring.
    Operation,
}

/// What a node did at a moment.
#[derive(Debug, Clone)]
pub struct LaneMark {
    /// The lane; `None` for what concerns them all.
    pub lane: Option<usize>,
    /// When.
    pub time: u64,
    /// What, in a few characters.
    pub label: String,
    /// Its form.
    pub sign: MarkSign,
    /// The number of the step of a proof that it is, and whether the proof ends with it.
    pub step: Option<(usize, bool)>,
}

/// A fault at one node.
#[derive(Debug, Clone)]
pub struct FaultSpan {
    pub lane: usize,
    /// The kind of fault.
    pub fault: &'static FaultKind,
    /// When it began; `None` if that was before the diagram.
    pub from: Option<u64>,
    /// When it was healed; `None` if that was after the diagram.
    pub until: Option<u64>,
}

/// A fault at many nodes, or between them.
#[derive(Debug, Clone)]
pub struct FaultBracket {
    /// What it is called.
    pub label: String,
    /// The kind of fault.
    pub fault: &'static FaultKind,
    /// When it began; a moment before the diagram stands for its beginning.
    pub from: u64,
    /// When it was healed; a moment after the diagram stands for its end.
    pub until: u64,
}

/// Messages that are left out between two moments.
#[derive(Debug, Clone)]
pub struct MessageOmission {
    /// The place: before the first row that is at this moment or later.
    pub before: u64,
    /// What is left out, in words.
    pub words: String,
}
