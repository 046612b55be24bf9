//! A set of small numbers that is nearly a prefix of them all: everything up to some number, and a few beyond.

/// The set.
#[derive(Debug)]
pub struct Bits {
    words: Vec<u64>,
    /// All words before this one are full.
    low: usize,
    /// All words from this one on are empty.
    high: usize,
}

impl Bits {
    /// The empty set of numbers below `size`.
    pub fn new(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(64)],
            low: 0,
            high: 0,
        }
    }

    /// Whether the number is in it.
    pub fn contains(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        self.words[word] |= 1 << (number % 64);
        self.high = self.high.max(word + 1);
        while self.words.get(self.low) == Some(&u64::MAX) {
            self.low += 1;
        }
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        let word = number / 64;
        self.words[word] &= !(1 << (number % 64));
        self.low = self.low.min(word);
        while self.high > 0 && self.words[self.high - 1] == 0 {
            self.high -= 1;
        }
    }

    /// The set as words, without the empty end.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.high]
    }

    /// Appends what tells this set from all others of its size: the words that are neither in the full beginning nor in
    /// the empty end, and where they stand.
    pub fn key(&self, key: &mut Vec<u64>) {
        let middle = &self.words[self.low.min(self.high)..self.high];
        key.push((self.low as u64) << 32 | middle.len() as u64);
        key.extend_from_slice(middle);
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn keys_are_short_and_tell_sets_apart() {
        let mut bits = Bits::new(1000);
        (0..640).for_each(|number| bits.insert(number));
        let key = |bits: &Bits| {
            let mut key = Vec::new();
            bits.key(&mut key);
            key
        };
        assert_eq!(key(&bits), [10 << 32]);
        bits.insert(700);
        assert_eq!(key(&bits), [10 << 32 | 1, 1 << 60]);
        bits.remove(5);
        assert_eq!(key(&bits).len(), 12);
        assert!(bits.contains(700) && !bits.contains(5));
        bits.insert(5);
        bits.remove(700);
        assert_eq!(key(&bits), [10 << 32]);
    }
}
