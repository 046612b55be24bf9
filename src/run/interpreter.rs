//! The interpreter: gives each client its next operation, takes replies, owns the clock, and alone writes the history.

use super::inputs::Input;
use super::progress::Progress;
use super::recorder::{Entry, Recorder, Stalls};
use super::resource::ExternalResource;
use super::script::{self, Mode, Script};
use super::slot::Slot;
use super::stage;
use super::trigger::Armed;
use crate::cluster::DockerCluster;
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use zooquake_checkers::plan::Plan;

/// The loop turns at least this often, so that a stall is measured that closely.
const IDLE: Duration = Duration::from_millis(50);

/// Drives the clients of one run. Its parts: what comes in (`inputs`), operations (`ops`), holds (`holds`), control
/// requests (`control`), and what follows the faults (`recovery`).
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) cluster: Arc<DockerCluster>,
    pub(super) plan: Plan,
    pub(super) recorder: Recorder,
    pub(super) progress: Progress,
    pub(super) slots: Vec<Slot>,
    pub(super) script: Box<dyn Script>,
    pub(super) mode: Mode,
    pub(super) interrupt: watch::Receiver<bool>,
    pub(super) ops_began: Instant,
    pub(super) nemesis_done: bool,
    /// Since recovery: how long nobody held, and since when nobody holds.
    pub(super) free: Duration,
    pub(super) free_since: Option<Instant>,
    /// How long the operations took that wait for others, for the bound of liveness.
    pub(super) waited: Vec<Duration>,
    pub(super) resource: ExternalResource,
    pub(super) armed: Option<Armed>,
    /// Windows that have begun and were not seen to be healed, by number.
    pub(super) unhealed: BTreeSet<u64>,
    pub(super) inputs: mpsc::UnboundedReceiver<Input>,
    pub(super) sender: mpsc::UnboundedSender<Input>,
    pub(super) completed: u64,
    pub(super) faults: usize,
    phase: &'static str,
    next_id: u64,
    stalls: Stalls,
}

impl Interpreter {
    pub(super) fn new(
        cluster: Arc<DockerCluster>,
        plan: Plan,
        mut recorder: Recorder,
        progress: Progress,
        interrupt: watch::Receiver<bool>,
    ) -> Result<Self> {
        let (sender, inputs) = mpsc::unbounded_channel();
        // Half a session timeout is less than any recipe can notice.
        recorder.watch(Duration::from_millis(plan.cluster.timing.session_ms / 2));
        Ok(Self {
            slots: (0..plan.cluster.clients).map(Slot::new).collect(),
            script: script::of(&plan)?,
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
            waited: Vec::new(),
            resource: ExternalResource::default(),
            armed: None,
            unhealed: BTreeSet::new(),
            inputs,
            sender,
            completed: 0,
            faults: 0,
            phase: "set up",
            next_id: 0,
            stalls: Stalls::default(),
        })
    }

    pub(super) fn interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }

    /// Begins a phase of the run.
    pub(super) fn enter(&mut self, phase: &'static str, mode: Mode) -> Result<()> {
        self.phase = phase;
        self.mode = mode;
        stage::enter(stage::of_phase(phase));
        self.recorder.record(Entry::lane("run", "phase", json!(phase)))?;
        let now = Instant::now();
        for slot in &mut self.slots {
            if slot.op.is_none() && slot.greeted && slot.due.is_none() {
                slot.due = Some(now);
            }
        }
        Ok(())
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

    /// The same, or `None` as soon as the user wants the run to stop.
    pub(super) async fn unless_interrupted<T>(&mut self, future: impl Future<Output = T>) -> Result<Option<T>> {
        let mut interrupt = self.interrupt.clone();
        self.during(async move {
            tokio::select! {
                output = future => Some(output),
                Ok(_) = interrupt.wait_for(|stop| *stop) => None,
            }
        })
        .await
    }

    /// Runs until `done` holds or the deadline has come; tells whether `done` holds. The deadline moves by what stalls take
    /// from it: what waited unread in one is read before it is given up.
    pub(super) async fn until(&mut self, deadline: Instant, done: impl Fn(&Self) -> bool) -> Result<bool> {
        let before = self.recorder.stalls();
        while !done(self) {
            let deadline = before.moved(deadline, self.recorder.stalls());
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
        self.recorder.rests(timer.saturating_duration_since(Instant::now()));
        let input = tokio::select! {
            biased;
            input = self.inputs.recv() => Some(input.context("the queue of a run never closes")?),
            () = tokio::time::sleep_until(timer.into()) => None,
            _ = self.interrupt.changed() => None,
        };
        // Before anything that was read after it.
        self.recorder.turns()?;
        input.map_or(Ok(()), |input| self.handle(input))?;
        self.act()?;
        self.after_stalls();
        self.tick();
        Ok(())
    }

    /// What waited unread while the harness stood still was not free time: all clocks of liveness begin anew.
    fn after_stalls(&mut self) {
        if self.recorder.stalls() == self.stalls {
            return;
        }
        self.stalls = self.recorder.stalls();
        let ms = self.stalls.last.as_millis();
        self.progress.say(&format!("zooquake itself stood still for {ms} ms"));
        self.restart_free_time();
        let pending = self.slots.iter_mut().filter_map(|slot| slot.op.as_mut());
        pending.for_each(|op| op.free_at = Duration::ZERO);
    }

    fn next_timer(&self, deadline: Option<Instant>) -> Instant {
        let due = self.slots.iter().filter_map(|slot| slot.due);
        let armed = self.armed.iter().map(|armed| armed.due(&self.slots));
        let idle = Instant::now() + IDLE;
        due.chain(armed)
            .chain(deadline)
            .chain(self.confirm_due())
            .fold(idle, Instant::min)
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

    pub(super) fn request_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Arms nothing any more: a window that still waits for its trigger is given up.
    pub(super) fn disarm(&mut self) {
        self.armed = None;
    }
}
