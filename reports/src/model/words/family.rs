//! The words of a family.

use super::context::EventContext;
use crate::model::DrawnOperation;
use crate::model::terms::Terms;
use zooquake_history::operation::Family;

/// The predicate of an event of a family; `None` if it is none of its own.
pub type Predicate = fn(EventContext<'_>) -> Option<String>;

/// A family and its words.
#[derive(Debug)]
pub struct FamilyWords {
    /// Its name and operations.
    pub spec: &'static Family,
    /// Words for legends and labels, by the operations that are drawn.
    pub terms: fn(&[DrawnOperation<'_>]) -> &'static Terms,
    /// The predicates of its events.
    pub predicate: Predicate,
}
