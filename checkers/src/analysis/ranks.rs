//! Counts by rank, each found in time logarithmic in the ranks.

/// How many of some things, each of a rank, were added below a rank: a binary indexed tree (Fenwick 1994).
#[derive(Debug)]
pub struct Ranks(Vec<usize>);

impl Ranks {
    /// None of so many ranks.
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
