//! Running a recorded plan again, its faults pinned to what was going on when they struck.

mod moment;
mod pin;

pub use pin::{headline, pin};
