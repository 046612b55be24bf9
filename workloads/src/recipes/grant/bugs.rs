//! What clients of a protected queue do with a bug that is planted in them, beside the care that is left out.

use std::time::Duration;

use super::ZnodeName;
use super::claim::GrantClaim;
use super::protected::ProtectedQueue;
use super::queue::ContenderQueue;
use crate::recipes::sequence::sequence;
use crate::recipes::{OpError, OwnZnode};

/// How long a candidate looks whether others come, and twice as long as it stays away when they do.
const MOMENT: Duration = Duration::from_millis(100);

impl ProtectedQueue {
    /// E4: gives its place up if others stand in the queue after a moment, and one more; returns whether it did.
    pub(super) async fn steps_back(&self, claim: &GrantClaim, own: &OwnZnode) -> bool {
        self.env.host.sleep(MOMENT).await;
        let all = claim.zk.children(self.queues.exclusive.parent).await;
        let met = all.is_ok_and(|all| all.len() > 1);
        if met {
            self.env.host.sleep(MOMENT).await;
            let place = vec![(claim.clone(), Some(own.path.clone()))];
            self.remove(place, self.holder.busy()).await;
            self.env.host.sleep(MOMENT / 2).await;
        }
        met
    }

    /// L28: deletes the first znode of the queue, whosever that is.
    pub(super) async fn release_first(&self, name: &str) -> Result<Option<ZnodeName>, OpError> {
        if let Some(held) = self.holder.let_go(name) {
            self.holder.disown(&held.grant.path);
        }
        let (zk, ContenderQueue { parent, mark, .. }) = (self.live().await, self.queues.exclusive);
        let names = zk.children(parent).await;
        let names = names.map_err(|error| OpError::from_error("children", &error))?;
        let numbered = names.iter().filter_map(|name| Some((sequence(name, mark)?, name)));
        if let Some((_, first)) = numbered.min() {
            let deleted = zk.delete(&format!("{parent}/{first}"), None).await;
            deleted.map_err(|error| OpError::from_error("delete", &error))?;
        }
        Ok(None)
    }
}
