//! The tutorial's tickets, faults and all: everybody watches the list, and the smallest ticket leads. But for the names
//! it is the tutorial's first lock.

use crate::recipes::Env;
use crate::recipes::grant::TutorialClient;
use crate::recipes::lock::Herd;

/// The parent of the tickets.
pub const HA: &str = "/ha";

/// A client of `election/ticket` that begins to open its session.
pub fn ticket(env: &Env) -> TutorialClient {
    let herd = Herd {
        parent: HA,
        prefix: "ticket-",
    };
    TutorialClient::new(env, herd)
}
