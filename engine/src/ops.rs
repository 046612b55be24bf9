//! Operations of the recipe: sending them, and what their answers mean for the resource and for holds.

use super::Engine;
use super::effect::{Effect, Entry};
use super::generator::{self, Next, Phase};
use super::worker::{End, Op, OpKind, Sent};
use serde_json::{Value, json};
use zooquake_history::operation::grant::{ACCEPTED, Answer, MODE, TOKEN, VALUE};
use zooquake_history::plan::Resource;
use zooquake_history::protocol::{Outcome, Request};
use zooquake_history::{EventType, Process};

/// The type of the event that records such an end.
pub(super) fn event_type(outcome: Outcome) -> EventType {
    match outcome {
        Outcome::Ok => EventType::Ok,
        Outcome::Fail => EventType::Fail,
        Outcome::Info => EventType::Info,
    }
}

impl Engine {
    /// Asks the client for its next operation, if it has one.
    pub(super) fn next_op(&mut self, number: usize) {
        let next = self.generator.next(number, self.moment_of_next(number));
        self.workers[number].awaits = matches!(next, Next::Await(_));
        match next {
            Next::Ask(next) if self.withholds(number, next.f) => {}
            Next::Ask(next) => self.ask(number, next),
            Next::Wait(time) | Next::Await(time) => self.workers[number].due = Some(self.now + time),
            Next::Nothing => {}
        }
    }

    /// Asks the client for this operation.
    pub(super) fn ask(&mut self, number: usize, next: generator::Request) {
        let generator::Request {
            f,
            grant,
            work_ms,
            value,
            timeout_ms,
        } = next;
        let kind = OpKind::of(&self.plan.workload.family, f);
        if kind == OpKind::Acquire {
            self.workers[number].mode = MODE.of(&value).unwrap_or_default();
        }
        let (free_at, id, since) = (self.free_time(number), self.request_id(), self.now);
        let worker = &mut self.workers[number];
        worker.answered = None;
        let sent = worker.sent.get(f).map_or(0, |sent| sent.count);
        worker.sent.insert(
            f,
            Sent {
                count: sent + 1,
                since,
                work_ms,
            },
        );
        worker.op = Some(Op {
            id,
            f,
            kind,
            grant,
            work_ms,
            since,
            free_at,
        });
        let (process, node) = (Process::Number(worker.process), Some(worker.name.clone()));
        self.record(Entry {
            process,
            kind: EventType::Invoke,
            f: f.to_string(),
            value: value.clone(),
            error: None,
            node,
        });
        let request = Request {
            id,
            f: f.to_string(),
            value,
            timeout_ms,
        };
        self.emit(Effect::Send {
            client: number,
            request,
        });
        if kind == OpKind::Release {
            // The hold ends here for the history, whatever becomes of the release.
            self.hold_ended(number);
        }
    }

    /// Looks at every idle client again, if what one may do depends on others.
    pub(super) fn wake_others(&mut self) {
        if !self.generator.coordinates() {
            return;
        }
        let idle = self.workers.iter_mut().filter(|worker| worker.idle());
        for worker in idle {
            worker.due = worker.due.filter(|_| !worker.awaits).or(Some(self.now));
        }
    }

    /// Writes the completion of an operation.
    pub(super) fn record_end(&mut self, number: usize, op: &Op, kind: EventType, value: Value, error: Option<String>) {
        let worker = &self.workers[number];
        // An operation that gave no value is still about its grant.
        let value = if value.is_null() && !op.grant.is_empty() {
            json!(Answer::About {
                grant: op.grant.clone()
            })
        } else {
            value
        };
        let (process, node) = (Process::Number(worker.process), Some(worker.name.clone()));
        self.record(Entry {
            process,
            kind,
            f: op.f.to_string(),
            value,
            error,
            node,
        });
    }

    /// The operation of a client was answered.
    pub(super) fn complete(&mut self, number: usize, outcome: Outcome, mut value: Value, mut error: Option<String>) {
        let Some(op) = self.workers[number].op.take() else {
            return;
        };
        self.completed += 1;
        let mut kind = event_type(outcome);
        let external = self.plan.workload.resource == Resource::External;
        let arrives = op.kind == OpKind::Write && kind == EventType::Ok && external;
        if op.kind == OpKind::Read && kind == EventType::Ok && external {
            VALUE.put(&mut value, self.resource.read().clone());
        } else if arrives {
            let written = VALUE.of(&value).cloned().unwrap_or_default();
            let verdict = self.resource.write(TOKEN.of(&value), written);
            ACCEPTED.put(&mut value, verdict.is_ok());
            if let Err(refused) = verdict {
                (kind, error) = (EventType::Fail, Some(refused));
            }
        }
        self.record_end(number, &op, kind, value.clone(), error.clone());
        if kind == EventType::Info {
            self.workers[number].process += self.workers.len() as u64;
        }
        let waited = matches!(op.kind, OpKind::Acquire | OpKind::Meet) && kind == EventType::Ok;
        if waited {
            self.waited.push(self.now - op.since);
        }
        let works = matches!(op.kind, OpKind::Read | OpKind::Write);
        let not_held = works && kind == EventType::Fail && !arrives;
        if op.kind == OpKind::Acquire && kind == EventType::Ok {
            self.granted(number, &op.grant);
        } else if not_held && self.workers[number].holds(&op.grant) {
            self.hold_ended(number);
        }
        let end = End { kind, value, error };
        let pause = self.generator.ended(number, &op, &end, self.moment());
        let worker = &mut self.workers[number];
        worker.failing = self.phase == Phase::Final && !end.is_ok();
        worker.answered = end.is_ok().then_some((op.f, self.now));
        worker.last = Some(end);
        worker.due = Some(self.now + pause);
        self.wake_others();
    }
}
