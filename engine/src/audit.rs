//! The audit: what stands in the tree at the end, and what of it the clients know to be their own.

use super::control::QUIESCE;
use super::effect::{Conclusion, Effect, Question, Stalls};
use super::generator::Phase;
use super::stage::{Seen, Stage, Turn};
use super::{Deadline, Engine};
use zooquake_history::evidence::{Reading, Tree};

/// How often the tree is read anew after a stall, at most.
const ATTEMPTS: usize = 3;

/// The tree is read, every client is asked once more which znodes are its own, and the tree is read again. A stall may have
/// cost an answer, so that what fails around one is done again.
#[derive(Debug)]
pub(super) struct Audit {
    attempt: usize,
    before: Stalls,
    step: Step,
}

#[derive(Debug)]
enum Step {
    First,
    Quiescing(Result<Reading, String>, Deadline),
    Second(Result<Reading, String>),
}

impl Audit {
    pub(super) fn due(&self) -> Option<Deadline> {
        match self.step {
            Step::Quiescing(_, by) => Some(by),
            Step::First | Step::Second(_) => None,
        }
    }
}

impl Engine {
    pub(super) fn audit(&mut self) -> Stage {
        self.enter("audit", Phase::Quiet);
        self.read(1)
    }

    fn read(&mut self, attempt: usize) -> Stage {
        self.emit(Effect::Ask(Question::Tree));
        Stage::Auditing(Audit {
            attempt,
            before: self.stalls,
            step: Step::First,
        })
    }

    pub(super) fn auditing(&mut self, audit: Audit, seen: Option<Seen>) -> Turn {
        let Audit { attempt, before, step } = audit;
        let goes_on = |step| Stage::Auditing(Audit { attempt, before, step });
        match (step, seen) {
            (Step::First, Some(Seen::Read(first))) => {
                self.ask_quiesce();
                let by = self.deadline(QUIESCE);
                Turn::Moves(goes_on(Step::Quiescing(first, by)))
            }
            (Step::Quiescing(first, by), _) if self.all_quiesced() || self.passed(by) => {
                self.emit(Effect::Ask(Question::Tree));
                Turn::Stays(goes_on(Step::Second(first)))
            }
            (Step::Second(first), Some(Seen::Read(second))) => match (first, second) {
                (Ok(first), Ok(second)) => Turn::Moves(self.audited(Ok(Tree {
                    readings: vec![first, second],
                }))),
                _ if attempt < ATTEMPTS && self.stalls != before => Turn::Moves(self.read(attempt + 1)),
                (Err(why), _) | (_, Err(why)) => Turn::Moves(self.audited(Err(why))),
            },
            (step, _) => Turn::Stays(goes_on(step)),
        }
    }

    fn audited(&mut self, tree: Result<Tree, String>) -> Stage {
        self.enter("done", Phase::Quiet);
        self.over(Conclusion::Audited(tree))
    }
}
