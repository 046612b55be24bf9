//! When a queue or a barrier certainly held something.

/// A stretch, by positions, in which an item was certainly in a queue, or a member in a barrier, and what proves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PresenceSpan {
    /// From here on.
    pub from: usize,
    /// Until here.
    pub to: usize,
    /// The operation that proves it, by its place.
    pub proof: usize,
}

/// When it certainly was not empty.
#[derive(Debug)]
pub struct Presence {
    /// By their beginnings, each with the one of those up to it that lasts longest.
    items: Vec<(PresenceSpan, PresenceSpan)>,
    /// The stretches without gaps.
    whole: Vec<(usize, usize)>,
}

impl Presence {
    /// That of some items.
    pub fn new(mut items: Vec<PresenceSpan>) -> Self {
        items.retain(|item| item.from < item.to);
        items.sort_unstable();
        let mut whole: Vec<(usize, usize)> = Vec::new();
        let mut longest: Option<PresenceSpan> = None;
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            match whole.last_mut() {
                Some((_, to)) if item.from < *to => *to = item.to.max(*to),
                _ => whole.push((item.from, item.to)),
            }
            let best = longest.filter(|best| best.to >= item.to).unwrap_or(item);
            longest = Some(best);
            all.push((item, best));
        }
        Self { items: all, whole }
    }

    /// Whether there certainly was something right after a position.
    pub fn at(&self, position: usize) -> bool {
        let before = self.whole.partition_point(|&(begin, _)| begin <= position);
        before.checked_sub(1).is_some_and(|last| self.whole[last].1 > position)
    }

    /// What proves, with nothing to spare, that there was something at each moment between two positions; `None` if
    /// there was a moment at which there may have been nothing.
    pub fn throughout(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let at = self.whole.partition_point(|&(begin, _)| begin < from).checked_sub(1)?;
        if self.whole[at].1 < to {
            return None;
        }
        let (mut proof, mut until) = (Vec::new(), from);
        while until < to {
            let before = self.items.partition_point(|(item, _)| item.from < until);
            let (_, longest) = self.items.get(before.checked_sub(1)?)?;
            if longest.to <= until {
                return None;
            }
            proof.push(longest.proof);
            until = longest.to;
        }
        Some(proof)
    }
}
