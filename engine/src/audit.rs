//! The audit: the tree at the end, and which of its znodes the clients claim as their own.

use super::clients::Clients;
use super::clients::quiesce::QUIESCE;
use super::context::{Deadline, RunContext};
use super::effect::{Effect, Question, Stalls};
use super::generator::GeneratorPhase;
use super::kept_claims::KeptClaims;
use super::shell_answer::ShellAnswer;
use zooquake_history::evidence::{Reading, TreeReadings};

/// The number of times that the tree is read anew after a stall, at most.
const ATTEMPTS: usize = 3;

/// The tree is read, every client is asked once more which znodes are its own, those that keep claims on items are
/// asked for them, and the tree is read again. A stall may have cost an answer, so that what fails around one is done
/// again.
#[derive(Debug)]
pub struct Audit {
    /// The readings around clients' views, in families with groups.
    views: Vec<Reading>,
    attempt: usize,
    /// The stalls before the attempt.
    before: Stalls,
    step: AuditStep,
}

#[derive(Debug)]
enum AuditStep {
    FirstReading,
    Quiescing(Result<Reading, String>, Deadline),
    HandingOut(Result<Reading, String>, KeptClaims),
    SecondReading(Result<Reading, String>),
}

impl Audit {
    pub fn begin(run: &mut RunContext, clients: &mut Clients, views: Vec<Reading>) -> Self {
        clients.enter(run, "audit", GeneratorPhase::Quiet);
        Self::attempt(run, views, 1)
    }

    fn attempt(run: &mut RunContext, views: Vec<Reading>, attempt: usize) -> Self {
        run.emit(Effect::Ask(Question::Tree));
        Self {
            views,
            attempt,
            before: run.stalls,
            step: AuditStep::FirstReading,
        }
    }

    /// The moment at which it has to be looked at, if nothing happens before.
    pub fn due(&self) -> Option<Deadline> {
        match &self.step {
            AuditStep::Quiescing(_, until) => Some(*until),
            AuditStep::HandingOut(_, kept) => Some(kept.due()),
            AuditStep::FirstReading | AuditStep::SecondReading(_) => None,
        }
    }

    /// Makes the progress that is possible now; returns the tree once it is over, or the reason why it was not read.
    pub fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        answer: &mut Option<ShellAnswer>,
    ) -> Option<Result<TreeReadings, String>> {
        loop {
            let step = std::mem::replace(&mut self.step, AuditStep::FirstReading);
            match (step, answer.take()) {
                (AuditStep::FirstReading, Some(ShellAnswer::Tree(first))) => {
                    clients.ask_quiesce(run);
                    self.step = AuditStep::Quiescing(first, run.deadline(QUIESCE));
                }
                (AuditStep::Quiescing(first, until), _) if clients.all_quiesced() || run.passed(until) => {
                    self.step = AuditStep::HandingOut(first, KeptClaims::new(run, clients));
                }
                (AuditStep::HandingOut(first, mut kept), _) => {
                    if !kept.advance(run, clients) {
                        self.step = AuditStep::HandingOut(first, kept);
                        return None;
                    }
                    run.emit(Effect::Ask(Question::Tree));
                    self.step = AuditStep::SecondReading(first);
                    return None;
                }
                (AuditStep::SecondReading(first), Some(ShellAnswer::Tree(second))) => match (first, second) {
                    (Ok(first), Ok(second)) => {
                        let mut readings = std::mem::take(&mut self.views);
                        readings.extend([first, second]);
                        return Some(Ok(TreeReadings { readings }));
                    }
                    _ if self.attempt < ATTEMPTS && run.stalls != self.before => {
                        let views = std::mem::take(&mut self.views);
                        *self = Self::attempt(run, views, self.attempt + 1);
                    }
                    (Err(why), _) | (_, Err(why)) => return Some(Err(why)),
                },
                (step, _) => {
                    self.step = step;
                    return None;
                }
            }
        }
    }
}
