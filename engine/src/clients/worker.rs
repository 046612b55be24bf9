//! One client: its process, its operation, its control requests, and what is recorded of them.

use super::process::ClientProcess;
use crate::context::RunContext;
use crate::effect::{Effect, HistoryEntry};
use crate::operation::{Completion, PendingOp, RefusalChain, SentTally};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use zooquake_history::operation::control::Exit;
use zooquake_history::operation::grant::GrantAnswer;
use zooquake_history::protocol::Request;
use zooquake_history::{EventType, Node, Process};

/// Milliseconds that a recipe has to answer a control request.
const CONTROL_MS: u64 = 8_000;

/// One client. All times are the engine's.
#[derive(Debug)]
pub struct Worker {
    /// The client's number, from 0.
    pub number: usize,
    pub node: Node,
    pub process: ClientProcess,
    /// Its process in the history at the moment.
    pub logical_process: u64,
    /// When it does its next operation; `None` if something else has to happen first.
    pub due: Option<Duration>,
    /// Whether that is only the latest moment: it is looked at also when an operation of another ends.
    pub awaits: bool,
    /// The recipe's operation in flight.
    pub op: Option<PendingOp>,
    /// The operation that was answered `ok` last, and when; `None` once another one was sent, or its process has ended.
    pub answered: Option<(&'static str, Duration)>,
    /// When it was given the grant that it was given last.
    pub granted: Option<Duration>,
    /// The operations that it was asked for, by name.
    pub sent: HashMap<&'static str, SentTally>,
    /// Control requests in flight: number and operation.
    pub control: HashMap<u64, &'static str>,
    /// Whether it answers control requests while an operation is pending.
    pub beside: bool,
    /// Number of the `quiesce` sent last.
    pub quiesce: Option<u64>,
    /// Whether it answered that one, or was seen running instead.
    pub quiesced: bool,
    /// How many znodes it named in its answer to that one.
    pub named: usize,
    /// Why its last answer to `quiesce` was none that counts, if it was `fail` or `info`.
    pub quiesce_error: Option<String>,
    /// How its last operation ended.
    pub last: Option<Completion>,
    /// Whether its last operation since the phase `final` began was not answered `ok`.
    pub failing: bool,
    /// The attempts at one operation that were not answered `ok` since then, up to now.
    pub refusals: Option<RefusalChain>,
    /// How its last `confirm` ended.
    pub last_confirm: Option<EventType>,
    /// Its last answer `ok` to `view`.
    pub view: Option<Value>,
    /// When it was last sent `view`.
    pub view_sent: Duration,
    /// When the first and the last of the `view`s was sent that it has answered `ok`, one after the other.
    pub views: Option<(Duration, Duration)>,
}

impl Worker {
    /// A client before its process was started; `number` counts from 0.
    pub fn new(number: usize) -> Self {
        Self {
            number,
            node: Node::client(number + 1),
            process: ClientProcess::default(),
            logical_process: number as u64,
            due: None,
            awaits: false,
            op: None,
            answered: None,
            granted: None,
            sent: HashMap::new(),
            control: HashMap::new(),
            beside: true,
            quiesce: None,
            quiesced: false,
            named: 0,
            quiesce_error: None,
            last: None,
            failing: false,
            refusals: None,
            last_confirm: None,
            view: None,
            view_sent: Duration::ZERO,
            views: None,
        }
    }

    /// Whether it can be given an operation.
    pub fn is_idle(&self) -> bool {
        self.process.runs() && self.op.is_none()
    }

    /// Whether it can answer a control request now.
    pub fn answers(&self) -> bool {
        self.beside || self.op.is_none()
    }

    /// Whether a control request of this name is in flight.
    pub fn was_asked(&self, f: &str) -> bool {
        self.control.values().any(|asked| *asked == f)
    }

    /// The number of operations that it was asked for.
    pub fn asked_ops(&self) -> u64 {
        self.sent.values().map(|sent| sent.count).sum()
    }

    /// Sends it this operation of the recipe, and records that before.
    pub fn send(&mut self, run: &mut RunContext, op: PendingOp, value: Value, timeout_ms: Option<u64>) {
        self.answered = None;
        let count = self.sent.get(op.f).map_or(0, |sent| sent.count) + 1;
        let (f, id) = (op.f, op.id);
        self.sent.insert(
            f,
            SentTally {
                count,
                since: op.since,
                work_ms: op.work_ms,
            },
        );
        self.op = Some(op);
        self.record(run, f, EventType::Invoke, value.clone(), None);
        self.emit_request(run, id, f, value, timeout_ms);
    }

    /// Writes the completion of an operation.
    pub fn record_completion(
        &self,
        run: &mut RunContext,
        op: &PendingOp,
        kind: EventType,
        value: Value,
        error: Option<String>,
    ) {
        // An operation that gave no value is still about its grant.
        let value = if value.is_null() && !op.grant.is_empty() {
            json!(GrantAnswer::About {
                grant: op.grant.clone()
            })
        } else {
            value
        };
        self.record(run, op.f, kind, value, error);
    }

    /// Writes an event of an operation of the recipe.
    fn record(&self, run: &mut RunContext, f: &str, kind: EventType, value: Value, error: Option<String>) {
        run.record(HistoryEntry {
            process: Process::Number(self.logical_process),
            kind,
            f: f.to_string(),
            value,
            error,
            node: Some(self.node.clone()),
        });
    }

    /// Sends it a control request with this number.
    pub fn send_control(&mut self, run: &mut RunContext, id: u64, f: &'static str) {
        self.control.insert(id, f);
        self.record_control(run, f, EventType::Invoke, json!({}), None);
        self.emit_request(run, id, f, json!({}), Some(CONTROL_MS));
    }

    /// Writes an event of a control request.
    pub fn record_control(&self, run: &mut RunContext, f: &str, kind: EventType, value: Value, error: Option<String>) {
        run.record(HistoryEntry {
            process: (&self.node).into(),
            kind,
            f: f.to_string(),
            value,
            error,
            node: Some(self.node.clone()),
        });
    }

    fn emit_request(&self, run: &mut RunContext, id: u64, f: &str, value: Value, timeout_ms: Option<u64>) {
        let request = Request {
            id,
            f: f.to_string(),
            value,
            timeout_ms,
        };
        run.emit(Effect::Send {
            client: self.number,
            request,
        });
    }

    /// Its process has ended: completes what it had in flight, and writes that it ended.
    pub fn record_exit(&mut self, run: &mut RunContext) {
        let died = || Some("the client's process died".to_string());
        if let Some(op) = self.op.take() {
            self.record_completion(run, &op, EventType::Info, Value::Null, died());
        }
        // In the order in which they were asked: a history is the same whenever the run is.
        let mut asked: Vec<(u64, &'static str)> = self.control.drain().collect();
        asked.sort_unstable();
        for (_, f) in asked {
            self.record_control(run, f, EventType::Info, Value::Null, died());
        }
        let exit = Exit {
            incarnation: self.process.incarnation,
            by_itself: !self.process.killed && run.plan.workload.recipe.is_some(),
        };
        run.record(HistoryEntry::of_client(&self.node, "exit", json!(exit)));
    }
}
