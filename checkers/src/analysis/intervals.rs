//! Intervals, of which those that meet another one are found in logarithmic time each.

use crate::analysis::max_tree::MaxTree;

/// Things, each with when it began and when it was over, in the order in which they began.
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

    /// Those that began at `to` or before and were over at `from` or later, in the order in which they began.
    pub fn meeting(&self, from: u64, to: u64) -> impl Iterator<Item = &T> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = self.ends.first(next, from)?;
            next = at + 1;
            (self.begins[at] <= to).then(|| &self.all[at])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Intervals;

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
}
