//! What comes from clients: the starts, lines and ends of their processes.

use super::Engine;
use super::effect::{Effect, Entry};
use super::nemesis::Answer;
use super::restart::Restart;
use serde_json::{Value, json};
use zooquake_history::EventType;
use zooquake_history::operation::control::{Exit, Hello};
use zooquake_history::operation::grant::GRANT;
use zooquake_history::protocol::ProcessOutput;
use zooquake_history::protocol::{Cannot, Message};

impl Engine {
    /// Has a client's process started.
    pub(super) fn start_client(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        worker.incarnation += 1;
        worker.killed = false;
        worker.restart = Restart::None;
        let incarnation = worker.incarnation;
        self.emit(Effect::Start {
            client: number,
            incarnation,
        });
    }

    /// A client's process was started, or could not be.
    pub(super) fn started(&mut self, number: usize, incarnation: u64, started: Result<(), String>) {
        match started {
            Err(why) => self.broken(number, why),
            Ok(()) if self.workers[number].incarnation == incarnation => {
                self.workers[number].connected = true;
                self.wake(number);
            }
            Ok(()) => {}
        }
    }

    /// A client's process said something, or has ended. A process wrote all that it said before its end, so only a second
    /// end could come from an earlier one.
    pub(super) fn said(&mut self, number: usize, incarnation: u64, output: ProcessOutput) {
        if self.workers[number].incarnation != incarnation {
            return;
        }
        match output {
            ProcessOutput::Line(line) => self.line(number, &line),
            ProcessOutput::Message(message) => self.message(number, message),
            ProcessOutput::Ended => self.ended(number),
        }
    }

    fn line(&mut self, number: usize, line: &str) {
        match serde_json::from_str(line) {
            Ok(message) => self.message(number, message),
            Err(error) => {
                let name = &self.workers[number].name;
                let why = format!("client {name} wrote a line that is no message of the protocol: {line}: {error}");
                self.broken(number, why);
            }
        }
    }

    fn message(&mut self, number: usize, message: Message) {
        match message {
            Message::Hello {
                pid, session, cannot, ..
            } => self.greeted(number, pid, session, cannot),
            Message::Notice { notice, value } => {
                let name = self.workers[number].name.clone();
                let grant = GRANT.of(&value).filter(|_| notice == "lost");
                let lost = grant.is_some_and(|grant| self.workers[number].holds(grant));
                self.record(Entry::named(&name, &notice, value));
                if lost {
                    self.hold_ended(number);
                }
            }
            Message::Reply {
                id,
                outcome,
                value,
                error,
            } => {
                if self.workers[number].op.as_ref().is_some_and(|op| op.id == id) {
                    self.complete(number, outcome, value, error);
                } else if let Some(f) = self.workers[number].control.remove(&id) {
                    self.control_answered(number, (id, f), outcome, value, error);
                } else {
                    let name = &self.workers[number].name;
                    let why =
                        format!("client {name} answered request {id}, which it was not asked: {outcome:?} {value}");
                    self.broken(number, why);
                }
            }
        }
    }

    fn greeted(&mut self, number: usize, pid: u32, session: Option<String>, cannot: Vec<String>) {
        let worker = &mut self.workers[number];
        worker.beside = !cannot.iter().any(|word| Cannot::of(word) == Some(Cannot::Beside));
        worker.greeted = true;
        let (name, awaited) = (worker.name.clone(), worker.awaited.take());
        let hello = Hello {
            pid,
            incarnation: worker.incarnation,
            session,
            cannot,
        };
        self.record(Entry::named(&name, "hello", json!(hello)));
        if let Some(token) = awaited {
            self.answer_nemesis(token, Some(Answer::Done));
        }
        self.kill_now(number);
        self.wake(number);
    }

    /// Lets a client that is started and has said hello go on.
    fn wake(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        if worker.idle() {
            worker.due = Some(self.now);
        }
    }

    /// A client's stream has ended: its operation completes now, and its hold ends.
    fn ended(&mut self, number: usize) {
        self.kill_now(number);
        let died = || Some("the client's process died".to_string());
        if let Some(op) = self.workers[number].op.take() {
            self.record_end(number, &op, EventType::Info, Value::Null, died());
        }
        // In the order in which they were asked: a history is the same whenever the run is.
        let mut asked: Vec<(u64, &'static str)> = self.workers[number].control.drain().collect();
        asked.sort_unstable();
        for (_, f) in asked {
            self.record_control(number, f, EventType::Info, Value::Null, died());
        }
        let (name, incarnation) = (self.workers[number].name.clone(), self.workers[number].incarnation);
        let exit = Exit {
            incarnation,
            by_itself: !self.workers[number].killed && self.plan.workload.recipe.is_some(),
        };
        self.record(Entry::named(&name, "exit", json!(exit)));
        self.hold_ended(number);
        self.generator.died(number);
        self.wake_others();
        let clients = self.workers.len() as u64;
        let worker = &mut self.workers[number];
        worker.connected = false;
        worker.greeted = false;
        worker.answered = None;
        worker.due = None;
        worker.process += clients;
        if !worker.killed {
            self.ended_by_itself(number);
        }
    }
}
