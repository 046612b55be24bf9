//! Operations of the recipe: sending them, and what their answers mean for the resource and for holds.

use super::interpreter::Interpreter;
use super::recorder::Entry;
use super::script::{self, Mode, Next};
use super::slot::{End, Op, OpKind, Sent};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Instant;
use zooquake_checkers::plan::Resource;
use zooquake_checkers::{EventType, Process};
use zooquake_workloads::protocol::{Outcome, Request};

/// The type of the event that records such an end.
pub(super) fn event_type(outcome: Outcome) -> EventType {
    match outcome {
        Outcome::Ok => EventType::Ok,
        Outcome::Fail => EventType::Fail,
        Outcome::Info => EventType::Info,
    }
}

impl Interpreter {
    /// Asks the client for its next operation, if it has one.
    pub(super) fn next_op(&mut self, number: usize) -> Result<()> {
        match self.script.next(number, self.mode) {
            Next::Ask(next) => self.ask(number, next),
            Next::Wait(time) => {
                self.slots[number].due = Some(Instant::now() + time);
                Ok(())
            }
            Next::Nothing => Ok(()),
        }
    }

    /// Asks the client for this operation.
    pub(super) fn ask(&mut self, number: usize, next: script::Request) -> Result<()> {
        let (free_at, id) = (self.free_time(), self.request_id());
        let slot = &mut self.slots[number];
        let (process, node) = (Process::Number(slot.process), Some(slot.name.clone()));
        let (f, value) = (next.f.to_string(), next.value.clone());
        self.recorder.record(Entry {
            process,
            kind: EventType::Invoke,
            f,
            value,
            error: None,
            node,
        })?;
        let (f, kind, since) = (next.f, next.kind, Instant::now());
        let work_ms = next.work_ms.max(next.value["work_ms"].as_u64().unwrap_or(0));
        let sent = slot.sent.entry(f).or_insert(Sent {
            count: 0,
            since,
            work_ms,
        });
        *sent = Sent {
            count: sent.count + 1,
            since,
            work_ms,
        };
        slot.op = Some(Op {
            id,
            f,
            kind,
            grant: next.grant,
            work_ms: next.work_ms,
            since,
            free_at,
        });
        self.send(
            number,
            Request {
                id,
                f: f.to_string(),
                value: next.value,
                timeout_ms: next.timeout_ms,
            },
        )?;
        if kind == OpKind::Release {
            // The hold ends here for the history, whatever becomes of the release.
            self.hold_ended(number);
        }
        Ok(())
    }

    /// Looks at every idle client again, if what one may do depends on others.
    pub(super) fn wake_others(&mut self) {
        if !self.script.coordinates() {
            return;
        }
        let now = Instant::now();
        let idle = self
            .slots
            .iter_mut()
            .filter(|slot| slot.op.is_none() && slot.runs() && slot.due.is_none());
        idle.for_each(|slot| slot.due = Some(now));
    }

    pub(super) fn send(&self, number: usize, request: Request) -> Result<()> {
        if let Some(stdin) = &self.slots[number].stdin {
            stdin.send(serde_json::to_string(&request).context("writing a request")?);
        }
        Ok(())
    }

    /// Writes the completion of an operation.
    pub(super) fn record_end(
        &mut self,
        number: usize,
        op: &Op,
        kind: EventType,
        value: Value,
        error: Option<String>,
    ) -> Result<()> {
        let slot = &self.slots[number];
        // An operation that gave no value is still about its grant.
        let value = if value.is_null() && !op.grant.is_empty() {
            json!({ "grant": op.grant })
        } else {
            value
        };
        let (process, node) = (Process::Number(slot.process), Some(slot.name.clone()));
        self.recorder.record(Entry {
            process,
            kind,
            f: op.f.to_string(),
            value,
            error,
            node,
        })?;
        Ok(())
    }

    /// An operation was answered.
    pub(super) fn complete(
        &mut self,
        number: usize,
        outcome: Outcome,
        mut value: Value,
        mut error: Option<String>,
    ) -> Result<()> {
        let Some(op) = self.slots[number].op.take() else {
            return Ok(());
        };
        let mut kind = event_type(outcome);
        let external = self.plan.workload.resource == Resource::External;
        let arrives = op.kind == OpKind::Write && kind == EventType::Ok && external;
        if arrives {
            let verdict = self.resource.arrive(value["token"].as_i64());
            value["accepted"] = json!(verdict.is_ok());
            if let Err(refused) = verdict {
                (kind, error) = (EventType::Fail, Some(refused));
            }
        }
        self.record_end(number, &op, kind, value.clone(), error.clone())?;
        if kind == EventType::Info {
            self.slots[number].process += self.slots.len() as u64;
        }
        let not_held = op.kind == OpKind::Write && kind == EventType::Fail && !arrives;
        if op.kind == OpKind::Acquire && kind == EventType::Ok {
            self.waited.push(op.since.elapsed());
            self.granted(number, &op.grant);
        } else if not_held && self.slots[number].hold.as_ref() == Some(&op.grant) {
            self.hold_ended(number);
        }
        if op.kind == OpKind::Meet && kind == EventType::Ok {
            self.waited.push(op.since.elapsed());
        }
        let end = End { kind, value, error };
        let pause = self.script.ended(number, &op, &end, self.mode);
        self.slots[number].failing = self.mode == Mode::Final && !end.is_ok();
        self.slots[number].last = Some(end);
        self.slots[number].due = Some(Instant::now() + pause);
        self.wake_others();
        Ok(())
    }
}
