//! Whether any client ever had a session: without one a run proves nothing, and the log of a client has the cause.

use crate::context::{Deadline, RunContext};
use std::time::Duration;
use zooquake_history::operation::SESSION;
use zooquake_history::operation::control::{SESSIONS, STATE};
use zooquake_history::protocol::{ClientLimit, Message, Outcome};

/// How long clients have for their first session, while no fault is on.
const PATIENCE: Duration = Duration::from_secs(10);

/// A wait for the first sign of a session.
#[derive(Debug, Default)]
pub struct FirstSession {
    /// Whether there was one.
    seen: bool,
    /// Until when it is waited for; `None` before the operations, and while a window is on.
    until: Option<Deadline>,
}

impl FirstSession {
    /// Takes what a client sends. `working`: it is an answer to an operation of the recipe. One that cannot name its
    /// sessions counts as if it had one.
    pub fn take(&mut self, message: &Message, working: bool) {
        self.seen |= match message {
            Message::Hello { session, cannot, .. } => {
                session.is_some() || cannot.iter().any(|word| word == ClientLimit::Session.name())
            }
            Message::Notice { value, .. } => {
                SESSION.read_from(value).is_some() || STATE.read_from(value) == Some("connected")
            }
            Message::Reply { outcome, value, .. } => {
                working && *outcome == Outcome::Ok
                    || SESSION.read_from(value).is_some()
                    || SESSIONS.read_from(value).is_some_and(|sessions| !sessions.is_empty())
            }
        };
    }

    /// Counts the time only while operations go on and no window is on.
    pub fn wait(&mut self, run: &RunContext, counts: bool) {
        self.until = counts.then(|| self.until.unwrap_or_else(|| run.deadline(PATIENCE)));
    }

    /// When it is given up, if no sign comes before.
    pub fn due(&self, run: &RunContext) -> Option<Duration> {
        self.until.filter(|_| !self.seen).map(|until| run.moment_of(until))
    }

    /// That it is given up now, in words, once.
    pub fn given_up(&mut self, run: &RunContext) -> Option<String> {
        let over = self.due(run).is_some_and(|due| due <= run.now);
        self.seen |= over;
        let secs = PATIENCE.as_secs();
        over.then(|| format!("no client has had a session in {secs} s without a fault."))
    }
}
