//! A type whose initial state is unknown.

use crate::Model;

/// A model in a state that is not known until an operation shows it.
pub struct UnknownStart<'m, M>(pub &'m M);

impl<M: Model> Model for UnknownStart<'_, M> {
    type State = Option<M::State>;
    type Input = M::Input;

    fn initial(&self) -> Self::State {
        None
    }

    fn step(&self, state: &Self::State, input: &M::Input) -> Option<Self::State> {
        match state {
            Some(state) => self.0.step(state, input).map(Some),
            None => Some(self.0.after(input)),
        }
    }

    fn is_read(&self, input: &M::Input) -> bool {
        self.0.is_read(input)
    }

    fn after(&self, input: &M::Input) -> Option<Self::State> {
        self.0.after(input).map(Some)
    }

    fn heap(&self, state: &Self::State) -> usize {
        state.as_ref().map_or(0, |state| self.0.heap(state))
    }
}
