//! What the machines of a run share: its plan, its time, the effects of a step, and how one goes from step to step.

use super::effect::{Effect, HistoryEntry, NemesisAnswer, Stalls};
use serde_json::json;
use std::ops::ControlFlow;
use std::time::Duration;
use zooquake_history::operation::nemesis::{ENGINES, UNREACHABLE};
use zooquake_history::plan::Plan;

/// The plan and the time of a run, and the effects of the current step in the order in which they are to be carried
/// out.
#[derive(Debug)]
pub struct RunContext {
    pub plan: Plan,
    /// The moment of the current step.
    pub now: Duration,
    /// The moment at which the phase `ops` began.
    pub ops_began: Duration,
    /// The current phase of the run, as in the history.
    pub phase: &'static str,
    pub stalls: Stalls,
    /// Whether the user wants the run to stop.
    pub interrupted: bool,
    /// Whether the history has the phase `interrupted`.
    interruption_recorded: bool,
    effects: Vec<Effect>,
}

/// A moment by which something must have come about. It moves by what stalls take from it: what waited unread in one is
/// read before it is given up.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Duration,
    /// The time that stalls had taken when the deadline was set.
    lost: Duration,
}

impl RunContext {
    /// The context of a plan's run before its first step.
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            now: Duration::ZERO,
            ops_began: Duration::ZERO,
            phase: "set up",
            stalls: Stalls::default(),
            interrupted: false,
            interruption_recorded: false,
            effects: Vec::new(),
        }
    }

    /// Adds an effect to those of the step.
    pub fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub fn record(&mut self, entry: HistoryEntry) {
        self.emit(Effect::Record(entry));
    }

    pub fn say(&mut self, text: String) {
        self.emit(Effect::Say(text));
    }

    /// Fails the run for what a client did.
    pub fn broken(&mut self, client: usize, why: String) {
        self.emit(Effect::Broken { client, why });
    }

    /// Answers the report of the nemesis with this token; `None` refuses it.
    pub fn answer_nemesis(&mut self, token: u64, answer: Option<NemesisAnswer>) {
        self.emit(Effect::Answer { token, answer });
    }

    /// Records which engines of containers do not answer now.
    pub fn lose_engines(&mut self, lost: &[String]) {
        self.say(match lost {
            [] => "the Docker engines answer again".to_owned(),
            lost => format!("no answer from {}: what runs there goes on", lost.join(", ")),
        });
        let mut value = json!({});
        ENGINES.put(&mut value, lost);
        self.record(HistoryEntry::named("run", UNREACHABLE, value));
    }

    /// Records the phase `interrupted`, once.
    pub fn record_interruption(&mut self) {
        if !std::mem::replace(&mut self.interruption_recorded, true) {
            self.record(HistoryEntry::named("run", "phase", json!("interrupted")));
        }
    }

    /// Takes out the effects of the step.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub fn deadline(&self, after: Duration) -> Deadline {
        Deadline {
            at: self.now + after,
            lost: self.stalls.lost,
        }
    }

    /// The moment to which stalls have moved a deadline.
    pub fn moment_of(&self, deadline: Deadline) -> Duration {
        deadline.at + self.stalls.lost.saturating_sub(deadline.lost)
    }

    pub fn passed(&self, deadline: Deadline) -> bool {
        self.now >= self.moment_of(deadline)
    }

    /// The session timeout.
    pub fn session(&self) -> Duration {
        Duration::from_millis(self.plan.cluster.timing.session_ms)
    }
}

/// What follows a step of a machine whose steps follow each other until one has to wait.
#[derive(Debug)]
pub enum Transition<S, E> {
    /// This step, which waits for the next input.
    Wait(S),
    /// This step, which is taken at once.
    Move(S),
    /// The end of the machine.
    End(E),
}

impl<S, E> Transition<S, E> {
    /// Replaces the current step. `Continue` after a move, `Break` with the end, or with `None` after a wait.
    pub fn apply(self, current: &mut S) -> ControlFlow<Option<E>> {
        match self {
            Self::Wait(step) => *current = step,
            Self::Move(step) => {
                *current = step;
                return ControlFlow::Continue(());
            }
            Self::End(end) => return ControlFlow::Break(Some(end)),
        }
        ControlFlow::Break(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_moves_by_stalls_after_it_was_set_only() {
        let mut run = RunContext::new(Plan::default());
        let stall = |run: &mut RunContext, count| {
            run.stalls = Stalls {
                count,
                last: Duration::from_secs(3),
                lost: Duration::from_secs(3) * count as u32,
            };
        };
        stall(&mut run, 1);
        let deadline = run.deadline(Duration::from_secs(10));
        assert_eq!(run.moment_of(deadline), Duration::from_secs(10));
        stall(&mut run, 2);
        run.now = Duration::from_secs(12);
        assert!(!run.passed(deadline));
        run.now = Duration::from_secs(13);
        assert!(run.passed(deadline));
    }

    #[test]
    fn an_interruption_is_recorded_once() {
        let mut run = RunContext::new(Plan::default());
        run.record_interruption();
        run.record_interruption();
        assert_eq!(run.take_effects().len(), 1);
    }
}
