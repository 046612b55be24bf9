//! Each contender creates a znode of its own; the first in the queue holds, each other one waits for the one before it to go.

mod zooquake;

use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, timeout_at};
use zookeeper_client::{Acls, CreateMode, Error};
use zooquake::{End, Holder, Kit, timed_out};

const PARENT: &str = "@PARENT@";

struct Queue;

impl Holder for Queue {
    async fn acquire(&self, kit: &Kit, deadline: Instant) -> Result<String, End> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let prefix = format!("{:x}-{:x}-", std::process::id(), now.as_nanos());
        let waited = wait(kit, &prefix, deadline).await;
        if waited.is_err() {
            for path in queue(kit).await?.iter().filter(|path| path.contains(&prefix)) {
                kit.remove(path).await?;
            }
        }
        waited
    }
}

async fn wait(kit: &Kit, prefix: &str, deadline: Instant) -> Result<String, End> {
    let path = join(kit, prefix).await?;
    kit.created(&path).await?;
    loop {
        let queue = queue(kit).await?;
        let place = queue.iter().position(|other| *other == path);
        let Some(before) = place.ok_or(Error::NoNode)?.checked_sub(1) else {
            return Ok(path);
        };
        let before = queue[before].as_str();
        let (there, gone) = kit
            .retry(|client| async move { client.check_and_watch_stat(before).await })
            .await?;
        if there.is_some() {
            timeout_at(deadline, gone.changed()).await.map_err(|_| timed_out())?;
        }
    }
}

/// Joins the queue once, though an earlier try may have done so without hearing of it.
async fn join(kit: &Kit, prefix: &str) -> Result<String, Error> {
    let (mode, own) = (
        CreateMode::EphemeralSequential.with_acls(Acls::anyone_all()),
        format!("{PARENT}/{prefix}"),
    );
    let (mode, own) = (&mode, own.as_str());
    kit.retry(|client| async move {
        let names = client.list_children(PARENT).await?;
        match names.iter().find(|name| name.starts_with(prefix)) {
            Some(name) => Ok(format!("{PARENT}/{name}")),
            None => Ok(format!("{own}{}", client.create(own, &[], mode).await?.1)),
        }
    })
    .await
}

/// The paths of the contenders, in order.
async fn queue(kit: &Kit) -> Result<Vec<String>, Error> {
    let mut names = kit
        .retry(|client| async move { client.list_children(PARENT).await })
        .await?;
    names.sort_by_key(|name| name[name.len().saturating_sub(10)..].to_owned());
    Ok(names.into_iter().map(|name| format!("{PARENT}/{name}")).collect())
}

#[tokio::main]
async fn main() {
    zooquake::run(Queue).await;
}
