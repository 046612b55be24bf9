//! Clients of a user's own recipe whose processes end by themselves, which is common practice when a session is lost: each is
//! started again, as a supervisor would do it.

use super::Engine;
use super::effect::Effect;
use super::stage::Stage;
use std::time::Duration;

/// How long after its end a process is started again.
const AFTER: Duration = Duration::from_secs(1);

/// Whether a process that has ended by itself is started again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Restart {
    /// There is none, or the nemesis starts it.
    #[default]
    None,
    /// Then.
    At(Duration),
    /// Once no window is on any more: it has ended too often in one.
    Healed,
}

impl Engine {
    /// A client's process has ended that nobody had killed. One of a built-in variant never does, nor does one that has not yet begun:
    /// then the run proves nothing.
    pub(super) fn ended_by_itself(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        let begun = !matches!(self.stage, Stage::SetUp | Stage::Greeting(_));
        let Some(recipe) = self.plan.workload.recipe.as_ref().filter(|_| begun) else {
            let why = format!("client {} ended by itself.", worker.name);
            return self.broken(number, why);
        };
        worker.deaths = if self.unhealed.is_empty() { 0 } else { worker.deaths + 1 };
        let again = worker.deaths <= recipe.max_restarts;
        worker.restart = if again {
            Restart::At(self.now + AFTER)
        } else {
            Restart::Healed
        };
        let then = if again {
            "it is started again"
        } else {
            "too often: it stays so until the fault is healed"
        };
        let text = format!("{} ended by itself; {then}", worker.name);
        self.emit(Effect::Say(text));
    }

    /// Starts those again whose time has come.
    pub(super) fn restart(&mut self) {
        for number in 0..self.workers.len() {
            if matches!(self.workers[number].restart, Restart::At(at) if at <= self.now) {
                self.start_client(number);
            }
        }
    }

    /// When the next one is started again.
    pub(super) fn restart_due(&self) -> Option<Duration> {
        let at = |worker: &super::Worker| match worker.restart {
            Restart::At(at) => Some(at),
            Restart::None | Restart::Healed => None,
        };
        self.workers.iter().filter_map(at).min()
    }

    /// A window was healed: if none is on any more, what happened in it counts no more.
    pub(super) fn forgive_deaths(&mut self) {
        if !self.unhealed.is_empty() {
            return;
        }
        for worker in &mut self.workers {
            worker.deaths = 0;
            if worker.restart == Restart::Healed {
                worker.restart = Restart::At(self.now + AFTER);
            }
        }
    }

    /// The nemesis is about to kill a client's process: it alone starts that again. One that is just being started is killed once it
    /// runs, so that none is left behind.
    pub(super) fn killing(&mut self, number: usize, token: u64) {
        let worker = &mut self.workers[number];
        let starting = worker.restart == Restart::None && !worker.runs() && !worker.killed;
        if starting && self.plan.workload.recipe.is_some() {
            worker.killing = Some(token);
        } else {
            worker.killed = true;
            worker.restart = Restart::None;
            self.answer_nemesis(token, Some(super::Answer::Done));
        }
    }

    /// A process that was to be killed once it runs does so now, or has ended before.
    pub(super) fn kill_now(&mut self, number: usize) {
        if let Some(token) = self.workers[number].killing.take() {
            self.workers[number].killed = true;
            self.answer_nemesis(token, Some(super::Answer::Done));
        }
    }
}
