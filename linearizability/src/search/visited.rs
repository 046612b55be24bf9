//! The configurations that a search has been in: which operations are done, and the state they left. Operations are
//! numbers, and their sets are keys of the table.

use std::collections::{BTreeSet, HashMap};

/// What a configuration holds beside the operations with a completion that are done.
#[derive(Debug)]
struct VisitedState<S> {
    state: S,
    /// The operations of unknown outcome that took effect.
    used: Box<[u64]>,
}

/// The table of these configurations. Keys are whole sets, not hashes of them: a collision would convict the innocent.
#[derive(Debug)]
pub struct VisitedConfigurations<S> {
    table: HashMap<Box<[u64]>, Vec<VisitedState<S>>>,
    /// Bytes that it takes, estimated from above.
    pub bytes: usize,
}

impl<S: Clone + Eq> VisitedConfigurations<S> {
    pub fn new() -> Self {
        Self {
            table: HashMap::new(),
            bytes: 0,
        }
    }

    /// Adds a configuration; returns whether it is worth going on from: not if one is known with the same operations
    /// done, the same state, and none used but such as are used here. The state owns `heap` bytes.
    pub fn insert(&mut self, done: &[u64], used: &[u64], state: &S, heap: usize) -> bool {
        // What an allocation costs beside its contents, and how far vectors and the table are ahead of what is in them:
        // a table that has just grown is filled to 7/16, and until it has, the one before, half as large, is there too.
        const ALLOCATION: usize = 16;
        const AHEAD: usize = 2;
        const TABLE: usize = 4;
        let each = |used: &[u64]| AHEAD * size_of::<VisitedState<S>>() + size_of_val(used) + heap + ALLOCATION;
        let left = VisitedState {
            state: state.clone(),
            used: used.into(),
        };
        let Some(known) = self.table.get_mut(done) else {
            let entry = TABLE * (size_of::<(Box<[u64]>, Vec<VisitedState<S>>)>() + 1) + size_of_val(done);
            self.bytes += entry + 2 * ALLOCATION + each(used);
            self.table.insert(done.into(), vec![left]);
            return true;
        };
        let covers = |other: &VisitedState<S>| other.state == *state && within(&other.used, used);
        if known.iter().any(covers) {
            return false;
        }
        known.retain(|other| {
            let superseded = other.state == *state && within(used, &other.used);
            if superseded {
                self.bytes -= each(&other.used);
            }
            !superseded
        });
        self.bytes += each(used);
        known.push(left);
        true
    }
}

/// Whether one set is within another; neither has an empty end.
fn within(small: &[u64], large: &[u64]) -> bool {
    small.len() <= large.len() && small.iter().zip(large).all(|(small, large)| small & !large == 0)
}

/// A set that is nearly a prefix of all numbers: everything up to some number, and a few beyond.
#[derive(Debug, Default)]
pub struct Prefix {
    /// All numbers below this one are in it, and this one is not.
    low: usize,
    /// The numbers above it that are in it.
    beyond: BTreeSet<usize>,
}

impl Prefix {
    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        if number != self.low {
            self.beyond.extend((number > self.low).then_some(number));
            return;
        }
        self.low += 1;
        while self.beyond.remove(&self.low) {
            self.low += 1;
        }
    }

    /// Takes a number out. What is taken out in the order opposite to that of adding costs as much as adding did.
    pub fn remove(&mut self, number: usize) {
        if number >= self.low {
            self.beyond.remove(&number);
            return;
        }
        self.beyond.extend(number + 1..self.low);
        self.low = number;
    }

    /// Appends a key that distinguishes this set from all others: where the beginning ends, and 64 at a time the
    /// numbers beyond, each time with the first of them.
    pub fn key(&self, key: &mut Vec<u64>) {
        key.push(self.low as u64);
        let mut first = None;
        for &number in &self.beyond {
            match (first, key.last_mut()) {
                (Some(first), Some(word)) if number - first < 64 => *word |= 1u64 << (number - first),
                _ => {
                    key.extend([number as u64, 1]);
                    first = Some(number);
                }
            }
        }
    }
}

/// Any set.
#[derive(Debug)]
pub struct Bits {
    words: Vec<u64>,
    /// All words from this one on are empty.
    high: usize,
}

impl Bits {
    /// The empty set of numbers below `size`.
    pub fn new(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(64)],
            high: 0,
        }
    }

    pub fn contains(&self, number: usize) -> bool {
        self.words[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        let word = number / 64;
        self.words[word] |= 1 << (number % 64);
        self.high = self.high.max(word + 1);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        self.words[number / 64] &= !(1 << (number % 64));
        while self.high > 0 && self.words[self.high - 1] == 0 {
            self.high -= 1;
        }
    }

    /// The set as words, without the empty end.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.high]
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, Prefix};

    fn key(set: &Prefix) -> Vec<u64> {
        let mut key = Vec::new();
        set.key(&mut key);
        key
    }

    #[test]
    fn keys_are_short_and_tell_sets_apart() {
        let mut set = Prefix::default();
        (0..640).for_each(|number| set.insert(number));
        assert_eq!(key(&set), [640]);
        [700, 763, 100_000].into_iter().for_each(|number| set.insert(number));
        assert_eq!(key(&set), [640, 700, 1 | 1 << 63, 100_000, 1]);
        set.remove(100_000);
        set.remove(763);
        set.remove(639);
        assert_eq!(key(&set), [639, 700, 1]);
        set.insert(639);
        set.remove(700);
        assert_eq!(key(&set), [640]);
    }

    #[test]
    fn what_is_filled_up_is_a_prefix_until_it_is_taken_out() {
        let mut set = Prefix::default();
        [2, 1, 4, 0].into_iter().for_each(|number| set.insert(number));
        assert_eq!(key(&set), [3, 4, 1]);
        set.remove(0);
        assert_eq!(key(&set), [0, 1, 0b1011]);
    }

    #[test]
    fn words_end_with_the_highest_number() {
        let mut bits = Bits::new(1000);
        bits.insert(700);
        bits.insert(5);
        assert_eq!(bits.words().len(), 11);
        bits.remove(700);
        assert!(bits.contains(5) && !bits.contains(700));
        assert_eq!(bits.words(), [1 << 5]);
    }
}
