//! After the faults: healing, recovery with its canary, and the last operations.

use super::clients::Clients;
use super::clients::control::{QUIESCE, QuiesceRound};
use super::clients::worker::Worker;
use super::context::{Deadline, RunContext, Transition};
use super::effect::{Effect, HistoryEntry, Leader, Question, ShellAnswer, Stalls};
use super::generator::{ClosingTask, GeneratorPhase};
use super::nemesis::Nemesis;
use super::views::{Views, ViewsMoment};
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;
use zooquake_history::evidence::Reading;
use zooquake_history::{Node, node};

/// Longest wait for all faults to be healed and all clients to run.
const HEALING: Duration = Duration::from_secs(60);

/// How often recovery is begun, for whatever reason.
const ATTEMPTS: usize = 3;

/// What the engine waits beyond the bound, so that the checkers, which compute it from the history, find it reached.
const BEYOND: Duration = Duration::from_millis(300);

/// How long what waited unread in a stall may take to be read and followed by the rest of each client's last cycle.
const AFTER_STALL: Duration = Duration::from_secs(2);

/// An operation that has been pending for less than this may yet be answered as those before it.
const SHORT: Duration = Duration::from_secs(1);

/// The longest that the last operations go on, in bounds.
const PATIENCE: u32 = 3;

/// The recovery of a run, from the end of its operations to that of the last ones.
#[derive(Debug)]
pub struct Recovery {
    /// Attempts that failed.
    failed: usize,
    /// The readings of the tree around the views of the last calm.
    calm: Vec<Reading>,
    step: RecoveryStep,
}

#[derive(Debug)]
enum RecoveryStep {
    /// Every fault is to be healed, every client to run.
    Healing(Deadline),
    /// A steady leader is looked for, and a silent session is to expire.
    Steadying,
    /// Every client is to answer, under this leader.
    Quiescing(QuiesceRound, Leader),
    /// Nothing changes, and all are asked for their views of the group.
    Calm(Views, Leader),
    /// Each client does one thing more, within the bound of liveness.
    LastOps(LastOps),
}

/// How a recovery ended.
#[derive(Debug, PartialEq)]
pub enum RecoveryEnd {
    /// The last operations have had their time; with the readings of the tree around views that were asked for before
    /// them, if there are any.
    Recovered(Vec<Reading>),
    /// It failed, or the user stopped it.
    NotRecovered,
}

/// What follows a step of the recovery.
type RecoveryTransition = Transition<RecoveryStep, RecoveryEnd>;

impl Recovery {
    pub fn begin(run: &mut RunContext, clients: &mut Clients) -> Self {
        clients.enter(run, "heal", GeneratorPhase::Drain);
        Self {
            failed: 0,
            calm: Vec::new(),
            step: RecoveryStep::Healing(run.deadline(HEALING)),
        }
    }

    /// The moment at which it has to be looked at, if nothing happens before.
    pub fn due(&self) -> Option<Deadline> {
        match &self.step {
            RecoveryStep::Healing(until) => Some(*until),
            RecoveryStep::Steadying => None,
            RecoveryStep::Quiescing(round, _) => round.until,
            RecoveryStep::Calm(views, _) => views.due(),
            RecoveryStep::LastOps(last) => last.due(),
        }
    }

    /// Makes the progress that is possible now; returns its end once it is over.
    pub fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        nemesis: &Nemesis,
        answer: &mut Option<ShellAnswer>,
    ) -> Option<RecoveryEnd> {
        loop {
            let transition = match std::mem::replace(&mut self.step, RecoveryStep::Steadying) {
                RecoveryStep::Healing(until) => heal(run, clients, nemesis, until),
                RecoveryStep::Steadying => self.steady(run, clients, answer.take()),
                RecoveryStep::Quiescing(round, leader) => self.quiesce(run, clients, round, leader, answer.take()),
                RecoveryStep::Calm(views, leader) => self.calm(run, clients, views, leader, answer),
                RecoveryStep::LastOps(last) => self.last_ops(run, clients, last, answer),
            };
            if let ControlFlow::Break(end) = transition.apply(&mut self.step) {
                return end;
            }
        }
    }

    fn steady(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        answer: Option<ShellAnswer>,
    ) -> RecoveryTransition {
        match answer {
            _ if run.interrupted => RecoveryTransition::End(RecoveryEnd::NotRecovered),
            Some(ShellAnswer::Steady(Ok(leader))) => {
                let round = QuiesceRound::begin(run, clients, QUIESCE);
                RecoveryTransition::Move(RecoveryStep::Quiescing(round, leader))
            }
            Some(ShellAnswer::Steady(Err(error))) => self.fail(run, clients, format!("no steady leader: {error}")),
            _ => RecoveryTransition::Wait(RecoveryStep::Steadying),
        }
    }

    fn quiesce(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        mut round: QuiesceRound,
        leader: Leader,
        answer: Option<ShellAnswer>,
    ) -> RecoveryTransition {
        round.take(run, clients, answer);
        match round.outcome(run, clients) {
            None => RecoveryTransition::Wait(RecoveryStep::Quiescing(round, leader)),
            Some(Err(silent)) => self.fail(run, clients, silent),
            Some(Ok(())) => {
                // The run counts as recovered: the bound of liveness begins.
                clients.recover();
                clients.enter(run, "recovered", GeneratorPhase::Quiet);
                RecoveryTransition::Move(match clients.generator.closing_task() {
                    ClosingTask::Views => RecoveryStep::Calm(Views::begin(run, clients, ViewsMoment::Calm), leader),
                    _ => RecoveryStep::LastOps(LastOps::begin(run, clients, leader)),
                })
            }
        }
    }

    fn calm(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        mut views: Views,
        leader: Leader,
        answer: &mut Option<ShellAnswer>,
    ) -> RecoveryTransition {
        match views.advance(run, clients, answer) {
            None => return RecoveryTransition::Wait(RecoveryStep::Calm(views, leader)),
            Some(Ok(readings)) => self.calm = readings,
            Some(Err(why)) => {
                self.calm = Vec::new();
                run.say(format!("the tree was not read around the views of the calm: {why}"));
            }
        }
        // The bound of the last operations begins with them.
        clients.recover();
        RecoveryTransition::Move(RecoveryStep::LastOps(LastOps::begin(run, clients, leader)))
    }

    fn last_ops(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        mut last: LastOps,
        answer: &mut Option<ShellAnswer>,
    ) -> RecoveryTransition {
        match last.advance(run, clients, answer) {
            None => RecoveryTransition::Wait(RecoveryStep::LastOps(last)),
            Some(LastOpsEnd::Over) => RecoveryTransition::End(RecoveryEnd::Recovered(std::mem::take(&mut self.calm))),
            Some(LastOpsEnd::Disturbed(why)) => self.fail(run, clients, why),
        }
    }

    /// An attempt has failed: another one follows, three in all.
    fn fail(&mut self, run: &mut RunContext, clients: &mut Clients, why: String) -> RecoveryTransition {
        if run.interrupted {
            return RecoveryTransition::End(RecoveryEnd::NotRecovered);
        }
        self.failed += 1;
        if self.failed < ATTEMPTS {
            return recover(run, clients);
        }
        record_not_recovered(run, format!("in {ATTEMPTS} attempts; the last one: {why}"));
        RecoveryTransition::End(RecoveryEnd::NotRecovered)
    }
}

/// Waits until every window is seen healed and every killed process runs again; records why not.
fn heal(run: &mut RunContext, clients: &mut Clients, nemesis: &Nemesis, until: Deadline) -> RecoveryTransition {
    if !(nemesis.done && clients.all_run() || run.passed(until)) {
        return RecoveryTransition::Wait(RecoveryStep::Healing(until));
    }
    let dead: Vec<&Node> = clients.dead().map(|worker| &worker.node).collect();
    match unhealed(&nemesis.unhealed, &dead, nemesis.done) {
        None if !run.interrupted => return recover(run, clients),
        None => {}
        Some(why) => record_not_recovered(run, why),
    }
    RecoveryTransition::End(RecoveryEnd::NotRecovered)
}

fn recover(run: &mut RunContext, clients: &mut Clients) -> RecoveryTransition {
    clients.enter(run, "recover", GeneratorPhase::Drain);
    run.emit(Effect::Ask(Question::Steady));
    RecoveryTransition::Move(RecoveryStep::Steadying)
}

fn record_not_recovered(run: &mut RunContext, why: String) {
    let mut entry = HistoryEntry::named("run", "phase", json!("not-recovered"));
    entry.error = Some(why);
    run.record(entry);
}

/// Why not everything is healed; `None` if it is.
fn unhealed(windows: &BTreeSet<i64>, dead: &[&Node], nemesis_done: bool) -> Option<String> {
    let mut whys = Vec::new();
    if !windows.is_empty() {
        let windows: Vec<String> = windows.iter().map(i64::to_string).collect();
        whys.push(format!("not seen to be healed: window {}", windows.join(", ")));
    } else if !nemesis_done {
        whys.push("the faults are not over".to_string());
    }
    if !dead.is_empty() {
        whys.push(format!("not running: {}", node::join(dead, ", ")));
    }
    (!whys.is_empty()).then(|| format!("after {} s {}", HEALING.as_secs(), whys.join("; ")))
}

/// The last operations, which must come to their end within the bound of liveness. If one does not, that must be its
/// own doing: every client answers all the time and at the end, and the same server leads.
#[derive(Debug)]
struct LastOps {
    leader: Leader,
    /// When the last operations began.
    began: Deadline,
    /// The stalls before the last operations.
    before: Stalls,
    step: LastOpsStep,
}

#[derive(Debug)]
enum LastOpsStep {
    /// Nobody is asked to quiesce until then.
    Going(Deadline),
    /// Clients that cannot answer are being looked at.
    Looking(QuiesceRound),
    /// What waited unread in a stall is being read.
    AfterStall(Deadline),
    /// At the end of the bound, which was this, every client is to answer.
    Checking(QuiesceRound, Duration),
    /// At the end of the bound, which was this, the same server is to lead.
    Leading(Duration),
}

/// How the last operations ended.
#[derive(Debug, PartialEq, Eq)]
enum LastOpsEnd {
    /// Each client has finished, or has had the bound for it.
    Over,
    /// Recovery has to begin again, for this reason.
    Disturbed(String),
}

/// What follows a step of the last operations.
type LastOpsTransition = Transition<LastOpsStep, LastOpsEnd>;

impl LastOps {
    fn begin(run: &mut RunContext, clients: &mut Clients, leader: Leader) -> Self {
        clients.begin_last_ops();
        clients.enter(run, "final", GeneratorPhase::Final);
        Self {
            leader,
            began: run.deadline(Duration::ZERO),
            before: run.stalls,
            step: LastOpsStep::Going(run.deadline(run.session())),
        }
    }

    /// The moment at which they have to be looked at, if nothing happens before.
    fn due(&self) -> Option<Deadline> {
        match &self.step {
            LastOpsStep::Going(until) | LastOpsStep::AfterStall(until) => Some(*until),
            LastOpsStep::Looking(round) | LastOpsStep::Checking(round, _) => round.until,
            LastOpsStep::Leading(_) => None,
        }
    }

    /// Makes the progress that is possible now; returns their end once they are over.
    fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        answer: &mut Option<ShellAnswer>,
    ) -> Option<LastOpsEnd> {
        loop {
            let step = std::mem::replace(&mut self.step, LastOpsStep::Leading(Duration::ZERO));
            let transition = self.transition(run, clients, step, answer.take());
            if let ControlFlow::Break(end) = transition.apply(&mut self.step) {
                return end;
            }
        }
    }

    fn transition(
        &self,
        run: &mut RunContext,
        clients: &mut Clients,
        step: LastOpsStep,
        answer: Option<ShellAnswer>,
    ) -> LastOpsTransition {
        match step {
            LastOpsStep::Going(until) => self.going(run, clients, until),
            LastOpsStep::Looking(mut round) => {
                round.take(run, clients, answer);
                match round.until {
                    Some(until) => LastOpsTransition::Move(LastOpsStep::Going(until)),
                    None => LastOpsTransition::Wait(LastOpsStep::Looking(round)),
                }
            }
            LastOpsStep::AfterStall(until) if clients.all_have_finished() || run.interrupted || run.passed(until) => {
                self.conclude(run, clients, Ok(()))
            }
            LastOpsStep::Checking(mut round, bound) => {
                round.take(run, clients, answer);
                match round.outcome(run, clients) {
                    None => LastOpsTransition::Wait(LastOpsStep::Checking(round, bound)),
                    Some(Err(silent)) => self.conclude(run, clients, Err(silent)),
                    Some(Ok(())) => {
                        run.emit(Effect::Ask(Question::Leader(self.leader.clone())));
                        LastOpsTransition::Move(LastOpsStep::Leading(bound))
                    }
                }
            }
            LastOpsStep::Leading(bound) => match answer {
                // What was answered meanwhile has raised the bound.
                Some(ShellAnswer::Leads(Ok(()))) if clients.bound() > bound => {
                    LastOpsTransition::Move(LastOpsStep::Going(run.deadline(run.session())))
                }
                Some(ShellAnswer::Leads(leads)) => {
                    let leads = leads.map_err(|error| format!("at the end of the bound {error}"));
                    self.conclude(run, clients, leads)
                }
                _ => LastOpsTransition::Wait(LastOpsStep::Leading(bound)),
            },
            LastOpsStep::AfterStall(_) => LastOpsTransition::Wait(step),
        }
    }

    fn going(&self, run: &mut RunContext, clients: &mut Clients, until: Deadline) -> LastOpsTransition {
        let every = run.session();
        if run.stalls != self.before {
            return LastOpsTransition::Move(LastOpsStep::AfterStall(run.deadline(AFTER_STALL)));
        }
        if run.interrupted || clients.all_have_finished() {
            return LastOpsTransition::End(LastOpsEnd::Over);
        }
        let bound = clients.bound();
        let over = run.now >= run.moment_of(self.began) + (bound + BEYOND) * PATIENCE;
        if settled(clients, bound + BEYOND) || over {
            let round = QuiesceRound::begin(run, clients, every);
            return LastOpsTransition::Move(LastOpsStep::Checking(round, bound));
        }
        if !run.passed(until) {
            return LastOpsTransition::Wait(LastOpsStep::Going(until));
        }
        // A client that does not run for a while in the middle of the bound has had less than the bound.
        match clients.silent(every) {
            Some(silent) => LastOpsTransition::End(LastOpsEnd::Disturbed(silent)),
            None => LastOpsTransition::Move(LastOpsStep::Looking(QuiesceRound::begin(run, clients, every))),
        }
    }

    /// The bound is over. What did not finish has had it, unless the ensemble or the clients were not well, or the
    /// harness stood still: then recovery begins again.
    fn conclude(&self, run: &RunContext, clients: &Clients, well: Result<(), String>) -> LastOpsTransition {
        let disturbed = stall_since(self.before, run.stalls).or(well.err());
        LastOpsTransition::End(match disturbed {
            Some(why) if !(clients.all_have_finished() || run.interrupted) => LastOpsEnd::Disturbed(why),
            _ => LastOpsEnd::Over,
        })
    }
}

/// Whether each client has finished, or has had the bound for it and was asked all that it may answer.
fn settled(clients: &Clients, bound: Duration) -> bool {
    clients.workers.iter().all(|worker| {
        let number = worker.number;
        let free = clients.holds.free_time(number);
        clients.generator.finished(number) || !clients.generator.unasked(number) && had_its_time(worker, free, bound)
    })
}

/// Why a stall since an earlier moment (`before`) disturbs the last operations, in words; `None` if there was none.
fn stall_since(before: Stalls, now: Stalls) -> Option<String> {
    let ms = now.last.as_millis();
    (now != before).then(|| format!("the harness itself stood still for {ms} ms, and something did not finish"))
}

/// Whether a client that has not finished has had the bound for it, of which `free` has passed since recovery: with
/// what it has pending, or with failing again and again at one operation, or without anything to do.
fn had_its_time(worker: &Worker, free: Duration, bound: Duration) -> bool {
    let refused = worker.refusals.as_ref();
    let fails = worker.failing && refused.is_none_or(|chain| chain.lasted() >= bound);
    match &worker.op {
        Some(op) => {
            let pending = free.saturating_sub(op.free_at);
            pending >= bound || fails && pending < SHORT && free >= bound
        }
        None => free >= bound && (fails || worker.due.is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{OpKind, PendingOp};

    const BOUND: Duration = Duration::from_secs(10);

    fn worker(failing: bool, pending_since: Option<u64>, due: bool) -> Worker {
        let op = |since| PendingOp {
            id: 1,
            f: "acquire",
            kind: OpKind::Acquire,
            grant: "g1".to_string(),
            work_ms: 0,
            since: Duration::ZERO,
            free_at: Duration::from_secs(since),
        };
        Worker {
            failing,
            op: pending_since.map(op),
            due: due.then_some(Duration::ZERO),
            ..Worker::new(0)
        }
    }

    #[test]
    fn a_pending_operation_has_the_bound_from_its_own_sending() {
        let late = |failing| had_its_time(&worker(failing, Some(4), false), Duration::from_secs(13), BOUND);
        assert!(!late(false) && !late(true));
        assert!(had_its_time(
            &worker(false, Some(4), false),
            Duration::from_secs(14),
            BOUND
        ));
    }

    #[test]
    fn a_client_that_fails_again_and_again_has_the_bound_from_recovery() {
        for (op, due) in [(None, true), (Some(10), false)] {
            assert!(had_its_time(&worker(true, op, due), BOUND, BOUND));
            assert!(!had_its_time(&worker(true, op, due), Duration::from_secs(9), BOUND));
        }
    }

    #[test]
    fn a_client_between_two_operations_is_waited_for_and_an_idle_one_is_not() {
        assert!(!had_its_time(&worker(false, None, true), BOUND, BOUND));
        assert!(had_its_time(&worker(false, None, false), BOUND, BOUND));
    }

    #[test]
    fn only_a_stall_since_then_is_a_reason_to_begin_again() {
        let stalls = |count, last| Stalls {
            count,
            last: Duration::from_millis(last),
            lost: Duration::ZERO,
        };
        assert_eq!(stall_since(stalls(1, 1_500), stalls(1, 1_500)), None);
        let why = stall_since(stalls(1, 1_500), stalls(2, 22_000)).unwrap();
        assert!(why.contains("22000 ms"), "{why}");
    }

    #[test]
    fn every_window_and_every_client_must_be_back() {
        assert_eq!(unhealed(&BTreeSet::new(), &[], true), None);
        let said = |windows: &[i64], dead: &[&Node], done| unhealed(&windows.iter().copied().collect(), dead, done);
        assert_eq!(
            said(&[2, 5], &[&Node::client(3)], true).unwrap(),
            "after 60 s not seen to be healed: window 2, 5; not running: c3"
        );
        assert_eq!(said(&[], &[], false).unwrap(), "after 60 s the faults are not over");
    }
}
