//! The interpreter: gives each client its next operation, takes replies, owns the clock, and alone writes the history.

use super::progress::Progress;
use super::recorder::{Entry, Recorder};
use super::resource::ExternalResource;
use super::slot::{Op, Slot, Step};
use super::trigger::Armed;
use crate::cluster::exec::{Output, Stdin};
use crate::cluster::{Cluster, DockerCluster};
use crate::faults::nemesis::Ask;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use zooquake_checkers::plan::{Plan, Resource};
use zooquake_checkers::{EventType, Process};
use zooquake_workloads::protocol::{Message, Outcome, Request};

/// Which operations clients are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// None.
    Quiet,
    /// Cycle after cycle, as planned.
    Load,
    /// The current cycle to its end.
    Drain,
    /// After recovery: holders release at once, then each client goes through one cycle without work.
    Final,
}

/// What comes to the interpreter from outside; one queue, so that everything has one order.
#[derive(Debug)]
enum Input {
    Client {
        slot: usize,
        incarnation: u64,
        output: Output,
    },
    Started {
        slot: usize,
        incarnation: u64,
        stdin: Result<Stdin>,
    },
    Nemesis(Ask),
}

/// Drives the clients of one run.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) cluster: Arc<DockerCluster>,
    pub(super) plan: Plan,
    pub(super) recorder: Recorder,
    pub(super) progress: Progress,
    pub(super) slots: Vec<Slot>,
    pub(super) mode: Mode,
    pub(super) interrupt: watch::Receiver<bool>,
    pub(super) ops_began: Instant,
    pub(super) nemesis_done: bool,
    /// Since recovery: how long nobody held, and since when nobody holds.
    pub(super) free: Duration,
    pub(super) free_since: Option<Instant>,
    /// How long acquires took, for the bound of liveness.
    pub(super) acquired_in: Vec<Duration>,
    pub(super) phase: &'static str,
    resource: ExternalResource,
    armed: Option<Armed>,
    inputs: mpsc::UnboundedReceiver<Input>,
    sender: mpsc::UnboundedSender<Input>,
    next_id: u64,
    next_grant: u64,
    next_value: u64,
    completed: u64,
    faults: usize,
}

impl Interpreter {
    pub(super) fn new(
        cluster: Arc<DockerCluster>,
        plan: Plan,
        recorder: Recorder,
        progress: Progress,
        interrupt: watch::Receiver<bool>,
    ) -> Self {
        let (sender, inputs) = mpsc::unbounded_channel();
        Self {
            slots: (0..plan.cluster.clients).map(Slot::new).collect(),
            cluster,
            plan,
            recorder,
            progress,
            mode: Mode::Quiet,
            interrupt,
            ops_began: Instant::now(),
            nemesis_done: true,
            free: Duration::ZERO,
            free_since: None,
            acquired_in: Vec::new(),
            phase: "set up",
            resource: ExternalResource::default(),
            armed: None,
            inputs,
            sender,
            next_id: 0,
            next_grant: 0,
            next_value: 0,
            completed: 0,
            faults: 0,
        }
    }

    pub(super) fn interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }

    /// The nemesis's way to this interpreter.
    pub(super) fn nemesis_sender(&self) -> mpsc::UnboundedSender<Ask> {
        let (asks, mut receiver) = mpsc::unbounded_channel();
        let sender = self.sender.clone();
        tokio::spawn(async move {
            while let Some(ask) = receiver.recv().await {
                if sender.send(Input::Nemesis(ask)).is_err() {
                    return;
                }
            }
        });
        asks
    }

    /// Begins a phase of the run.
    pub(super) fn enter(&mut self, phase: &'static str, mode: Mode) -> Result<()> {
        self.phase = phase;
        self.mode = mode;
        self.recorder.record(Entry::lane("run", "phase", json!(phase)))?;
        let now = Instant::now();
        for slot in &mut self.slots {
            if slot.op.is_none() && slot.greeted && slot.due.is_none() {
                slot.due = Some(now);
            }
        }
        Ok(())
    }

    /// Starts a client's process.
    pub(super) fn start_client(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        slot.incarnation += 1;
        slot.killed = false;
        let (name, incarnation) = (slot.name.clone(), slot.incarnation);
        let (cluster, sender) = (Arc::clone(&self.cluster), self.sender.clone());
        tokio::spawn(async move {
            let outputs = sender.clone();
            let on_output = move |output| {
                // Nobody listens once the run has ended.
                let _ = outputs.send(Input::Client {
                    slot: number,
                    incarnation,
                    output,
                });
            };
            let stdin = cluster.start_client(&name, incarnation, on_output).await;
            let _ = sender.send(Input::Started {
                slot: number,
                incarnation,
                stdin,
            });
        });
    }

    /// Runs until `future` is ready.
    pub(super) async fn during<T>(&mut self, future: impl Future<Output = T>) -> Result<T> {
        tokio::pin!(future);
        loop {
            tokio::select! {
                biased;
                step = self.step(None) => step?,
                output = &mut future => return Ok(output),
            }
        }
    }

    /// Runs until `done` holds or the deadline has come; tells whether `done` holds.
    pub(super) async fn until(&mut self, deadline: Instant, done: impl Fn(&Self) -> bool) -> Result<bool> {
        while !done(self) {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            self.step(Some(deadline)).await?;
        }
        Ok(true)
    }

    /// Handles one input or one timer. May be dropped while it waits: nothing is lost then.
    async fn step(&mut self, deadline: Option<Instant>) -> Result<()> {
        let timer = self.next_timer(deadline);
        tokio::select! {
            biased;
            input = self.inputs.recv() => self.handle(input.context("the queue of a run never closes")?)?,
            () = tokio::time::sleep_until(timer.into()) => {}
            _ = self.interrupt.changed() => {}
        }
        self.act()?;
        self.tick();
        Ok(())
    }

    fn next_timer(&self, deadline: Option<Instant>) -> Instant {
        let due = self.slots.iter().filter_map(|slot| slot.due);
        let armed = self.armed.iter().map(|armed| armed.due(&self.slots));
        let idle = Instant::now() + Duration::from_millis(200);
        due.chain(armed)
            .chain(deadline)
            .chain(self.confirm_due())
            .fold(idle, Instant::min)
    }

    fn tick(&mut self) {
        let left = Duration::from_millis(self.plan.time_ms).saturating_sub(self.ops_began.elapsed());
        let (phase, completed, faults) = (self.phase, self.completed, self.faults);
        let of = self.plan.windows.len();
        let holder = self
            .slots
            .iter()
            .find(|s| s.hold.is_some())
            .map_or("nobody", |s| &s.name)
            .to_string();
        self.progress.tick(|| {
            let left = if phase == "ops" {
                format!(", {} s left", left.as_secs())
            } else {
                String::new()
            };
            format!("{phase}: {completed} ops, {faults} of {of} faults, {holder} holds{left}")
        });
    }

    fn handle(&mut self, input: Input) -> Result<()> {
        match input {
            Input::Client {
                slot,
                incarnation,
                output,
            } if self.slots[slot].incarnation == incarnation => match output {
                Output::Line(line) => self.line(slot, &line),
                Output::Ended => self.ended(slot),
            },
            // Whatever a process wrote was read before its end, so only a second end could come here.
            Input::Client { .. } => Ok(()),
            Input::Started {
                slot,
                incarnation,
                stdin,
            } => {
                let stdin = stdin.with_context(|| self.cluster.log_tail(&self.slots[slot].name))?;
                if self.slots[slot].incarnation == incarnation {
                    self.slots[slot].stdin = Some(stdin);
                    self.wake(slot);
                }
                Ok(())
            }
            Input::Nemesis(ask) => self.nemesis(ask),
        }
    }

    fn nemesis(&mut self, ask: Ask) -> Result<()> {
        match ask {
            Ask::Record { fault, value, done } => {
                let begins = value["phase"] == "begin";
                self.faults += usize::from(begins);
                self.recorder.record(Entry::lane("nemesis", &fault, value))?;
                if begins {
                    self.recorder.sync()?;
                }
                // The nemesis waits for this, unless it has ended.
                let _ = done.send(());
            }
            Ask::Arm { window, fired } => self.armed = Some(Armed::new(&window, self.ops_began, fired)),
            Ask::Killing(name) => {
                if let Some(slot) = self.slots.iter_mut().find(|slot| slot.name == name) {
                    slot.killed = true;
                }
            }
            Ask::Restart { client, greeted } => {
                if let Some(number) = self.slots.iter().position(|slot| slot.name == client) {
                    self.slots[number].awaited = Some(greeted);
                    self.start_client(number);
                }
            }
            Ask::Done => self.nemesis_done = true,
        }
        Ok(())
    }

    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        let name = self.slots[number].name.clone();
        let message: Message = serde_json::from_str(line)
            .with_context(|| format!("client {name} wrote a line that is no message of the protocol: {line}"))?;
        match message {
            Message::Hello { pid, session, .. } => {
                let value = json!({ "pid": pid, "incarnation": self.slots[number].incarnation, "session": session });
                self.recorder.record(Entry::lane(&name, "hello", value))?;
                self.slots[number].greeted = true;
                if let Some(awaited) = self.slots[number].awaited.take() {
                    // The nemesis waits for this, unless it has ended.
                    let _ = awaited.send(());
                }
                self.wake(number);
            }
            Message::Notice { notice, value } => {
                let lost = notice == "lost" && value["grant"].as_str() == self.slots[number].hold.as_deref();
                self.recorder.record(Entry::lane(&name, &notice, value))?;
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
                if self.slots[number].op.as_ref().is_some_and(|op| op.id == id) {
                    self.completed += 1;
                    self.complete(number, outcome, value, error)?;
                } else if let Some((f, sent)) = self.slots[number].control.remove(&id) {
                    self.control_answered(number, (f, sent), outcome, value, error)?;
                } else {
                    bail!("client {name} answered request {id}, which it was not asked: {line}");
                }
            }
        }
        Ok(())
    }

    /// Lets a client that is started and has said hello go on.
    fn wake(&mut self, number: usize) {
        let slot = &mut self.slots[number];
        if slot.greeted && slot.stdin.is_some() && slot.op.is_none() {
            slot.due = Some(Instant::now());
        }
    }

    /// A client's stream has ended: its operation completes now, and its hold ends.
    fn ended(&mut self, number: usize) -> Result<()> {
        if let Some(op) = self.slots[number].op.take() {
            self.record_end(
                number,
                &op,
                EventType::Info,
                Value::Null,
                Some("the client's process died".into()),
            )?;
        }
        let asked: Vec<&'static str> = self.slots[number].control.drain().map(|(_, (f, _))| f).collect();
        for f in asked {
            self.record_control(
                number,
                f,
                EventType::Info,
                Value::Null,
                Some("the client's process died".into()),
            )?;
        }
        let (name, incarnation) = (self.slots[number].name.clone(), self.slots[number].incarnation);
        self.recorder
            .record(Entry::lane(&name, "exit", json!({ "incarnation": incarnation })))?;
        self.hold_ended(number);
        let clients = self.slots.len() as u64;
        let slot = &mut self.slots[number];
        slot.stdin = None;
        slot.greeted = false;
        slot.due = None;
        slot.process += clients;
        slot.next_cycle();
        if !slot.killed {
            bail!("client {name} ended by itself.\n{}", self.cluster.log_tail(&name));
        }
        Ok(())
    }

    /// Writes the completion of an operation.
    fn record_end(
        &mut self,
        number: usize,
        op: &Op,
        kind: EventType,
        value: Value,
        error: Option<String>,
    ) -> Result<()> {
        let slot = &self.slots[number];
        let value = if value.is_null() {
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

    fn complete(&mut self, number: usize, outcome: Outcome, value: Value, error: Option<String>) -> Result<()> {
        let Some(op) = self.slots[number].op.take() else {
            return Ok(());
        };
        let mut kind = match outcome {
            Outcome::Ok => EventType::Ok,
            Outcome::Fail => EventType::Fail,
            Outcome::Info => EventType::Info,
        };
        let (mut value, mut error) = (value, error);
        let arrives = op.f == "write" && kind == EventType::Ok && self.plan.workload.resource == Resource::External;
        if arrives {
            let verdict = self.resource.arrive(value["token"].as_i64());
            value["accepted"] = json!(verdict.is_ok());
            if let Err(refused) = verdict {
                (kind, error) = (EventType::Fail, Some(refused));
            }
        }
        let not_held = op.f == "write" && kind == EventType::Fail && !arrives;
        self.record_end(number, &op, kind, value, error)?;
        if kind == EventType::Info {
            self.slots[number].process += self.slots.len() as u64;
        }
        if op.f == "acquire" && kind == EventType::Ok {
            self.acquired_in.push(op.since.elapsed());
            self.slots[number].hold = Some(op.grant.clone());
            self.slots[number].held_since = Instant::now();
            // If somebody else holds too, both are asked at once.
            self.slots.iter_mut().for_each(|slot| slot.confirmed = None);
            self.free_or_held();
        } else if not_held && self.slots[number].hold.as_ref() == Some(&op.grant) {
            self.hold_ended(number);
        }
        self.advance(number, &op, kind);
        Ok(())
    }

    /// Decides what the client does after an operation.
    fn advance(&mut self, number: usize, op: &Op, kind: EventType) {
        let plan = &self.plan.clients[number];
        let slot = &mut self.slots[number];
        let writes = slot.cycle(plan).map_or(0, |cycle| cycle.writes.len());
        let mut pause = Duration::ZERO;
        match (op.f, slot.step) {
            ("acquire", _) if kind == EventType::Ok => slot.step = Step::Write(0),
            ("acquire", _) => {
                slot.next_cycle();
                // A client that cannot reach the ensemble must not fill the history with failures.
                pause = Duration::from_millis(50);
            }
            ("write", Step::Write(n)) if n + 1 < writes && kind == EventType::Ok && self.mode != Mode::Final => {
                slot.step = Step::Write(n + 1);
            }
            ("write", _) => slot.step = Step::Release,
            _ => {
                slot.finished = slot.last_cycle;
                slot.next_cycle();
                pause = Duration::from_millis(slot.cycle(plan).map_or(0, |cycle| cycle.think_ms));
            }
        }
        if self.mode == Mode::Final {
            pause = pause.min(Duration::from_millis(50));
        }
        slot.due = Some(Instant::now() + pause);
    }

    /// A hold has ended for the history.
    pub(super) fn hold_ended(&mut self, number: usize) {
        self.slots[number].hold = None;
        self.free_or_held();
    }

    /// Keeps the clock that runs only while nobody holds.
    fn free_or_held(&mut self) {
        let held = self.slots.iter().any(|slot| slot.hold.is_some());
        match (held, self.free_since) {
            (true, Some(since)) => {
                self.free += since.elapsed();
                self.free_since = None;
            }
            (false, None) => self.free_since = Some(Instant::now()),
            _ => {}
        }
    }

    /// How long nobody has held, up to now.
    pub(super) fn free_time(&self) -> Duration {
        self.free + self.free_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Does all that is due: triggers, control requests, next operations.
    fn act(&mut self) -> Result<()> {
        let now = Instant::now();
        if let Some(armed) = self.armed.take() {
            self.armed = armed.poll(&self.slots, now);
        }
        self.confirm_holders(now)?;
        for number in 0..self.slots.len() {
            let slot = &self.slots[number];
            if slot.due.is_some_and(|due| due <= now) && slot.op.is_none() && slot.stdin.is_some() {
                self.slots[number].due = None;
                self.next_op(number)?;
            }
        }
        Ok(())
    }

    fn next_op(&mut self, number: usize) -> Result<()> {
        let step = self.slots[number].step;
        let begins = step == Step::Acquire;
        match self.mode {
            Mode::Quiet => return Ok(()),
            Mode::Drain if begins => return Ok(()),
            Mode::Final if begins && self.slots[number].finished => return Ok(()),
            Mode::Final if begins => self.slots[number].last_cycle = true,
            _ => {}
        }
        let grant = self.slots[number].grant.clone();
        match (step, grant) {
            (Step::Acquire, _) => {
                self.next_grant += 1;
                let grant = format!("g{}", self.next_grant);
                self.slots[number].grant = Some(grant.clone());
                self.send_op(number, "acquire", grant, 0, json!({}))
            }
            (Step::Write(n), Some(grant)) if self.mode != Mode::Final || self.slots[number].last_cycle => {
                let plan = &self.plan.clients[number];
                let planned = self.slots[number]
                    .cycle(plan)
                    .and_then(|cycle| cycle.writes.get(n).copied());
                let work_ms = if self.mode == Mode::Final {
                    0
                } else {
                    planned.unwrap_or(0)
                };
                self.next_value += 1;
                let value = json!({ "value": self.next_value, "work_ms": work_ms });
                self.send_op(number, "write", grant, work_ms, value)
            }
            (_, Some(grant)) => {
                // The hold ends here for the history, whatever becomes of the release.
                self.send_op(number, "release", grant, 0, json!({}))?;
                self.hold_ended(number);
                Ok(())
            }
            (_, None) => bail!("client {} has nothing to release", self.slots[number].name),
        }
    }

    fn send_op(&mut self, number: usize, f: &'static str, grant: String, work_ms: u64, value: Value) -> Result<()> {
        let mut value = value;
        value["grant"] = json!(grant);
        let free_at = self.free_time();
        let id = self.request_id();
        let slot = &mut self.slots[number];
        let (process, node) = (Process::Number(slot.process), Some(slot.name.clone()));
        let entry = Entry {
            process,
            kind: EventType::Invoke,
            f: f.to_string(),
            value: value.clone(),
            error: None,
            node,
        };
        self.recorder.record(entry)?;
        slot.op = Some(Op {
            id,
            f,
            grant,
            work_ms,
            since: Instant::now(),
            free_at,
        });
        self.send(
            number,
            Request {
                id,
                f: f.to_string(),
                value,
                timeout_ms: None,
            },
        )
    }

    pub(super) fn request_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn send(&self, number: usize, request: Request) -> Result<()> {
        if let Some(stdin) = &self.slots[number].stdin {
            stdin.send(serde_json::to_string(&request).context("writing a request")?);
        }
        Ok(())
    }

    /// Arms nothing any more: a window that still waits for its trigger is given up.
    pub(super) fn disarm(&mut self) {
        self.armed = None;
    }
}
