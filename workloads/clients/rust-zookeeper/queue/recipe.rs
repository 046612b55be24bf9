//! ZkQueue of the crate zookeeper, an object for each operation. Its `poll` names nobody what it is about to take.

mod kit;

use kit::{End, Kit, ServedRecipe, number};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use zookeeper::recipes::queue::ZkQueue;

struct Queue;

impl ServedRecipe for Queue {
    const OPERATIONS: &'static [&'static str] = &["enqueue", "dequeue"];
    const CANNOT: &'static [&'static str] = &["taking"];

    fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, _: Instant) -> Result<Value, End> {
        let queue = ZkQueue::new(kit.client()?, "/queue".to_owned())?;
        if f == "enqueue" {
            let item = number(value, "item")?;
            let path = queue.offer(item.to_string().into_bytes())?;
            return Ok(json!({ "item": item, "path": path, "czxid": null }));
        }
        let Some(data) = queue.poll()? else {
            return Ok(json!({ "item": null }));
        };
        let item: i64 = String::from_utf8_lossy(&data)
            .parse()
            .map_err(|_| End::Info("it has no item".to_owned()))?;
        Ok(json!({ "item": item }))
    }
}

fn main() {
    kit::run(Queue, &["connect"]);
}
