//! The processes of the clients: their starts, greetings and ends, kills by the nemesis, and restarts.

use super::Clients;
use super::worker::Worker;
use crate::context::RunContext;
use crate::effect::{Effect, StartError};
use crate::history_entry::HistoryEntry;
use crate::nemesis_messages::NemesisAnswer;
use serde_json::json;
use zooquake_history::operation::control::Hello;
use zooquake_history::protocol::ClientLimit;

impl Clients {
    /// Has every client's process started.
    pub fn start_all(&mut self, run: &mut RunContext) {
        (0..self.workers.len()).for_each(|number| self.start(run, number));
    }

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

    pub(super) fn greet(&mut self, run: &mut RunContext, number: usize, hello: &Hello) {
        let worker = &mut self.workers[number];
        let beside = |word: &String| ClientLimit::from_word(word) == Some(ClientLimit::Beside);
        worker.beside = !hello.cannot.iter().any(beside);
        let report = worker.process.greet();
        run.record(HistoryEntry::named(&worker.name, "hello", json!(hello)));
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
    pub fn kill(&mut self, run: &mut RunContext, client: &str, report: u64) {
        let restarts = run.plan.workload.recipe.is_some();
        let worker = self.workers.iter_mut().find(|worker| worker.name == client);
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
    pub fn restart_killed(&mut self, run: &mut RunContext, client: &str, report: u64) {
        match self.workers.iter_mut().find(|worker| worker.name == client) {
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
        run.say(format!("{}: {why}; it is started again", worker.name));
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
            let why = format!("client {} ended by itself.", worker.name);
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
        run.say(format!("{} ended by itself; {then}", worker.name));
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
