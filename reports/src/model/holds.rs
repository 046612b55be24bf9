//! Holds as they are drawn: the checkers', each in the row of its client and with words for its end.

use super::{Lanes, subject_name};
use zooquake_checkers::analysis::{self, Analysis, OperationSubject};
use zooquake_history::operation::{Mode, barrier, commit, queue};
use zooquake_history::{Event, EventType};

/// A span in which a client held.
#[derive(Debug)]
pub struct DrawnHold<'a> {
    /// Row of the client.
    pub lane: usize,
    /// What it held.
    pub what: OperationSubject<'a>,
    /// Whether others may hold it beside it in the same way.
    pub shared: bool,
    /// When its beginning was read.
    pub from: u64,
    /// When it ended; `None` if no event ends it.
    pub until: Option<u64>,
    /// What ended it, in a word or two.
    pub ended_by: &'static str,
}

impl DrawnHold<'_> {
    /// What it held, by its name, and that it is shared, if it is.
    pub fn name(&self) -> String {
        subject_name(self.what) + if self.shared { ", shared" } else { "" }
    }
}

/// The holds of a history, by their beginnings.
pub fn drawn<'a>(analysis: &Analysis<'a>, lanes: &Lanes) -> Vec<DrawnHold<'a>> {
    let hold = |hold: analysis::Hold<'a>| {
        Some(DrawnHold {
            lane: lanes.row(&analysis.events[hold.from])?,
            what: hold.subject,
            shared: hold.mode == Some(Mode::Shared),
            from: analysis.time(hold.from),
            until: hold.until.map(|at| analysis.time(at)),
            ended_by: hold.until.map_or("", |at| ended_by(&analysis.events[at])),
        })
    };
    analysis.holds().into_iter().filter_map(hold).collect()
}

/// The end of a hold in words, by the event that ended it.
fn ended_by(event: &Event) -> &'static str {
    match (event.f.as_str(), event.kind) {
        (queue::f::ACKNOWLEDGE, _) => "acknowledged",
        (barrier::f::LEAVE | barrier::f::CLOSE, _) => "left",
        (commit::f::DECIDED, _) if event.decision() == Some("commit") => "received commit",
        (commit::f::DECIDED, _) => "received abort",
        ("session", _) => "its session was over",
        ("lost", _) => "lost",
        ("exit", _) => "process died",
        (_, EventType::Invoke) => "released",
        _ => "reports that it no longer holds",
    }
}
