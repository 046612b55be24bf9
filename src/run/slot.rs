//! What the interpreter knows of one client.

use crate::cluster::exec::Stdin;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use zooquake_checkers::plan::{ClientPlan, Cycle};

/// An operation of the recipe that was sent and is not answered.
#[derive(Debug, Clone)]
pub struct Op {
    /// Number of the request.
    pub id: u64,
    /// `acquire`, `write` or `release`.
    pub f: &'static str,
    /// The grant it is about.
    pub grant: String,
    /// Milliseconds of work, of a write.
    pub work_ms: u64,
    /// When it was sent.
    pub since: Instant,
    /// How long nobody had held since recovery, when it was sent.
    pub free_at: Duration,
}

/// Where a client is in its cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before the acquire.
    Acquire,
    /// Before the write of this number.
    Write(usize),
    /// Before the release.
    Release,
}

/// One client.
#[derive(Debug)]
pub struct Slot {
    /// `c1`, ….
    pub name: String,
    /// How often its process was started.
    pub incarnation: u64,
    /// Its logical process at the moment.
    pub process: u64,
    /// The way to its process; `None` while it is dead.
    pub stdin: Option<Stdin>,
    /// Whether its process has said hello.
    pub greeted: bool,
    /// Whether its death was ordered by the nemesis.
    pub killed: bool,
    /// What it does next.
    pub step: Step,
    /// When it does that; `None` if something else has to happen first.
    pub due: Option<Instant>,
    /// The recipe's operation in flight.
    pub op: Option<Op>,
    /// Control requests in flight: number, operation, and when it was sent.
    pub control: HashMap<u64, (&'static str, Instant)>,
    /// The grant that it was given and that has not ended.
    pub hold: Option<String>,
    /// When that grant was read.
    pub held_since: Instant,
    /// The grant of the current cycle, held or not, that is to be released.
    pub grant: Option<String>,
    /// When it was last sent a `confirm`.
    pub confirmed: Option<Instant>,
    /// Whether the current cycle is its last one, after recovery.
    pub last_cycle: bool,
    /// Whether it has done the operations asked for after recovery.
    pub finished: bool,
    /// Whether it answered the `quiesce` sent last.
    pub quiesced: bool,
    /// Who waits for the hello of its restarted process.
    pub awaited: Option<oneshot::Sender<()>>,
    cycle: usize,
}

impl Slot {
    /// A client before its process was started.
    pub fn new(number: usize) -> Self {
        Self {
            name: format!("c{}", number + 1),
            incarnation: 0,
            process: number as u64,
            stdin: None,
            greeted: false,
            killed: false,
            step: Step::Acquire,
            due: None,
            op: None,
            control: HashMap::new(),
            hold: None,
            held_since: Instant::now(),
            grant: None,
            confirmed: None,
            last_cycle: false,
            finished: false,
            quiesced: false,
            awaited: None,
            cycle: 0,
        }
    }

    /// The cycle it is in.
    pub fn cycle<'a>(&self, plan: &'a ClientPlan) -> Option<&'a Cycle> {
        plan.cycles.get(self.cycle % plan.cycles.len().max(1))
    }

    /// Goes on to the next cycle.
    pub fn next_cycle(&mut self) {
        self.cycle += 1;
        self.step = Step::Acquire;
        self.grant = None;
    }

    /// Whether a request of this kind is in flight.
    pub fn asked(&self, f: &str) -> bool {
        self.control.values().any(|(asked, _)| *asked == f)
    }
}
