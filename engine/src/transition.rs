//! Machines that go from step to step until one of these has to wait.

use std::ops::ControlFlow;

/// What follows a step.
#[derive(Debug)]
pub enum Transition<S, E> {
    /// Nothing yet: this one waits.
    Wait(S),
    /// This one, at once.
    Move(S),
    /// The end of the machine.
    End(E),
}

impl<S, E> Transition<S, E> {
    /// Has what follows take the place of the current step. Breaks unless it goes on at once: with the end, if that is
    /// reached.
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
