//! A dequeue that goes on in the background: what it got, and whether somebody still waits for that.

use super::DeliveredItem;
use crate::recipes::OpError;
use crate::zk::SharedValue;

type DequeueEnd = Result<Option<DeliveredItem>, OpError>;

/// One dequeue, shared by who does it and who waits for it.
#[derive(Clone, Default)]
pub struct DequeueAttempt(SharedValue<AttemptState>);

#[derive(Default)]
struct AttemptState {
    abandoned: bool,
    ended: Option<DequeueEnd>,
}

impl DequeueAttempt {
    /// Does something while somebody waits for certain; `None`, and nothing is done, if nobody waits any more.
    pub fn while_awaited<R>(&self, act: impl FnOnce() -> R) -> Option<R> {
        self.0.update(|attempt| (!attempt.abandoned).then(act))
    }

    /// It has ended so. What it got too late, when nobody waited any more, is put by first.
    pub fn end(&self, ended: DequeueEnd, put_by: impl FnOnce(&DeliveredItem)) {
        self.0.update(|attempt| {
            if let (true, Ok(Some(given))) = (attempt.abandoned, &ended) {
                put_by(given);
            }
            attempt.ended = Some(ended);
        });
    }

    /// Waits for its end.
    pub async fn ended(&self) -> DequeueEnd {
        self.0.until(|attempt| attempt.ended.clone()).await
    }

    /// Nobody waits for it any more; returns its end, if that has come about all the same.
    pub fn abandon(&self) -> Option<DequeueEnd> {
        self.0.update(|attempt| {
            attempt.abandoned = true;
            attempt.ended.take()
        })
    }
}
