//! Transitions of state machines whose steps follow each other until one has to wait.

use std::ops::ControlFlow;

/// What follows a step.
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
