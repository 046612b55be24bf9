//! The processes of the clients: their starts, greetings and ends, kills by the nemesis, and restarts.

use super::Clients;
use super::worker::Worker;
use crate::context::RunContext;
use crate::effect::{Effect, HistoryEntry, NemesisAnswer, StartError};
use crate::operation::OpKind;
use serde_json::json;
use std::time::Duration;
use zooquake_history::Node;
use zooquake_history::operation::control::Hello;
use zooquake_history::protocol::ClientLimit;

/// The time from the end of a process that ended by itself to its next start.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// A client's process. The tokens are those of reports of the nemesis.
#[derive(Debug, Default)]
pub struct ClientProcess {
    /// The number of its starts.
    pub incarnation: u64,
    /// Whether it takes requests; false while it is dead.
    pub connected: bool,
    /// Whether its `hello` was read.
    greeted: bool,
    /// Whether its death was ordered by the nemesis.
    pub killed: bool,
    restart: RestartState,
    /// The number of its ends by itself while some window was on that still is.
    deaths: u32,
    /// The report of a kill that waits for it to run.
    kill: Option<u64>,
    /// The report that is answered when its `hello` after a kill is read.
    restart_report: Option<u64>,
    /// Whether the way to the process before this one was lost: the engine starts it again until its `hello` is read.
    is_lost: bool,
}

/// Whether a process that has ended by itself is started again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum RestartState {
    /// It runs, or the nemesis starts it.
    #[default]
    None,
    /// It is started again at this moment.
    Due(Duration),
    /// It is started again once no window is on any more: it has ended too often in one.
    AfterHealing,
}

impl ClientProcess {
    /// It is started; returns its incarnation.
    fn start(&mut self) -> u64 {
        self.incarnation += 1;
        self.killed = false;
        self.restart = RestartState::None;
        self.incarnation
    }

    /// It is started again after a kill, for this report.
    fn restart_for(&mut self, report: u64) -> u64 {
        self.restart_report = Some(report);
        self.start()
    }

    /// It takes requests.
    fn connect(&mut self) {
        self.connected = true;
    }

    /// Its `hello` was read; returns the report that waited for that.
    fn greet(&mut self) -> Option<u64> {
        self.greeted = true;
        self.is_lost = false;
        self.restart_report.take()
    }

    /// It has ended.
    fn end(&mut self) {
        self.connected = false;
        self.greeted = false;
    }

    /// Whether it takes requests and its `hello` was read.
    pub fn runs(&self) -> bool {
        self.greeted && self.connected
    }

    /// The nemesis is about to kill it, and alone starts it again. One that is just being started, where the engine
    /// does so by itself (`restarts`), is killed once it runs, so that none is left behind. Returns whether it may be
    /// killed now.
    fn kill(&mut self, report: u64, restarts: bool) -> bool {
        let starting = self.restart == RestartState::None && !self.runs() && !self.killed;
        if starting && (restarts || self.is_lost) {
            self.kill = Some(report);
            return false;
        }
        self.killed = true;
        self.restart = RestartState::None;
        true
    }

    /// It runs, or has ended: the report of a kill that waited for that, which may be carried out now.
    fn take_kill(&mut self) -> Option<u64> {
        let report = self.kill.take();
        self.killed |= report.is_some();
        report
    }

    /// It has ended by itself; returns whether it is started again soon. It is not if it has done so more often than
    /// `max_restarts` while windows were on.
    fn restart_later(&mut self, now: Duration, max_restarts: u32, window_on: bool) -> bool {
        self.deaths = if window_on { self.deaths + 1 } else { 0 };
        let again = self.deaths <= max_restarts;
        self.restart = if again {
            RestartState::Due(now + RESTART_PAUSE)
        } else {
            RestartState::AfterHealing
        };
        again
    }

    /// There is no way to it: it is started again soon, unless the nemesis has killed it. Returns the report that
    /// waited for its `hello`.
    fn lose(&mut self, now: Duration) -> Option<u64> {
        self.end();
        self.is_lost = true;
        // The nemesis, whose start has failed, tries again.
        let report = self.restart_report.take();
        self.killed |= report.is_some();
        self.restart = match self.killed {
            true => RestartState::None,
            false => RestartState::Due(now + RESTART_PAUSE),
        };
        report
    }

    /// No window is on any more: what happened in them counts no more.
    fn forgive(&mut self, now: Duration) {
        self.deaths = 0;
        if self.restart == RestartState::AfterHealing {
            self.restart = RestartState::Due(now + RESTART_PAUSE);
        }
    }

    /// The moment at which it is started again; `None` if it is not.
    pub fn restart_due(&self) -> Option<Duration> {
        match self.restart {
            RestartState::Due(at) => Some(at),
            RestartState::None | RestartState::AfterHealing => None,
        }
    }
}

impl Clients {
    /// Has every client's process started.
    pub fn start_all(&mut self, run: &mut RunContext) {
        (0..self.workers.len()).for_each(|number| self.start(run, number));
    }

    /// Has a client's process started.
    pub(super) fn start(&mut self, run: &mut RunContext, client: usize) {
        let incarnation = self.workers[client].process.start();
        run.emit(Effect::Start { client, incarnation });
    }

    /// A client's process was started, or could not be.
    pub fn started(&mut self, run: &mut RunContext, number: usize, incarnation: u64, started: Result<(), StartError>) {
        let worker = &mut self.workers[number];
        match started {
            Err(StartError { why, unreachable: true }) => self.lost(run, number, incarnation, &why),
            Err(StartError { why, .. }) => run.broken(number, why),
            Ok(()) if worker.process.incarnation == incarnation => {
                worker.process.connect();
                self.wake(run, number);
            }
            Ok(()) => {}
        }
    }

    /// The `hello` of a client's process was read.
    pub(super) fn greet(&mut self, run: &mut RunContext, number: usize, hello: &Hello) {
        let worker = &mut self.workers[number];
        let beside = |word: &String| ClientLimit::from_word(word) == Some(ClientLimit::Beside);
        worker.beside = !hello.cannot.iter().any(beside);
        let report = worker.process.greet();
        run.record(HistoryEntry::of_client(&worker.node, "hello", json!(hello)));
        if let Some(token) = report {
            run.answer_nemesis(token, Some(NemesisAnswer::Done));
        }
        self.kill_now(run, number);
        self.wake(run, number);
    }

    /// Lets a client go on that is started and whose `hello` was read.
    fn wake(&mut self, run: &RunContext, number: usize) {
        let worker = &mut self.workers[number];
        if worker.is_idle() {
            worker.due = Some(run.now);
        }
    }

    /// A client's stream has ended: its operation completes now, and its hold ends.
    pub(super) fn end(&mut self, run: &mut RunContext, number: usize) {
        self.kill_now(run, number);
        let pending = self.workers[number].op.as_ref();
        if pending.is_some_and(|op| op.kind == OpKind::Acquire) {
            self.holds.may_last(run.now);
        }
        self.workers[number].record_exit(run);
        self.end_hold(run, number);
        self.generator.died(number);
        self.wake_others(run);
        let clients = self.workers.len() as u64;
        let worker = &mut self.workers[number];
        worker.process.end();
        worker.answered = None;
        worker.refusals = None;
        worker.due = None;
        worker.logical_process += clients;
    }

    /// The nemesis is about to kill a client's process, and waits for the answer to this report.
    pub fn kill(&mut self, run: &mut RunContext, client: &Node, report: u64) {
        let restarts = run.plan.workload.recipe.is_some();
        let worker = self.workers.iter_mut().find(|worker| worker.node == *client);
        if worker.is_none_or(|worker| worker.process.kill(report, restarts)) {
            run.answer_nemesis(report, Some(NemesisAnswer::Done));
        }
    }

    /// A process that was to be killed once it runs does so now, or has ended before.
    fn kill_now(&mut self, run: &mut RunContext, number: usize) {
        if let Some(token) = self.workers[number].process.take_kill() {
            run.answer_nemesis(token, Some(NemesisAnswer::Done));
        }
    }

    /// The nemesis has a client started again that it killed; this report is answered when that one's `hello` is read.
    pub fn restart_killed(&mut self, run: &mut RunContext, client: &Node, report: u64) {
        match self.workers.iter_mut().find(|worker| worker.node == *client) {
            Some(worker) => {
                let (client, incarnation) = (worker.number, worker.process.restart_for(report));
                run.emit(Effect::Start { client, incarnation });
            }
            None => run.answer_nemesis(report, None),
        }
    }

    /// The way to a client's process was lost, or there is none to start one: it is started once there is, by the
    /// nemesis if that has killed it.
    pub fn lost(&mut self, run: &mut RunContext, number: usize, incarnation: u64, why: &str) {
        if self.workers[number].process.incarnation != incarnation {
            return;
        }
        self.kill_now(run, number);
        let worker = &mut self.workers[number];
        if let Some(token) = worker.process.lose(run.now) {
            run.answer_nemesis(token, None);
        }
        run.say(format!("{}: {why}; it is started again", worker.node));
    }

    /// A client's process with this incarnation has ended by itself, while windows were on or not, after the operations
    /// had begun or before. That of a user's own recipe is started again, as a supervisor would do it: to end is common
    /// practice when a session is lost. One of a built-in variant never does, nor does one before the operations have
    /// begun: then the run proves nothing.
    pub fn ended_by_itself(
        &mut self,
        run: &mut RunContext,
        number: usize,
        incarnation: u64,
        window_on: bool,
        begun: bool,
    ) {
        let worker = &mut self.workers[number];
        let Some(recipe) = run.plan.workload.recipe.as_ref().filter(|_| begun) else {
            let why = format!("client {} ended by itself.", worker.node);
            return run.broken(number, why);
        };
        // The nemesis has killed it since, or started it again.
        if worker.process.incarnation != incarnation || worker.process.killed {
            return;
        }
        let again = worker.process.restart_later(run.now, recipe.max_restarts, window_on);
        let then = if again {
            "it is started again"
        } else {
            "too often: it stays so until the fault is healed"
        };
        run.say(format!("{} ended by itself; {then}", worker.node));
    }

    /// No window is on any more: ends of processes in windows count no more.
    pub fn forgive_deaths(&mut self, run: &RunContext) {
        self.workers
            .iter_mut()
            .for_each(|worker| worker.process.forgive(run.now));
    }

    /// Whether every client's process runs.
    pub fn all_run(&self) -> bool {
        self.workers.iter().all(|worker| worker.process.runs())
    }

    /// The clients whose processes do not run.
    pub fn dead(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().filter(|worker| !worker.process.runs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn running() -> ClientProcess {
        let mut process = ClientProcess::default();
        process.start();
        process.connect();
        assert!(!process.runs() && process.greet().is_none() && process.runs());
        process
    }

    #[test]
    fn one_that_ends_too_often_in_a_window_is_started_again_after_it() {
        let mut process = running();
        for _ in 0..2 {
            process.end();
            assert!(process.restart_later(NOW, 2, true));
            assert_eq!(process.restart_due(), Some(NOW + RESTART_PAUSE));
            process.start();
            assert_eq!(process.restart_due(), None);
        }
        assert!(!process.restart_later(NOW, 2, true));
        assert_eq!(process.restart_due(), None);
        process.forgive(NOW * 2);
        assert_eq!(process.restart_due(), Some(NOW * 2 + RESTART_PAUSE));
        assert!(process.restart_later(NOW, 2, true), "the count begins anew");
    }

    #[test]
    fn a_kill_waits_only_for_one_that_is_being_started_by_the_engine() {
        assert!(running().kill(1, true));
        assert!(ClientProcess::default().kill(1, false));
        let mut starting = ClientProcess::default();
        starting.start();
        assert!(!starting.kill(7, true) && !starting.killed);
        assert_eq!(starting.take_kill(), Some(7));
        assert!(starting.killed);
        assert_eq!(starting.take_kill(), None);
    }

    #[test]
    fn a_kill_of_one_that_has_ended_by_itself_leaves_its_restart_to_the_nemesis() {
        let mut process = running();
        process.end();
        assert!(process.restart_later(NOW, 2, true) && process.kill(1, true));
        assert_eq!(process.restart_due(), None);
        assert_eq!((process.restart_for(9), process.greet()), (2, Some(9)));
    }
}
