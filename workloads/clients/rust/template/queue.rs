//! Items are sequential znodes; a consumer reads the first one and deletes it, and the delete is the delivery: at most
//! once.

mod zooquake;

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::Instant;
use zookeeper_client::{Acls, CreateMode, Error};
use zooquake::{End, Kit, Recipe, number};

const PARENT: &str = "@PARENT@";

struct Queue;

impl Recipe for Queue {
    const OPERATIONS: &'static [&'static str] = &["enqueue", "dequeue"];

    async fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, _: Instant) -> Result<Value, End> {
        match f {
            "enqueue" => enqueue(kit, number(value, "item")?).await,
            _ => dequeue(kit).await,
        }
    }
}

async fn enqueue(kit: &Kit, item: i64) -> Result<Value, End> {
    let mode = CreateMode::PersistentSequential.with_acls(Acls::anyone_all());
    let (path, data) = (format!("{PARENT}/item-"), item.to_string());
    let (stat, sequence) = kit.client()?.create(&path, data.as_bytes(), &mode).await?;
    Ok(json!({ "item": item, "path": format!("{path}{sequence}"), "czxid": stat.czxid }))
}

async fn dequeue(kit: &Kit) -> Result<Value, End> {
    for name in kit.children(PARENT).await? {
        let (client, path) = (kit.client()?, format!("{PARENT}/{name}"));
        let data = match client.get_data(&path).await {
            Err(Error::NoNode) => continue, // Another consumer has it.
            read => read?.0,
        };
        let item: i64 = String::from_utf8_lossy(&data).parse().map_err(|_| End::Info(format!("{path} has no item")))?;
        kit.taking(item);
        match client.delete(&path, None).await {
            Err(Error::NoNode) => {}
            deleted => return deleted.map(|()| json!({ "item": item })).map_err(End::from),
        }
    }
    Ok(json!({ "item": null }))
}

#[tokio::main]
async fn main() {
    zooquake::run(Queue).await;
}
