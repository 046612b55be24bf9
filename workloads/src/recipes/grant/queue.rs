//! The order of a protected queue.

use std::num::NonZeroUsize;

use zooquake_history::operation::Mode;

use crate::recipes::bug::Bug;
use crate::recipes::sequence::{order, sequence};
use crate::zk::{Error, Watch, Zk};

/// Where the znodes of one kind stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContenderQueue {
    pub parent: &'static str,
    /// What stands between the GUID and the sequence number in their names.
    pub mark: &'static str,
    /// How many of them hold at a time: the first ones.
    pub capacity: NonZeroUsize,
}

impl ContenderQueue {
    /// One of whose znodes only the first holds.
    pub const fn single(parent: &'static str, mark: &'static str) -> Self {
        let capacity = NonZeroUsize::MIN;
        Self { parent, mark, capacity }
    }
}

/// Where all contenders stand: in one queue, or, of a read-write lock, in two under one parent, whose znodes are
/// numbered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// Of those that are to hold exclusively.
    pub exclusive: ContenderQueue,
    /// Of those that are to hold shared; `None` where none is.
    pub shared: Option<ContenderQueue>,
}

impl From<ContenderQueue> for Queues {
    fn from(exclusive: ContenderQueue) -> Self {
        Self {
            exclusive,
            shared: None,
        }
    }
}

impl Queues {
    /// The place of one that is to hold so.
    pub(super) fn place(&self, mode: Mode, bug: Option<Bug>) -> QueuePlace {
        let Self { exclusive, shared } = *self;
        match shared {
            Some(queue) if mode == Mode::Shared => QueuePlace {
                bug,
                queue,
                marks: vec![exclusive.mark],
            },
            _ => QueuePlace {
                bug,
                queue: exclusive,
                marks: [Some(exclusive), shared]
                    .into_iter()
                    .flatten()
                    .map(|queue| queue.mark)
                    .collect(),
            },
        }
    }
}

/// Where one stands, and the marks of those that it waits for if they stand before it.
pub(super) struct QueuePlace {
    pub(super) queue: ContenderQueue,
    marks: Vec<&'static str>,
    bug: Option<Bug>,
}

/// Where a znode stands among those that it waits for.
pub(super) enum QueueStanding {
    /// So near the beginning that it holds.
    First,
    /// Farther back; the watch fires when that may have changed.
    Behind(Watch),
    /// Farther back, but what stood before it has gone since.
    Moved,
    /// It is not there.
    Missing,
}

impl QueuePlace {
    /// Where the own znode stands.
    ///
    /// Where only the first holds, the one just before it is watched, so that each change wakes one. Where several do,
    /// the departure of any of those before it may be the one that it waits for, so the list is watched, and by the
    /// very request that reads it: nothing can change between the two.
    ///
    /// # Errors
    /// Of the requests.
    pub(super) async fn standing(&self, zk: &dyn Zk, own: &str) -> Result<QueueStanding, Error> {
        let ContenderQueue { parent, capacity, .. } = self.queue;
        if capacity > NonZeroUsize::MIN {
            let (names, watch) = zk.children_and_watch(parent).await?;
            return Ok(match self.before(&names, own) {
                None => QueueStanding::Missing,
                Some(before) if before.len() < capacity.get() => QueueStanding::First,
                Some(_) => QueueStanding::Behind(watch),
            });
        }
        let names = zk.children(parent).await?;
        let Some(before) = self.before(&names, own) else {
            return Ok(QueueStanding::Missing);
        };
        let Some((_, nearest)) = before.into_iter().max_by(|(a, _), (b, _)| order(*a, *b)) else {
            return Ok(QueueStanding::First);
        };
        // If it went between the two reads, waiting for its creation would be waiting for ever, as L13c does.
        let (there, watch) = zk.exists_and_watch(&format!("{parent}/{nearest}")).await?;
        let waits = there.is_some() || self.bug == Some(Bug::WatchesGonePredecessor);
        Ok(if waits {
            QueueStanding::Behind(watch)
        } else {
            QueueStanding::Moved
        })
    }

    /// The znodes before the own one that it waits for, with their numbers; `None` if the own one is missing.
    fn before<'a>(&self, names: &'a [String], own: &str) -> Option<Vec<(i32, &'a str)>> {
        let own = own.rsplit('/').next()?;
        let mine = sequence(own, self.queue.mark)?;
        names.iter().find(|name| *name == own)?;
        let number = |name: &str| self.marks.iter().find_map(|mark| sequence(name, mark));
        let numbered = names.iter().filter_map(|name| Some((number(name)?, name.as_str())));
        let is_before = |number: i32, name: &str| match self.bug {
            // By what the clients chose before the number.
            Some(Bug::OrderedByWholeName) => name < own,
            _ => order(number, mine).is_lt(),
        };
        Some(numbered.filter(|(number, name)| is_before(*number, name)).collect())
    }
}
