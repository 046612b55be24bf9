//! The backlog of a queue: consumers rest now and then, and producers put in a burst of items meanwhile. Otherwise the
//! queue would nearly always be empty, and neither could a list of it be out of date when it is used nor an order be
//! wrong.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Items at which producers hold back: consumers work longer than producers think, and what they leave would have to be
/// drained at the end.
const MOST: usize = 16;

/// How many items consumers rest for.
const BURST: RangeInclusive<usize> = 2..=12;

/// The longest rest: where producers are cut off, consumers go on.
const REST: Duration = Duration::from_millis(400);

/// An estimate of the items in a queue, and whether its consumers rest.
#[derive(Debug)]
pub struct Backlog {
    /// The dice of its bursts, so that they depend on nothing but the plan's seed.
    dice: fastrand::Rng,
    /// Items whose `enqueue` did not fail and that were not dequeued yet.
    items: usize,
    /// Whether an item was enqueued since the last rest began.
    fresh: bool,
    rest: Option<Rest>,
}

/// A rest of the consumers.
#[derive(Debug)]
struct Rest {
    /// How many items end it.
    items: usize,
    /// When a consumer first rested.
    since: Option<Duration>,
}

impl Backlog {
    /// An empty queue, and consumers that rest.
    pub fn new(seed: u64) -> Self {
        let mut backlog = Self {
            dice: fastrand::Rng::with_seed(seed ^ 0xbac_1067),
            items: 0,
            fresh: true,
            rest: None,
        };
        backlog.emptied();
        backlog
    }

    /// Whether producers put in one item after the other.
    pub fn bursts(&self) -> bool {
        self.rest.is_some()
    }

    /// Whether producers hold back.
    pub fn full(&self) -> bool {
        self.items >= MOST
    }

    /// Whether a consumer that could go on rests.
    pub fn rests(&mut self, now: Duration) -> bool {
        let Some(rest) = &mut self.rest else { return false };
        let since = *rest.since.get_or_insert(now);
        if self.items >= rest.items || now.saturating_sub(since) >= REST {
            self.rest = None;
        }
        self.rest.is_some()
    }

    /// An item may have been enqueued.
    pub fn enqueued(&mut self) {
        self.items += 1;
        self.fresh = true;
    }

    /// An item was dequeued.
    pub fn dequeued(&mut self) {
        self.items = self.items.saturating_sub(1);
        if self.items == 0 {
            self.emptied();
        }
    }

    /// The queue was found empty. A rest follows, if an item was enqueued since the last one began.
    pub fn emptied(&mut self) {
        self.items = 0;
        if self.rest.is_none() && std::mem::take(&mut self.fresh) {
            self.rest = Some(Rest {
                items: self.dice.usize(BURST),
                since: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Consumers go on when the burst is there, and rest again when the queue is empty.
    #[test]
    fn consumers_rest_for_a_burst_and_again_when_the_queue_is_empty() {
        for seed in 0..50 {
            let mut backlog = Backlog::new(seed);
            let mut bursts = std::collections::BTreeSet::new();
            for _ in 0..20 {
                let mut items = 0;
                while backlog.rests(Duration::ZERO) {
                    assert!(backlog.bursts() && !backlog.full());
                    backlog.enqueued();
                    items += 1;
                }
                assert!(BURST.contains(&items) && !backlog.bursts(), "{items}");
                bursts.insert(items);
                (0..items).for_each(|_| backlog.dequeued());
            }
            assert!(bursts.len() > 3, "{bursts:?}");
        }
    }

    /// Producers may be cut off: consumers go on asking.
    #[test]
    fn no_rest_is_endless_and_none_follows_without_an_item() {
        let mut backlog = Backlog::new(1);
        assert!(backlog.rests(Duration::from_secs(5)));
        assert!(!backlog.rests(Duration::from_secs(5) + REST));
        backlog.emptied();
        assert!(!backlog.rests(Duration::from_secs(6)));
        backlog.enqueued();
        backlog.dequeued();
        assert!(backlog.rests(Duration::from_secs(6)));
    }

    #[test]
    fn producers_hold_back_when_there_is_much_to_do() {
        let mut backlog = Backlog::new(1);
        (0..MOST).for_each(|_| backlog.enqueued());
        assert!(backlog.full() && !backlog.rests(Duration::ZERO));
        backlog.dequeued();
        assert!(!backlog.full());
    }
}
