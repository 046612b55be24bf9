//! After the faults: healing, recovery with its canary, and the last operations.

use super::clients::Clients;
use super::clients::quiesce::{QUIESCE, QuiesceRound};
use super::context::{Deadline, RunContext};
use super::effect::{Effect, Leader, Question};
use super::generator::{ClosingTask, GeneratorPhase};
use super::history_entry::HistoryEntry;
use super::last_ops::{LastOps, LastOpsEnd};
use super::nemesis::Nemesis;
use super::shell_answer::ShellAnswer;
use super::transition::Transition;
use super::views::{Views, ViewsMoment};
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;
use zooquake_history::evidence::Reading;

/// Longest wait for all faults to be healed and all clients to run.
const HEALING: Duration = Duration::from_secs(60);

/// How often recovery is begun, for whatever reason.
const ATTEMPTS: usize = 3;

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

/// What follows a step.
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
                RecoveryStep::Quiescing(round, leader) => self.quiesce(run, clients, (round, leader), answer.take()),
                RecoveryStep::Calm(views, leader) => self.calm(run, clients, (views, leader), answer),
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
        (mut round, leader): (QuiesceRound, Leader),
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
        (mut views, leader): (Views, Leader),
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
    let dead: Vec<&str> = clients.dead().map(|worker| worker.name.as_str()).collect();
    let unhealed = unhealed(&nemesis.unhealed, &dead, nemesis.done);
    let recovers = unhealed.is_none() && !run.interrupted;
    if let Some(why) = unhealed {
        record_not_recovered(run, why);
    }
    match recovers {
        true => recover(run, clients),
        false => RecoveryTransition::End(RecoveryEnd::NotRecovered),
    }
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
fn unhealed(windows: &BTreeSet<i64>, dead: &[&str], nemesis_done: bool) -> Option<String> {
    let mut whys = Vec::new();
    if !windows.is_empty() {
        let windows: Vec<String> = windows.iter().map(i64::to_string).collect();
        whys.push(format!("not seen to be healed: window {}", windows.join(", ")));
    } else if !nemesis_done {
        whys.push("the faults are not over".to_string());
    }
    if !dead.is_empty() {
        whys.push(format!("not running: {}", dead.join(", ")));
    }
    (!whys.is_empty()).then(|| format!("after {} s {}", HEALING.as_secs(), whys.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_and_every_client_must_be_back() {
        assert_eq!(unhealed(&BTreeSet::new(), &[], true), None);
        let said = |windows: &[i64], dead: &[&str], done| unhealed(&windows.iter().copied().collect(), dead, done);
        assert_eq!(
            said(&[2, 5], &["c3"], true).unwrap(),
            "after 60 s not seen to be healed: window 2, 5; not running: c3"
        );
        assert_eq!(said(&[], &[], false).unwrap(), "after 60 s the faults are not over");
    }
}
