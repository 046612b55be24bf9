//! The drain: a fresh client empties the queue, each time after a quorum write. `docs/families/queue.md`.

use super::interpreter::Interpreter;
use super::recorder::Entry;
use super::script::single;
use super::slot::End;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use zooquake_checkers::EventType;

/// Dequeues that must find nothing, one after the other.
const EMPTY_READS: usize = 3;

/// Longest drain, without what the harness itself stood still in it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that could not write waits this long before it tries again.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

impl Interpreter {
    /// Empties the queue through the last client; writes `drained` if it was seen empty.
    pub(super) async fn drain(&mut self) -> Result<()> {
        let (last, before, end) = (self.slots.len() - 1, self.recorder.stalls(), Instant::now() + PATIENCE);
        // An item more than were ever enqueued would be a wonder; two operations each, and a thousand to spare.
        let mut operations = 1_000 + 2 * self.completed;
        let (mut empty, mut sure) = (0, false);
        while empty < EMPTY_READS && operations > 0 {
            let deadline = before.moved(end, self.recorder.stalls());
            if Instant::now() >= deadline {
                break;
            }
            operations -= 1;
            if !sure {
                self.ask_control(last, "confirm")?;
                self.until(deadline, |run| !run.slots[last].asked("confirm")).await?;
                sure = self.slots[last].last_confirm == Some(EventType::Ok);
                if !sure {
                    empty = 0;
                    self.until(Instant::now() + AFTER_FAILURE, |_| false).await?;
                }
                continue;
            }
            match self.drain_one(last, "dequeue", json!({}), deadline).await? {
                Some(item) if item.is_null() => (empty, sure) = (empty + 1, false),
                Some(item) => {
                    empty = 0;
                    if self.plan.workload.variant == "claimed" {
                        self.drain_one(last, "acknowledge", json!({ "item": item }), deadline)
                            .await?;
                    }
                }
                None => (empty, sure) = (0, false),
            }
        }
        if empty >= EMPTY_READS {
            self.recorder.record(Entry::lane("run", "phase", json!("drained")))?;
        }
        Ok(())
    }

    /// One operation; the item of its answer, if that was `ok`.
    async fn drain_one(&mut self, last: usize, f: &'static str, value: Value, by: Instant) -> Result<Option<Value>> {
        self.slots[last].last = None;
        self.ask(last, single(f, value))?;
        self.until(by, |run| run.slots[last].op.is_none()).await?;
        let ended = self.slots[last].last.take();
        Ok(ended.filter(End::is_ok).map(|end| end.value["item"].clone()))
    }
}
