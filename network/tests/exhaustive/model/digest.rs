//! Values that are hashed once.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A value with a digest of 64 bits, by which it is hashed and ordered. The order is the same in every run, and has no
/// meaning: Stateright needs one of messages and timers, so that a path is found again by the places of its actions.
#[derive(Debug, Clone, Copy)]
pub struct DigestKey<T> {
    digest: u64,
    value: T,
}

impl<T: Hash> DigestKey<T> {
    /// The key of a value.
    pub fn new(value: T) -> Self {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let digest = hasher.finish();
        Self { digest, value }
    }
}

impl<T> DigestKey<T> {
    pub fn value(&self) -> &T {
        &self.value
    }
}

impl<T> Hash for DigestKey<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

impl<T: PartialEq> PartialEq for DigestKey<T> {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.value == other.value
    }
}

impl<T: Eq> Eq for DigestKey<T> {}

impl<T: Eq + Debug> PartialOrd for DigestKey<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Eq + Debug> Ord for DigestKey<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.digest
            .cmp(&other.digest)
            .then_with(|| match self.value == other.value {
                true => Ordering::Equal,
                false => format!("{:?}", self.value).cmp(&format!("{:?}", other.value)),
            })
    }
}
