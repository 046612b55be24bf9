//! The first of many ends that is late enough.

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

#[cfg(test)]
mod tests {
    use super::MaxTree;

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
