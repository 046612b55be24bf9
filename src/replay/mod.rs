//! Running a recorded plan again, its faults tied to what was going on when they struck.

mod moment;
pub mod runnable;
mod tie;

pub use tie::{headline, tie};
