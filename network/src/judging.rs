//! The judge of a run while it goes on.

use crate::observer::Observer;
use std::ops::ControlFlow;
use zooquake_checkers::consensus::{ConsensusJudge, ConsensusStep, ConsensusViolation};
use zooquake_history::operation::consensus::Announcement;
use zooquake_workloads::consensus::protocol::{Node, Protocol};

/// How long a run goes on after all that it is for has come about, in microseconds: what is on its way may still change
/// it.
const GRACE: u32 = 60_000;

/// Judges a run, and ends it with the first violation, or when all has come about after healing.
#[derive(Debug)]
pub struct JudgingObserver {
    judge: ConsensusJudge,
    /// When all disturbances are healed, in microseconds.
    healed: u32,
    /// Since when all that the run is for has come about.
    settled: Option<u32>,
    /// The steps so far.
    place: usize,
    /// What ended the run.
    pub violation: Option<ConsensusViolation>,
}

impl JudgingObserver {
    /// Before the first step.
    pub fn new(judge: ConsensusJudge, healed: u32) -> Self {
        Self {
            judge,
            healed,
            settled: None,
            place: 0,
            violation: None,
        }
    }

    /// What is violated at the end of the run, beside what ended it.
    pub fn close(self) -> Option<ConsensusViolation> {
        let lacking = || self.judge.close(0, 0).into_iter().next();
        self.first().or_else(lacking)
    }

    /// What ended the run or, where nothing did, what is violated at its end, but for what has not come about.
    pub fn first(&self) -> Option<ConsensusViolation> {
        self.violation.clone().or_else(|| self.judge.standing().next())
    }

    /// Takes a step at a moment; the run ends if it completes a violation.
    fn take(&mut self, at: u32, step: ConsensusStep) -> ControlFlow<()> {
        self.place += 1;
        let violation = self.judge.take(self.place, step);
        self.settled = self.judge.settled().then_some(self.settled.unwrap_or(at));
        if violation.is_some() {
            self.violation = violation;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<P: Protocol> Observer<P> for JudgingObserver {
    fn announced(&mut self, at: u32, node: Node, announcement: Announcement) -> ControlFlow<()> {
        self.take(at, ConsensusStep::Announcement { node, announcement })
    }

    fn requested(&mut self, at: u32, node: Node, value: u32) {
        // A request violates nothing.
        let _ = self.take(at, ConsensusStep::Request { node, value });
    }

    fn died(&mut self, at: u32, node: Node) {
        let _ = self.take(at, ConsensusStep::Death { node });
    }

    fn is_over(&mut self, at: u32, in_flight: u32) -> bool {
        let since = self.settled.map(|settled| settled.max(self.healed));
        since.is_some_and(|since| at >= since && (in_flight == 0 || at >= since + GRACE))
    }
}
