//! Semaphores: a few clients hold a lease at a time.

mod counted;
mod leases;
pub(super) mod variants;

use std::num::NonZeroUsize;

pub use counted::counted;
pub use leases::leases;

/// The parent of the leases' znodes.
pub const PARENT: &str = "/semaphore";

/// How many leases there are.
pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(2).expect("it is not 0");
