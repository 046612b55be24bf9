//! What may have happened to a register so far.

use std::collections::HashSet;
use std::rc::Rc;

/// One of the ways in which it may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The register's value.
    pub value: u32,
    /// Operations in flight of which an order needs nothing more.
    pub done: u128,
    /// Writes in flight that cannot be done any more.
    pub used: u128,
    /// How many of each kind of operation of unknown outcome are used up, by kind; none are zero.
    spent: Rc<[(u32, u32)]>,
}

impl Configuration {
    /// The one at the beginning.
    pub fn new(value: u32) -> Self {
        Self {
            value,
            done: 0,
            used: 0,
            spent: Rc::default(),
        }
    }

    /// How many of a kind are used up.
    pub fn spent(&self, kind: u32) -> u32 {
        let found = self.spent.binary_search_by_key(&kind, |&(kind, _)| kind);
        found.map_or(0, |at| self.spent[at].1)
    }

    /// The same with one more of a kind used up.
    pub fn spending(&self, kind: u32) -> Self {
        let mut spent = self.spent.to_vec();
        match spent.binary_search_by_key(&kind, |&(kind, _)| kind) {
            Ok(at) => spent[at].1 += 1,
            Err(at) => spent.insert(at, (kind, 1)),
        }
        Self {
            spent: spent.into(),
            ..self.clone()
        }
    }

    /// Whether this one can do whatever the other can.
    fn replaces(&self, other: &Self) -> bool {
        self.value == other.value
            && self.used & !other.used == 0
            && other.done & !self.done == 0
            && self.spent.iter().all(|&(kind, count)| count <= other.spent(kind))
    }

    /// What it has used up, and what it has not done.
    fn cost(&self) -> (u32, u32) {
        let spent: u32 = self.spent.iter().map(|&(_, count)| count).sum();
        (spent + self.used.count_ones(), self.done.count_zeros())
    }
}

/// Drops what another one replaces; `size` is how many there were when that was last done. Few are held against each
/// other each time, many only when they have become twice as many.
pub fn prune(all: &mut Vec<Configuration>, size: &mut usize) {
    const FEW: usize = 48;
    if all.len() < 2 {
        return;
    }
    let mut seen: HashSet<Configuration> = HashSet::with_capacity(all.len());
    all.retain(|one| seen.insert(one.clone()));
    if all.len() > FEW && all.len() < 2 * *size {
        return;
    }
    all.sort_by_cached_key(Configuration::cost);
    let mut kept: Vec<Configuration> = Vec::new();
    for one in all.drain(..) {
        if !kept.iter().any(|other| other.replaces(&one)) {
            kept.push(one);
        }
    }
    *size = kept.len();
    *all = kept;
}
