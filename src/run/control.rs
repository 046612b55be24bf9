//! Control requests: `confirm` while two clients believe that they hold, `quiesce` around the audit.

use super::interpreter::Interpreter;
use super::ops::event_type;
use super::recorder::Entry;
use crate::cluster::Cluster;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use zooquake_checkers::{EventType, Process};
use zooquake_workloads::protocol::{Outcome, Request};

/// A client is asked to confirm at most this often.
const CONFIRM_EVERY: Duration = Duration::from_millis(500);

/// The recipe's time to answer a control request.
const CONTROL_MS: u64 = 8_000;

/// Longest wait for the answers to a `quiesce`.
pub(super) const QUIESCE: Duration = Duration::from_secs(10);

impl Interpreter {
    /// While two holds have not ended, everyone who believes to hold is asked, again and again.
    pub(super) fn confirm_holders(&mut self, now: Instant) -> Result<()> {
        for number in self.to_confirm() {
            let asked = self.slots[number].confirmed;
            if asked.is_none_or(|at| now >= at + CONFIRM_EVERY) {
                self.slots[number].confirmed = Some(now);
                self.ask_control(number, "confirm")?;
            }
        }
        Ok(())
    }

    fn to_confirm(&self) -> Vec<usize> {
        let holders: Vec<usize> = (0..self.slots.len())
            .filter(|n| self.slots[*n].hold.is_some())
            .collect();
        if holders.len() < 2 {
            return Vec::new();
        }
        holders
            .into_iter()
            .filter(|n| self.slots[*n].stdin.is_some() && !self.slots[*n].asked("confirm"))
            .collect()
    }

    /// When somebody has to be asked again.
    pub(super) fn confirm_due(&self) -> Option<Instant> {
        let due = |n: &usize| {
            self.slots[*n]
                .confirmed
                .map_or_else(Instant::now, |at| at + CONFIRM_EVERY)
        };
        self.to_confirm().iter().map(due).min()
    }

    /// Sends a control request and returns its number.
    pub(super) fn ask_control(&mut self, number: usize, f: &'static str) -> Result<u64> {
        let id = self.request_id();
        self.slots[number].control.insert(id, (f, Instant::now()));
        self.record_control(number, f, EventType::Invoke, json!({}), None)?;
        self.send(
            number,
            Request {
                id,
                f: f.to_string(),
                value: json!({}),
                timeout_ms: Some(CONTROL_MS),
            },
        )?;
        Ok(id)
    }

    pub(super) fn record_control(
        &mut self,
        number: usize,
        f: &str,
        kind: EventType,
        value: Value,
        error: Option<String>,
    ) -> Result<()> {
        let name = self.slots[number].name.clone();
        let process = Process::Name(name.clone());
        self.recorder.record(Entry {
            process,
            kind,
            f: f.to_string(),
            value,
            error,
            node: Some(name),
        })?;
        Ok(())
    }

    pub(super) fn control_answered(
        &mut self,
        number: usize,
        (id, f, sent): (u64, &'static str, Instant),
        outcome: Outcome,
        value: Value,
        error: Option<String>,
    ) -> Result<()> {
        let kind = event_type(outcome);
        // An answer to what was asked before the grant was read says nothing of it.
        let asked_of_it = sent >= self.slots[number].held_since;
        let gives_up = f == "confirm" && kind == EventType::Ok && value["holds"] == json!(false) && asked_of_it;
        self.record_control(number, f, kind, value, error)?;
        if gives_up {
            self.hold_ended(number);
        }
        if f == "confirm" {
            self.slots[number].last_confirm = Some(kind);
        }
        // An answer to an earlier one says nothing of now.
        if kind == EventType::Ok && self.slots[number].quiesce == Some(id) {
            self.slots[number].quiesced = true;
        }
        Ok(())
    }

    /// Asks every living client to quiesce that can answer now.
    pub(super) fn ask_quiesce(&mut self) -> Result<()> {
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            slot.quiesced = false;
            slot.quiesce = None;
            if slot.stdin.is_some() && slot.answers() {
                let id = self.ask_control(number, "quiesce")?;
                self.slots[number].quiesce = Some(id);
            }
        }
        Ok(())
    }

    /// Looks itself whether those clients run that could not be asked; records what was seen of each that does.
    pub(super) async fn see_running(&mut self) -> Result<()> {
        for number in 0..self.slots.len() {
            let slot = &self.slots[number];
            if slot.stdin.is_none() || slot.answers() {
                continue;
            }
            let (cluster, name) = (self.cluster.clone(), slot.name.clone());
            let seen = self.during(async move { cluster.sees_running(&name).await }).await?;
            match seen {
                Ok(detail) => {
                    let running = Entry::lane(&self.slots[number].name, "running", json!({ "detail": detail }));
                    self.recorder.record(running)?;
                    self.slots[number].quiesced = true;
                }
                Err(error) => self.progress.say(&format!("{}: {error:#}", self.slots[number].name)),
            }
        }
        Ok(())
    }
}
