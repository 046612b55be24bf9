//! What an operation leaves of its znodes.

use super::{SOON, Seen, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_checkers::evidence::Znode;

/// How often what a waiting client names is looked at.
const EVERY: Duration = Duration::from_millis(100);

impl Trial {
    /// That the second client, which waits, names its znodes, once it had time to make them: one may be there before the client has
    /// heard of it.
    pub(super) async fn names_waiting(&mut self) -> Result<Seen> {
        let by = self.clock.now() + SOON;
        loop {
            self.clock.sleep(EVERY).await;
            let seen = self.quiet(1, None).await?;
            let own: Vec<Znode> = self
                .tree()
                .await?
                .into_iter()
                .filter(|znode| self.is_left(znode))
                .collect();
            let named = seen.and_then(|seen| match own.iter().find(|znode| !seen.contains(&znode.path)) {
                Some(znode) => Err(format!("{seen} does not name {}", znode.path)),
                None => Ok(seen),
            });
            let made = named.is_ok() && !own.is_empty();
            if made || self.clock.now() >= by {
                return Ok(named);
            }
        }
    }

    /// Whether a znode is a contender's that belongs to a session of the second client.
    pub(super) fn is_left(&self, znode: &Znode) -> bool {
        let contender = |parent: &String| znode.path.starts_with(&format!("{parent}/"));
        let told = self.clients[1].sessions();
        self.plan.workload.contenders.iter().any(contender)
            && znode
                .owner
                .as_ref()
                .is_some_and(|owner| told.iter().any(|(session, _)| session == owner))
    }

    /// That a release says what it removed, and that it is gone.
    pub(super) async fn removed(&self, grant: &Value, answer: Result<Value, String>) -> Result<Seen> {
        let tree = self.tree().await?;
        Ok(answer.and_then(|value| {
            if self.can("removed") && !grant["path"].is_null() && value["removed"]["path"] != grant["path"] {
                return Err(format!("{value} does not say that {} was removed", grant["path"]));
            }
            let same = |znode: &&Znode| {
                grant["path"] == json!(znode.path) && grant["czxid"].as_i64().is_none_or(|czxid| czxid == znode.czxid)
            };
            match tree.iter().find(same) {
                Some(znode) => Err(format!("{value}, but {} is still there", znode.path)),
                None => Ok(value.to_string()),
            }
        }))
    }
}
