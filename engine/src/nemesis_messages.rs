//! What passes between the engine and the nemesis.

use super::history_entry::HistoryEntry;
use zooquake_history::plan::Window;

/// The state of the clients at which a trigger fired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerFiring {
    /// The client whose state fired it.
    pub client: Option<String>,
    /// The client that held.
    pub holder: Option<String>,
}

/// A report of the nemesis, or a request.
#[derive(Debug)]
pub enum NemesisReport {
    /// Write an event; answered when it is written, and on disk if it is the begin of a window or of a step.
    Record(HistoryEntry),
    /// Answered when the window's trigger fires; refused if it does not in time.
    Arm(Box<Window>),
    /// A client's process is about to be killed on purpose; answered when its end is expected.
    Killing(String),
    /// A killed client is to be started again; answered when its process has said hello.
    Restart(String),
    /// Nothing more will come.
    Done,
}

/// An answer to the nemesis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NemesisAnswer {
    Done,
    /// The trigger has fired.
    Fired(TriggerFiring),
}
