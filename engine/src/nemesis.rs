//! What passes between the engine and the nemesis. The engine alone writes the history and knows the clients' states.

use super::Engine;
use super::effect::{Effect, Entry};
use super::trigger::Armed;
use zooquake_history::operation::nemesis::{DETAIL, PHASE, VERIFIED, WINDOW};
use zooquake_history::plan::Window;

/// What the engine knew when a trigger fired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fired {
    /// The client whose state fired it.
    pub client: Option<String>,
    /// The client that held.
    pub holder: Option<String>,
}

/// What the nemesis says or asks.
#[derive(Debug)]
pub enum Report {
    /// Write an event; answered when it is written, and on disk if it is the begin of a window or of a step.
    Record(Entry),
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
pub enum Answer {
    /// It is done.
    Done,
    /// The trigger has fired.
    Fired(Fired),
}

impl Engine {
    pub(super) fn reported(&mut self, token: u64, report: Report) {
        match report {
            Report::Record(entry) => {
                self.record_deed(entry);
                self.answer_nemesis(token, Some(Answer::Done));
            }
            Report::Arm(window) => {
                let armed = Armed::new(&window, self.ops_began, self.now, token);
                if let Some(before) = self.armed.replace(armed) {
                    self.answer_nemesis(before.token(), None);
                }
            }
            Report::Killing(client) => match self.workers.iter().position(|worker| worker.name == client) {
                Some(number) => self.killing(number, token),
                None => self.answer_nemesis(token, Some(Answer::Done)),
            },
            Report::Restart(client) => match self.workers.iter().position(|worker| worker.name == client) {
                Some(number) => {
                    self.workers[number].awaited = Some(token);
                    self.start_client(number);
                }
                None => self.answer_nemesis(token, None),
            },
            Report::Done => {
                self.nemesis_done = true;
                self.answer_nemesis(token, Some(Answer::Done));
            }
        }
    }

    fn record_deed(&mut self, entry: Entry) {
        let (phase, window) = (PHASE.of(&entry.value), WINDOW.of(&entry.value));
        let begins = phase == Some("begin");
        let healed = phase == Some("off") && VERIFIED.of(&entry.value) == Some(true);
        self.unhealed.extend(window.filter(|_| begins));
        let over = healed || phase == Some("skipped");
        if over {
            self.unhealed.retain(|unhealed| window != Some(*unhealed));
        }
        if healed {
            self.owe_confirms();
        }
        self.faults += usize::from(begins);
        if let Some(detail) = DETAIL.of(&entry.value).filter(|_| phase == Some("done")) {
            self.emit(Effect::Say(format!("  {}: {detail}", entry.f)));
        }
        self.record(entry);
        if begins {
            self.emit(Effect::Sync);
        }
        if over {
            self.forgive_deaths();
        }
    }

    pub(super) fn answer_nemesis(&mut self, token: u64, answer: Option<Answer>) {
        self.emit(Effect::Answer { token, answer });
    }

    /// Arms nothing any more: a window that still waits for its trigger is given up.
    pub(super) fn disarm(&mut self) {
        if let Some(armed) = self.armed.take() {
            self.answer_nemesis(armed.token(), None);
        }
    }
}
