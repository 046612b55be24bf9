//! Each contender joins a queue of ephemeral znodes; the first holds, each other one waits for the one before it to go.

mod zooquake;

use std::sync::Arc;
use tokio::time::Instant;
use zookeeper_client::Stat;
use zooquake::{End, Grants, Holder, Kit};

struct Queue;

impl Holder for Queue {
    /// Each holder's is higher than that of all before it: the resource refuses a lower one.
    fn token(&self, created: &Stat) -> Option<i64> {
        Some(created.czxid)
    }

    async fn acquire(&self, kit: &Arc<Kit>, deadline: Instant) -> Result<String, End> {
        let path = kit.join("@PARENT@", "").await?;
        while let Some(before) = kit.ahead(&path).await?.last() {
            kit.wait_gone(before, deadline).await?;
        }
        Ok(path)
    }
}

#[tokio::main]
async fn main() {
    zooquake::run(Grants(Queue)).await;
}
