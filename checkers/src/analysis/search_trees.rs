//! Things in an order, so that those that are asked for are found, or counted, in logarithmic time each.

/// Intervals, of which those that meet another one are found: things, each with when it began and when it was over, in
/// the order in which they began.
#[derive(Debug)]
pub struct Intervals<T> {
    all: Vec<T>,
    begins: Vec<u64>,
    ends: MaxTree,
}

impl<T> Default for Intervals<T> {
    fn default() -> Self {
        Self::new([])
    }
}

impl<T> Intervals<T> {
    /// Takes each with its begin and its end; those that began together stay in the order in which they are given.
    pub fn new(all: impl IntoIterator<Item = (u64, u64, T)>) -> Self {
        let mut all: Vec<(u64, u64, T)> = all.into_iter().collect();
        all.sort_by_key(|&(begin, _, _)| begin);
        Self {
            begins: all.iter().map(|&(begin, _, _)| begin).collect(),
            ends: MaxTree::new(all.iter().map(|&(_, end, _)| end).collect()),
            all: all.into_iter().map(|(_, _, thing)| thing).collect(),
        }
    }

    /// The things in the order in which they began.
    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// The things that began at `to` or before and were over at `from` or later, in the order in which they began.
    pub fn meeting(&self, from: u64, to: u64) -> impl Iterator<Item = &T> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = self.ends.first(next, from)?;
            next = at + 1;
            (self.begins[at] <= to).then(|| &self.all[at])
        })
    }
}

/// Numbers in a given order, so that the first one that is at least so much is found in time logarithmic in their
/// count.
#[derive(Debug, Default)]
pub struct MaxTree {
    /// The numbers, and above them the greatest of each two, up to the greatest of all.
    levels: Vec<Vec<u64>>,
}

impl MaxTree {
    /// Takes the numbers in their order.
    pub fn new(numbers: Vec<u64>) -> Self {
        let mut levels = vec![numbers];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            levels.push(last.chunks(2).filter_map(|two| two.iter().max().copied()).collect());
        }
        Self { levels }
    }

    /// The place of the first number from a place on that is at least `least`.
    pub fn first(&self, from: usize, least: u64) -> Option<usize> {
        let (mut level, mut at) = (0, from);
        // Up, while all that stand together from here on are too small.
        while *self.levels.get(level)?.get(at)? < least {
            at += 1;
            while at % 2 == 0 && level + 1 < self.levels.len() {
                (at, level) = (at / 2, level + 1);
            }
        }
        while level > 0 {
            level -= 1;
            at *= 2;
            at += usize::from(self.levels[level][at] < least);
        }
        Some(at)
    }
}

/// How many of some things, each of a rank, were added below a rank: a binary indexed tree (Fenwick 1994).
#[derive(Debug)]
pub struct Ranks(Vec<usize>);

impl Ranks {
    /// No things yet, of so many ranks.
    pub fn new(ranks: usize) -> Self {
        Self(vec![0; ranks + 1])
    }

    /// Adds one of this rank.
    pub fn add(&mut self, rank: usize) {
        let mut at = rank + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// How many of lower ranks were added.
    pub fn below(&self, rank: usize) -> usize {
        let (mut at, mut sum) = (rank, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::{Intervals, MaxTree};

    #[test]
    fn those_that_meet_are_the_ones_that_a_scan_finds() {
        let mut random = fastrand::Rng::with_seed(1);
        for count in 0..30 {
            let mut all: Vec<(u64, u64, usize)> = (0..count)
                .map(|number| (random.u64(0..10), random.u64(0..15), number))
                .collect();
            let intervals = Intervals::new(all.clone());
            all.sort_by_key(|&(begin, _, _)| begin);
            for from in 0..16 {
                for to in 0..11 {
                    let meets = |&&(begin, end, _): &&(u64, u64, usize)| begin <= to && end >= from;
                    let scan: Vec<usize> = all.iter().filter(meets).map(|&(_, _, number)| number).collect();
                    let found: Vec<usize> = intervals.meeting(from, to).copied().collect();
                    assert_eq!(found, scan, "{all:?}: {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn the_first_is_the_one_that_a_scan_finds() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in 0..40 {
            let numbers: Vec<u64> = (0..length).map(|_| random.u64(0..10)).collect();
            let peaks = MaxTree::new(numbers.clone());
            for from in 0..=numbers.len() {
                for least in 0..11 {
                    let scan = (from..numbers.len()).find(|&at| numbers[at] >= least);
                    assert_eq!(peaks.first(from, least), scan, "{numbers:?} from {from}: {least}");
                }
            }
        }
    }
}
