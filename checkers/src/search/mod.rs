//! Histories judged by a search for a linearization, by `zooquake-linearizability`: types without a checker of their
//! own, and histories of others.
//!
//! `calls` pairs the events of a history, `values` translates what they hold, and `words` puts into words what was
//! found: [`judge`] is the whole way from a history to its verdict. `picture` is what a page shows of it.

mod calls;
mod judge;
pub mod picture;
mod values;
mod words;

pub(crate) use calls::is_of_named_process;
pub use judge::{HistoryTerms, InitialValue, Notation, infer, judge};
pub(crate) use values::recorded;
pub use zooquake_linearizability::{Budget, ListedModel, ModelKind};
