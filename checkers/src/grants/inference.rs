//! What shows that a history without a plan is of a family that grants.

use crate::inferred_plan::{Inference, asks};
use zooquake_history::History;
use zooquake_history::operation::grant::{GRANT, MODE, f};
use zooquake_history::operation::{election, lock, rwlock, semaphore};

/// What a history promises as one of this family; `None` if it is none.
pub fn as_family(family: &str, history: &History) -> Option<Inference> {
    let (name, basis) = granting(history)?;
    (name == family).then(|| Inference::family(basis))
}

/// The family, and what shows it.
fn granting(history: &History) -> Option<(&'static str, &'static str)> {
    let asks = |names: &[&str], field| asks(history, names, field);
    if asks(&[f::ELECT, f::RESIGN], GRANT.any()) {
        return Some((election::FAMILY.name, "it elects, so it was judged as an election"));
    }
    if asks(&[f::WORK], GRANT.any()) {
        let basis =
            "clients work under grants and write nothing, so it was judged as a semaphore, of one lease at least";
        return Some((semaphore::FAMILY.name, basis));
    }
    if asks(&[f::ACQUIRE], GRANT.any()) && asks(&[f::ACQUIRE], MODE.any()) {
        let basis = "its requests for grants name modes, so it was judged as a read-write lock";
        return Some((rwlock::FAMILY.name, basis));
    }
    asks(&[f::ACQUIRE, f::RELEASE], GRANT.any())
        .then_some((lock::FAMILY.name, "it acquires grants, so it was judged as a lock"))
}
