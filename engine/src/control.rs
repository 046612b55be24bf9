//! Control requests: `confirm` while clients believe that they hold in ways that exclude each other and before what a fault may
//! have cost is given back, `quiesce` around recovery and audit.

use super::effect::{Effect, Entry, Question};
use super::holds::holders;
use super::ops::event_type;
use super::stage::Seen;
use super::worker::Worker;
use super::{Deadline, Engine};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use zooquake_history::operation::control::{HOLDS, Running};
use zooquake_history::protocol::{Outcome, Request};
use zooquake_history::{EventType, Process};

/// A client is asked to confirm at most this often.
const CONFIRM_EVERY: Duration = Duration::from_millis(500);

/// The recipe's time to answer a control request.
const CONTROL_MS: u64 = 8_000;

/// Longest wait for the answers to a `quiesce`.
pub(super) const QUIESCE: Duration = Duration::from_secs(10);

/// A `quiesce` to every client, and a look at those that cannot answer it now.
#[derive(Debug)]
pub(super) struct Asking {
    /// Clients still to be looked at; the first one is being looked at.
    unseen: VecDeque<usize>,
    /// How long answers are waited for, once all of those were looked at.
    limit: Duration,
    pub(super) by: Option<Deadline>,
}

impl Asking {
    /// How long answers are waited for.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }
}

impl Engine {
    /// While holds have not ended that exclude each other, every client that believes to hold is asked, again and again; and
    /// one whose release waits for that.
    pub(super) fn confirm_holders(&mut self) {
        for number in self.to_confirm() {
            let asked = self.workers[number].confirmed;
            if asked.is_none_or(|at| self.now >= at + CONFIRM_EVERY) {
                self.workers[number].confirmed = Some(self.now);
                self.ask_control(number, "confirm");
            }
        }
    }

    fn to_confirm(&self) -> Vec<usize> {
        let conflict = holders(&self.workers).conflict(self.capacity());
        let holds = |worker: &Worker| worker.hold.is_some() && (conflict || worker.withheld);
        let can = |worker: &Worker| holds(worker) && worker.connected && !worker.asked("confirm");
        (0..self.workers.len()).filter(|n| can(&self.workers[*n])).collect()
    }

    /// When a client has to be asked again.
    pub(super) fn confirm_due(&self) -> Option<Duration> {
        let due = |n: usize| self.workers[n].confirmed.map_or(self.now, |at| at + CONFIRM_EVERY);
        self.to_confirm().into_iter().map(due).min()
    }

    /// Sends a control request and returns its number.
    pub(super) fn ask_control(&mut self, number: usize, f: &'static str) -> u64 {
        let id = self.request_id();
        self.workers[number].control.insert(id, f);
        self.record_control(number, f, EventType::Invoke, json!({}), None);
        let request = Request {
            id,
            f: f.to_string(),
            value: json!({}),
            timeout_ms: Some(CONTROL_MS),
        };
        self.emit(Effect::Send {
            client: number,
            request,
        });
        id
    }

    pub(super) fn record_control(
        &mut self,
        number: usize,
        f: &str,
        kind: EventType,
        value: Value,
        error: Option<String>,
    ) {
        let name = self.workers[number].name.clone();
        self.record(Entry {
            process: Process::Name(name.clone().into()),
            kind,
            f: f.to_string(),
            value,
            error,
            node: Some(name),
        });
    }

    pub(super) fn control_answered(
        &mut self,
        number: usize,
        (id, f): (u64, &'static str),
        outcome: Outcome,
        value: Value,
        error: Option<String>,
    ) {
        let kind = event_type(outcome);
        // An answer to what was asked before the grant was read says nothing of it.
        let asked_of_it = id > self.workers[number].held_after;
        let gives_up = f == "confirm" && kind == EventType::Ok && HOLDS.of(&value) == Some(false) && asked_of_it;
        let owed = self.workers[number].owed.is_some_and(|owed| id > owed.after);
        self.record_control(number, f, kind, value, error);
        if gives_up {
            self.hold_ended(number);
        } else if f == "confirm" && owed {
            match kind {
                EventType::Ok => self.owes_nothing(number),
                EventType::Info => self.could_not_confirm(number),
                EventType::Fail | EventType::Invoke => {}
            }
        }
        let worker = &mut self.workers[number];
        if f == "confirm" {
            worker.last_confirm = Some(kind);
        }
        // An answer to an earlier one says nothing of now.
        if kind == EventType::Ok && worker.quiesce == Some(id) {
            worker.quiesced = true;
        }
    }

    /// Asks every living client to quiesce that can answer now.
    pub(super) fn ask_quiesce(&mut self) {
        for number in 0..self.workers.len() {
            let worker = &mut self.workers[number];
            worker.quiesced = false;
            worker.quiesce = None;
            if worker.connected && worker.answers() {
                let id = self.ask_control(number, "quiesce");
                self.workers[number].quiesce = Some(id);
            }
        }
    }

    /// Asks every client to quiesce, and looks whether those run that cannot answer now.
    pub(super) fn ask_all(&mut self, limit: Duration) -> Asking {
        self.ask_quiesce();
        let unasked = |n: &usize| self.workers[*n].connected && !self.workers[*n].answers();
        let mut asking = Asking {
            unseen: (0..self.workers.len()).filter(unasked).collect(),
            limit,
            by: None,
        };
        self.look_at_next(&mut asking);
        asking
    }

    fn look_at_next(&mut self, asking: &mut Asking) {
        match asking.unseen.front() {
            Some(&number) => self.emit(Effect::Ask(Question::Runs(number))),
            None => asking.by = Some(self.deadline(asking.limit)),
        }
    }

    /// Takes what was seen of the client that is looked at, if the answer is about that; records what was seen of one that
    /// runs.
    pub(super) fn seen(&mut self, asking: &mut Asking, seen: Option<Seen>) {
        let Some(Seen::Running(seen)) = seen else {
            return;
        };
        let Some(number) = asking.unseen.pop_front() else {
            return;
        };
        let name = self.workers[number].name.clone();
        match seen {
            Ok(detail) => {
                self.record(Entry::named(&name, "running", json!(Running { detail })));
                self.workers[number].quiesced = true;
            }
            Err(error) => self.emit(Effect::Say(format!("{name}: {error}"))),
        }
        self.look_at_next(asking);
    }

    /// Whether every client has answered, or was seen running.
    pub(super) fn all_quiesced(&self) -> bool {
        self.workers.iter().all(|worker| worker.quiesced)
    }

    /// Who has not answered the `quiesce` sent last, in words.
    pub(super) fn silent(&self, limit: Duration) -> Option<String> {
        let silent = self.workers.iter().filter(|worker| !worker.quiesced);
        let silent: Vec<&str> = silent.map(|worker| worker.name.as_str()).collect();
        let ms = limit.as_millis();
        (!silent.is_empty()).then(|| format!("{} did not answer quiesce within {ms} ms", silent.join(", ")))
    }
}
