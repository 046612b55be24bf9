//! The drain: what the end of a run proves about the items that are not there any more.

use super::items::outcome;
use super::{ItemField, told};
use crate::analysis::Analysis;
use crate::analysis::clients::Confirms;
use zooquake_history::EventType;
use zooquake_history::operation::queue::f;

/// A client found the queue empty, after it had written to ZooKeeper. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyAnswer<'a> {
    /// The client.
    pub node: &'a str,
    /// Where its `confirm` was sent: what had been acknowledged before is seen by what it reads after the answer.
    pub asked: usize,
    /// Where its `confirm` was answered.
    pub confirmed: usize,
    /// Where the dequeue was sent that found nothing.
    pub sent: usize,
    /// Where the answer to that dequeue was read.
    pub empty: usize,
    /// The event of the phase `drained`.
    pub drained: usize,
}

impl<'a> EmptyAnswer<'a> {
    /// The last proof of emptiness before the phase `drained`; else why there is none.
    pub fn new(run: &Analysis<'a>) -> Result<Self, &'static str> {
        Self::all(run)?.into_iter().max_by_key(|proof| proof.asked).ok_or(
            "no client found the queue empty, before the phase `drained`, after it had answered a confirm: lost items were \
             not looked for",
        )
    }

    /// All proofs of emptiness before the phase `drained`, in the order in which their dequeues began; else why there
    /// is none.
    pub fn all(run: &Analysis<'a>) -> Result<Vec<Self>, &'static str> {
        let drained = run
            .phase("drained")
            .ok_or("the queue was not drained to its end: lost items were not looked for")?;
        let confirms = Confirms::new(run.events, &run.ops);
        let proof = |op: &crate::analysis::Op<'a>| {
            let (sent, empty) = (op.sent()?, op.end.filter(|&end| end < drained)?);
            let nothing = outcome(run, op) == Some(EventType::Ok) && told(run, empty) == Some(ItemField::Nothing);
            if op.f != f::DEQUEUE || !nothing {
                return None;
            }
            let (asked, confirmed) = confirms.before(&run.clients, op.node, sent, empty)?;
            Some(Self {
                node: op.node,
                asked,
                confirmed,
                sent,
                empty,
                drained,
            })
        };
        Ok(run.ops.work.iter().filter_map(proof).collect())
    }

    /// The events that prove it.
    pub fn witness(&self) -> [usize; 5] {
        [self.asked, self.confirmed, self.sent, self.empty, self.drained]
    }
}
