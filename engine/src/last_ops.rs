//! The last operations: each client finishes what it has pending and does one thing more, within the bound of liveness.

use super::control::Asking;
use super::effect::{Effect, Leader, Question, Stalls};
use super::generator::{AtEnd, Phase};
use super::stage::{Seen, Stage, Turn};
use super::worker::Worker;
use super::{Deadline, Engine};
use std::time::Duration;

/// What the engine waits beyond the bound, so that the checkers, which compute it from the history, find it reached.
const BEYOND: Duration = Duration::from_millis(300);

/// How long what waited unread in a stall may take to be read and followed by the rest of each client's last cycle.
const AFTER_STALL: Duration = Duration::from_secs(2);

/// An operation that has been pending for less than this may yet be answered as those before it.
const SHORT: Duration = Duration::from_secs(1);

/// The last operations, which must come to their end within the bound of liveness. If one does not, that must be its own
/// doing: every client answers all the time and at the end, and the same server leads.
#[derive(Debug)]
pub(super) struct LastOps {
    leader: Leader,
    bound: Duration,
    /// The stalls before them.
    before: Stalls,
    deadline: Deadline,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// Until then, nobody is asked.
    Going(Deadline),
    /// Clients that cannot answer are being looked at.
    Looking(Asking),
    /// What waited unread in a stall is being read.
    AfterStall(Deadline),
    /// At the end of the bound: every client answers.
    Checking(Asking),
    /// At the end of the bound: the same server leads.
    Leading,
}

/// What follows from a step.
enum Onward {
    /// It goes on.
    Wait(Step),
    /// Another one.
    Go(Step),
    /// Another stage of the run.
    Leave(Stage),
}

impl LastOps {
    pub(super) fn due(&self) -> Option<Deadline> {
        match &self.step {
            Step::Going(until) | Step::AfterStall(until) => Some(*until),
            Step::Looking(asking) | Step::Checking(asking) => asking.by,
            Step::Leading => None,
        }
    }
}

impl Engine {
    pub(super) fn begin_last_ops(&mut self, leader: Leader, bound: Duration) -> Stage {
        let bound = bound + BEYOND;
        // What was sent before recovery counts from recovery.
        for worker in &mut self.workers {
            worker.failing = false;
            worker.quiesced = true;
            worker.op.iter_mut().for_each(|op| op.free_at = Duration::ZERO);
        }
        self.enter("final", Phase::Final);
        Stage::LastOps(LastOps {
            leader,
            bound,
            before: self.stalls,
            deadline: self.deadline(bound * 3),
            step: Step::Going(self.deadline(self.session())),
        })
    }

    pub(super) fn session(&self) -> Duration {
        Duration::from_millis(self.plan.cluster.timing.session_ms)
    }

    pub(super) fn last_ops(&mut self, mut last: LastOps, seen: Option<Seen>) -> Turn {
        let step = std::mem::replace(&mut last.step, Step::Leading);
        match self.last_step(&last, step, seen) {
            Onward::Wait(step) => Turn::Stays(Stage::LastOps(LastOps { step, ..last })),
            Onward::Go(step) => Turn::Moves(Stage::LastOps(LastOps { step, ..last })),
            Onward::Leave(stage) => Turn::Moves(stage),
        }
    }

    fn last_step(&mut self, last: &LastOps, step: Step, seen: Option<Seen>) -> Onward {
        match step {
            Step::Going(until) => self.going(last, until),
            Step::Looking(mut asking) => {
                self.seen(&mut asking, seen);
                match asking.by {
                    Some(until) => Onward::Go(Step::Going(until)),
                    None => Onward::Wait(Step::Looking(asking)),
                }
            }
            Step::AfterStall(until) if self.finished() || self.interrupted || self.passed(until) => {
                Onward::Leave(self.conclude(last.before, Ok(())))
            }
            Step::Checking(mut asking) => {
                self.seen(&mut asking, seen);
                match self.answered(&asking) {
                    None => Onward::Wait(Step::Checking(asking)),
                    Some(Err(silent)) => Onward::Leave(self.conclude(last.before, Err(silent))),
                    Some(Ok(())) => {
                        self.emit(Effect::Ask(Question::Leader(last.leader.clone())));
                        Onward::Go(Step::Leading)
                    }
                }
            }
            Step::Leading => match seen {
                Some(Seen::Leads(leads)) => {
                    let leads = leads.map_err(|error| format!("at the end of the bound {error}"));
                    Onward::Leave(self.conclude(last.before, leads))
                }
                _ => Onward::Wait(Step::Leading),
            },
            Step::AfterStall(_) => Onward::Wait(step),
        }
    }

    fn going(&mut self, last: &LastOps, until: Deadline) -> Onward {
        let every = self.session();
        if self.stalls != last.before {
            return Onward::Go(Step::AfterStall(self.deadline(AFTER_STALL)));
        }
        if self.interrupted || self.finished() {
            return Onward::Leave(self.at_end());
        }
        if self.settled(last.bound) || self.passed(last.deadline) {
            return Onward::Go(Step::Checking(self.ask_all(every)));
        }
        if !self.passed(until) {
            return Onward::Wait(Step::Going(until));
        }
        // A client that does not run for a while in the middle of the bound has had less than the bound.
        match self.silent(every) {
            Some(silent) => Onward::Leave(self.recover_again(silent)),
            None => Onward::Go(Step::Looking(self.ask_all(every))),
        }
    }

    /// The bound is over. What did not finish has had it, unless the ensemble or the clients were not well, or the harness
    /// stood still: then recovery begins again.
    fn conclude(&mut self, before: Stalls, well: Result<(), String>) -> Stage {
        if self.finished() || self.interrupted {
            return self.at_end();
        }
        match stall_since(before, self.stalls).map_or(well, Err) {
            Ok(()) => self.at_end(),
            Err(why) => self.recover_again(why),
        }
    }

    fn at_end(&mut self) -> Stage {
        match self.generator.at_end() {
            AtEnd::Nothing => self.after_recovery(),
            // Nothing can be asked of a client that has not finished.
            _ if self.interrupted || self.workers.last().is_none_or(|last| last.op.is_some()) => self.after_recovery(),
            at_end => self.drain(at_end),
        }
    }

    /// Whether each client has finished its last operation.
    fn finished(&self) -> bool {
        (0..self.workers.len()).all(|n| self.generator.finished(n))
    }

    /// Whether each client has finished, or has had the bound for it and was asked all that it may answer.
    fn settled(&self, bound: Duration) -> bool {
        let had_its_time = |n: usize| had_its_time(&self.workers[n], self.free_time(n), bound);
        let asked = |n: usize| !self.generator.unasked(n);
        (0..self.workers.len()).all(|n| self.generator.finished(n) || asked(n) && had_its_time(n))
    }
}
/// A stall since then, in words.
fn stall_since(before: Stalls, now: Stalls) -> Option<String> {
    let ms = now.last.as_millis();
    (now != before).then(|| format!("the harness itself stood still for {ms} ms, and something did not finish"))
}

/// Whether a client that has not finished has had the bound for it, of which `free` has passed since recovery: with what it
/// has pending, or with failing again and again, or without anything to do.
fn had_its_time(worker: &Worker, free: Duration, bound: Duration) -> bool {
    match &worker.op {
        Some(op) => {
            let pending = free.saturating_sub(op.free_at);
            pending >= bound || worker.failing && pending < SHORT && free >= bound
        }
        None => free >= bound && (worker.failing || worker.due.is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Op, OpKind};

    const BOUND: Duration = Duration::from_secs(10);

    fn worker(failing: bool, pending_since: Option<u64>, due: bool) -> Worker {
        let op = |since| Op {
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
}
