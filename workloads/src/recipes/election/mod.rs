//! Elections.

mod acknowledged;
mod ephemeral;
mod epoch;
mod sequential;
mod ticket;
pub(super) mod variants;

pub use acknowledged::{ACKS, acknowledged};
pub use ephemeral::{LEADER, ephemeral};
pub use epoch::{EPOCH, epoch};
pub use sequential::sequential;
pub use ticket::{HA, ticket};

use super::grant::ContenderQueue;

/// The parent of the candidates' znodes.
pub const PARENT: &str = "/election";

/// The candidates of the protected variants.
const QUEUE: ContenderQueue = ContenderQueue::single(PARENT, "-candidate-");
