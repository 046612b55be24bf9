//! What is to be found out about an object's operations.

use crate::{Budget, Value};

/// What is to be found out, and within which budget.
pub enum Inquiry<'b, 'x> {
    /// Whether there is an order of all, and what contradicts it.
    Verdict(&'b mut Budget<'x>),
    /// How far orders reach. States name values in this form.
    Order(&'b mut Budget<'x>, &'b dyn Fn(&Value) -> String),
}
