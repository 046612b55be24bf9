//! The course of a run: what it waits for at the moment, and what comes next.

use super::audit::Audit;
use super::control::{Asking, QUIESCE};
use super::drain::Drain;
use super::effect::{Conclusion, Effect, Entry, Leader};
use super::generator::Phase;
use super::last_ops::LastOps;
use super::recovery::HEALING;
use super::{Deadline, Engine};
use serde_json::json;
use std::time::Duration;
use zooquake_history::evidence::Reading;

/// Longest wait for all clients to say hello.
const GREETING: Duration = Duration::from_secs(30);

/// What a run waits for.
#[derive(Debug)]
pub(super) enum Stage {
    /// To be begun.
    SetUp,
    /// The end of a scene, which has no clients.
    Playing,
    /// All clients to say hello.
    Greeting(Deadline),
    /// The end of the operations.
    Ops(Deadline),
    /// Every fault to be healed, every client to run.
    Healing(Deadline),
    /// A steady leader, and the expiry of a silent session.
    Steady,
    /// Every client to answer, under this leader.
    Quiescing(Asking, Leader),
    /// Each client to do one thing more, within the bound of liveness.
    LastOps(LastOps),
    /// The queue to be empty.
    Draining(Drain),
    /// Two readings of the tree, and an answer of every client between them.
    Auditing(Audit),
    /// Nothing.
    Over,
}

/// The answer to a question that the shell was asked.
#[derive(Debug)]
pub(super) enum Seen {
    Steady(Result<Leader, String>),
    Leads(Result<(), String>),
    Running(Result<String, String>),
    Read(Result<Reading, String>),
}

/// Whether a stage goes on, or another one follows at once.
pub(super) enum Turn {
    Stays(Stage),
    Moves(Stage),
}

impl Engine {
    pub(super) fn begin(&mut self) {
        if !self.plan.scenes.is_empty() {
            self.strike();
            self.stage = Stage::Playing;
            return;
        }
        for number in 0..self.workers.len() {
            self.start_client(number);
        }
        self.stage = Stage::Greeting(self.deadline(GREETING));
    }

    fn strike(&mut self) {
        self.nemesis_done = false;
        self.emit(Effect::Strike);
    }

    /// Goes from stage to stage until one has to wait.
    pub(super) fn advance(&mut self, mut seen: Option<Seen>) {
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Over);
            let turn = match stage {
                Stage::SetUp | Stage::Over => Turn::Stays(stage),
                Stage::Playing => self.playing(),
                Stage::Greeting(by) => self.greeting(by),
                Stage::Ops(end) => self.operating(end),
                Stage::Healing(by) => self.healing(by),
                Stage::Steady => self.steadying(seen.take()),
                Stage::Quiescing(asking, leader) => self.quiescing(asking, leader, seen.take()),
                Stage::LastOps(last) => self.last_ops(last, seen.take()),
                Stage::Draining(drain) => self.draining(drain),
                Stage::Auditing(audit) => self.auditing(audit, seen.take()),
            };
            match turn {
                Turn::Moves(stage) => self.stage = stage,
                Turn::Stays(stage) => {
                    self.stage = stage;
                    return;
                }
            }
        }
    }

    /// When the stage has to be looked at again, if nothing happens before.
    pub(super) fn stage_due(&self) -> Option<Duration> {
        let deadline = match &self.stage {
            Stage::SetUp | Stage::Playing | Stage::Steady | Stage::Over => None,
            Stage::Greeting(by) | Stage::Ops(by) | Stage::Healing(by) => Some(*by),
            Stage::Quiescing(asking, _) => asking.by,
            Stage::LastOps(last) => last.due(),
            Stage::Draining(drain) => drain.due(),
            Stage::Auditing(audit) => audit.due(),
        };
        deadline.map(|deadline| self.moment_of(deadline))
    }

    fn playing(&mut self) -> Turn {
        if self.interrupted {
            self.emit(Effect::Over);
        }
        match (self.nemesis_done, self.interrupted) {
            (false, _) => Turn::Stays(Stage::Playing),
            (true, true) => Turn::Moves(self.give_up()),
            (true, false) => Turn::Moves(self.over(Conclusion::Played)),
        }
    }

    fn greeting(&mut self, by: Deadline) -> Turn {
        if self.interrupted {
            return Turn::Moves(self.give_up());
        }
        if self.all_run() {
            self.ops_began = self.now;
            self.enter("ops", Phase::Load);
            self.strike();
            let time = Duration::from_millis(self.plan.time_ms);
            return Turn::Moves(Stage::Ops(self.deadline(time)));
        }
        if !self.passed(by) {
            return Turn::Stays(Stage::Greeting(by));
        }
        let dead = |worker: &&super::Worker| !worker.runs();
        let silent: Vec<&str> = self
            .workers
            .iter()
            .filter(dead)
            .map(|worker| worker.name.as_str())
            .collect();
        let why = format!("clients {silent:?} have not said hello in {} s.", GREETING.as_secs());
        let first = self.workers.iter().position(|worker| !worker.runs()).unwrap_or(0);
        self.broken(first, why);
        Turn::Stays(Stage::Over)
    }

    fn operating(&mut self, end: Deadline) -> Turn {
        if !(self.interrupted || self.passed(end) || self.all_have_done_their_own()) {
            return Turn::Stays(Stage::Ops(end));
        }
        if self.interrupted {
            self.record_interruption();
        }
        self.emit(Effect::Over);
        self.disarm();
        self.enter("heal", Phase::Drain);
        Turn::Moves(Stage::Healing(self.deadline(HEALING)))
    }

    fn quiescing(&mut self, mut asking: Asking, leader: Leader, seen: Option<Seen>) -> Turn {
        self.seen(&mut asking, seen);
        match self.answered(&asking) {
            None => Turn::Stays(Stage::Quiescing(asking, leader)),
            Some(Err(silent)) => Turn::Moves(self.recover_again(silent)),
            Some(Ok(())) => Turn::Moves(self.recovered(leader)),
        }
    }

    /// Whether every client has answered in time; `None` while some may yet.
    pub(super) fn answered(&self, asking: &Asking) -> Option<Result<(), String>> {
        let by = asking.by?;
        let over = self.interrupted || self.all_quiesced() || self.passed(by);
        over.then(|| self.silent(asking.limit()).map_or(Ok(()), Err))
    }

    /// Asks every client for an answer, before the bound of liveness begins.
    pub(super) fn quiesce(&mut self, leader: Leader) -> Stage {
        let asking = self.ask_all(QUIESCE);
        Stage::Quiescing(asking, leader)
    }

    pub(super) fn all_run(&self) -> bool {
        self.workers.iter().all(super::Worker::runs)
    }

    pub(super) fn record_interruption(&mut self) {
        if !std::mem::replace(&mut self.interruption_recorded, true) {
            self.record(Entry::named("run", "phase", json!("interrupted")));
        }
    }

    /// The end of a run that the user stopped: nothing is audited.
    pub(super) fn give_up(&mut self) -> Stage {
        self.record_interruption();
        self.over(Conclusion::Interrupted)
    }

    pub(super) fn over(&mut self, conclusion: Conclusion) -> Stage {
        self.emit(Effect::Done(conclusion));
        Stage::Over
    }
}
