//! Which accesses of one block, or of two, contradict each other in real time.
//!
//! A block's accesses have places: that of the write of its first value, then that of the reads of it, which are free
//! among themselves, then that of the compare-and-set to its next value, and so on. One block must come before another
//! if an access of it was over before one of the other was sent. All orders that fit are those that obey the places
//! within blocks and put blocks one after the other as they must be, so there is one if
//!
//! - within no block an access was over before one with an earlier place was sent, and
//! - no circle of blocks exists in which each must come before the next.
//!
//! For the latter it is enough to look at pairs. Let `first(A)` be when the first access of A was over, `last(A)` when
//! its last one was sent, so that A must come before B exactly if `first(A) < last(B)`. Take a shortest circle, of
//! blocks A₁ to Aₙ with n at least 3. Being shortest it has no short cut: A₍ᵢ₋₁₎ need not come before A₍ᵢ₊₁₎, so
//! `first(A₍ᵢ₋₁₎) >= last(A₍ᵢ₊₁₎) > first(Aᵢ)`, and that for each i: all the way round, `first` would fall. So n is 2.
//!
//! Of two blocks that must each come before the other one at least has `first < last`: were it `last <= first` for
//! both, `first(A) < last(B) <= first(B) < last(A) <= first(A)`. These are the zones of Gibbons and Korach ("Testing
//! shared memories", 1997), who judge reads and writes so; links by compare-and-sets only make clusters into blocks.

use super::clusters::Clusters;
use super::{AccessMoment, Action, BEGINNING, RegisterAccess};

/// A block, laid out.
#[derive(Debug, Default)]
pub struct Block {
    /// Its clusters in order.
    pub clusters: Vec<usize>,
    /// Its accesses and their places, in order: `2k` for the write of its k-th value, `2k + 1` for the reads of it.
    pub places: Vec<(usize, usize)>,
    /// When the first of its accesses was over.
    pub first: AccessMoment,
    /// When the last of its accesses was sent.
    pub last: AccessMoment,
}

/// Two accesses, the first of them over before the second was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The one that was over: its place and its number.
    pub over: (usize, usize),
    /// The one that was sent then.
    pub sent: (usize, usize),
}

impl Block {
    /// Lays out a block of some clusters.
    pub fn new<A: RegisterAccess>(clusters: Vec<usize>, of: &Clusters<'_, A>) -> Self {
        let mut places = Vec::new();
        for (k, &cluster) in clusters.iter().enumerate() {
            let cluster = &of.all[cluster];
            places.extend(cluster.writer.map(|writer| (2 * k, writer)));
            places.extend(cluster.reads.iter().map(|&read| (2 * k + 1, read)));
        }
        let accesses = || places.iter().map(|&(_, access)| &of.accesses[access]);
        Self {
            first: accesses()
                .map(|access| access.finish())
                .min()
                .unwrap_or(AccessMoment::MAX),
            last: accesses().map(|access| access.start()).max().unwrap_or(BEGINNING),
            clusters,
            places,
        }
    }

    /// Two accesses of the block in an order that its places forbid, as near to each other as there are.
    pub fn disorder<A: RegisterAccess>(&self, accesses: &[A]) -> Option<Pair> {
        let mut best: Option<Pair> = None;
        // Those of earlier places that were sent later than all between them and here, so with falling starts.
        let mut late: Vec<(usize, usize)> = Vec::new();
        let mut from = 0;
        while from < self.places.len() {
            let place = self.places[from].0;
            let to = from + self.places[from..].partition_point(|&(other, _)| other == place);
            let here = &self.places[from..to];
            for &over in here {
                let finish = accesses[over.1].finish();
                let nearest = late.partition_point(|&(_, sent)| accesses[sent].start() > finish);
                if let Some(&sent) = nearest.checked_sub(1).map(|nearest| &late[nearest])
                    && best.is_none_or(|best| over.0 - sent.0 < best.over.0 - best.sent.0)
                {
                    best = Some(Pair { over, sent });
                }
            }
            if let Some(&last) = here.iter().max_by_key(|(_, access)| accesses[*access].start()) {
                while late
                    .last()
                    .is_some_and(|&(_, sent)| accesses[sent].start() <= accesses[last.1].start())
                {
                    late.pop();
                }
                late.push(last);
            }
            from = to;
        }
        best
    }

    /// Of this block one access that was over before `last` and one sent after `first`, as near to each other as there
    /// are: one that is both, else two that the fewest links lie between. `None` if it lacks either.
    pub fn around<A: RegisterAccess>(&self, accesses: &[A], first: AccessMoment, last: AccessMoment) -> Option<Pair> {
        let nearest = self.nearest(accesses, first, last)?;
        let begin = self
            .places
            .first()
            .filter(|(_, access)| accesses[*access].action() == Action::Begin);
        match begin {
            // An access of nil (places up to 2) proves that this is the first of all blocks: the beginning replaces it.
            Some(&begin) if nearest.over.0.min(nearest.sent.0) <= 2 => Some(Pair { over: begin, ..nearest }),
            _ => Some(nearest),
        }
    }

    fn nearest<A: RegisterAccess>(&self, accesses: &[A], first: AccessMoment, last: AccessMoment) -> Option<Pair> {
        let over = |&&(_, access): &&(usize, usize)| accesses[access].finish() < last;
        let sent = |&&(_, access): &&(usize, usize)| accesses[access].start() > first;
        if let Some(&both) = self.places.iter().find(|place| over(place) && sent(place)) {
            return Some(Pair { over: both, sent: both });
        }
        let (mut last_over, mut last_sent) = (None, None);
        let mut best: Option<Pair> = None;
        let mut offer = |over: (usize, usize), sent: (usize, usize)| {
            let pair = Pair { over, sent };
            if best.is_none_or(|best| pair.distance() < best.distance()) {
                best = Some(pair);
            }
        };
        for place in &self.places {
            if over(&place) {
                last_over = Some(*place);
                last_sent.into_iter().for_each(|sent| offer(*place, sent));
            }
            if sent(&place) {
                last_sent = Some(*place);
                last_over.into_iter().for_each(|over| offer(over, *place));
            }
        }
        best
    }
}

impl Pair {
    fn distance(self) -> usize {
        self.over.0.abs_diff(self.sent.0)
    }
}

/// Pairs of blocks that must each come before the other, by position: for each block at most one, and some if there are
/// any. In time nearly linear in the blocks.
pub fn contradictions(blocks: &[Block]) -> Vec<(usize, usize)> {
    let forward = |&block: &usize| blocks[block].first < blocks[block].last;
    let mut zones: Vec<usize> = (0..blocks.len()).filter(forward).collect();
    zones.sort_by_key(|&zone| blocks[zone].first);
    // Among the zones up to each, the two that are sent last.
    let mut latest: Vec<[Option<usize>; 2]> = Vec::with_capacity(zones.len());
    for &zone in &zones {
        let [top, second] = latest.last().copied().unwrap_or_default();
        let later = |other: Option<usize>| other.is_none_or(|other| blocks[other].last < blocks[zone].last);
        latest.push(match (later(top), later(second)) {
            (true, _) => [Some(zone), top],
            (false, true) => [top, Some(zone)],
            _ => [top, second],
        });
    }
    let mut pairs: Vec<(usize, usize)> = (0..blocks.len())
        .filter_map(|block| {
            let until = zones.partition_point(|&zone| blocks[zone].first < blocks[block].last);
            let around = latest[until.checked_sub(1)?];
            let other = around.into_iter().flatten().find(|&other| other != block)?;
            (blocks[block].first < blocks[other].last).then_some((block.min(other), block.max(other)))
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
