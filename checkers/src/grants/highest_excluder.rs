//! The highest of some numbers that grants have, among the grants that exclude another one.

use crate::analysis::Analysis;
use zooquake_history::operation::Mode;

/// A number, the grant that has it, and the grant's client.
type NumberedGrant<'a, K> = (K, usize, &'a str);

/// The highest number, and the highest of the other clients; of equal ones the first.
#[derive(Debug, Clone, Copy)]
struct HighestByClient<'a, K> {
    first: Option<NumberedGrant<'a, K>>,
    other: Option<NumberedGrant<'a, K>>,
}

impl<'a, K: Ord + Copy> HighestByClient<'a, K> {
    const NONE: Self = Self {
        first: None,
        other: None,
    };

    fn insert(&mut self, entry: NumberedGrant<'a, K>) {
        let lower = |than: &Option<NumberedGrant<'a, K>>| than.is_some_and(|(key, ..)| entry.0 <= key);
        let own = self.first.is_some_and(|(.., node)| node == entry.2);
        if !lower(&self.first) {
            if !own {
                self.other = self.first;
            }
            self.first = Some(entry);
        } else if !own && !lower(&self.other) {
            self.other = Some(entry);
        }
    }

    fn but_of(&self, node: &str) -> Option<NumberedGrant<'a, K>> {
        self.first.filter(|entry| entry.2 != node).or(self.other)
    }
}

/// Numbers of grants, by the modes by which the grants are judged.
#[derive(Debug, Clone, Copy)]
pub struct HighestExcluder<'a, K> {
    exclusive: HighestByClient<'a, K>,
    shared: HighestByClient<'a, K>,
}

impl<'a, K: Ord + Copy> HighestExcluder<'a, K> {
    /// No number.
    pub const NONE: Self = Self {
        exclusive: HighestByClient::NONE,
        shared: HighestByClient::NONE,
    };

    /// Adds the number of a grant.
    pub fn insert(&mut self, run: &Analysis<'a>, grant: usize, number: K) {
        let entry = (number, grant, run.grants.all[grant].node);
        match run.judged_mode(grant) {
            Some(Mode::Exclusive) => self.exclusive.insert(entry),
            Some(Mode::Shared) => self.shared.insert(entry),
            None => {}
        }
    }

    /// The highest number of those that exclude this grant, and which of them has it. Exclusive grants exclude each
    /// other where there is one lease. A shared one and an exclusive one exclude each other if they are of different
    /// clients, as a client may turn one into the other.
    pub fn highest(&self, run: &Analysis<'a>, grant: usize) -> Option<(K, usize)> {
        let node = run.grants.all[grant].node;
        let highest = match run.judged_mode(grant)? {
            Mode::Exclusive => {
                let exclusive = self.exclusive.first.filter(|_| run.single());
                let shared = self.shared.but_of(node);
                match (exclusive, shared) {
                    (Some(one), Some(other)) if other.0 > one.0 => Some(other),
                    (one, other) => one.or(other),
                }
            }
            Mode::Shared => self.exclusive.but_of(node),
        };
        highest.map(|(number, grant, _)| (number, grant))
    }
}
