//! Clusters and blocks: which accesses stand together in every order that fits, since each value is written once.
//!
//! All that find a value stand between its write and the next one: they are its cluster. A compare-and-set that
//! happened comes right after the cluster of the value that it found: with that link, clusters form blocks, in which
//! their order is given. Nothing of another block can stand inside one. A write with an unknown outcome that nobody's
//! access proves is left out: no order lacks anything without it.

use super::{Action, NEVER, RegisterAccess, RegisterValue};
use std::collections::{HashMap, HashSet, VecDeque};

/// The accesses of one value.
#[derive(Debug, Default)]
pub struct ValueCluster {
    /// The value that the accesses find or leave; `None` is nil.
    pub value: RegisterValue,
    /// What wrote it; `None` if nothing in the history did, or nothing proves that it happened.
    pub writer: Option<usize>,
    /// What read it.
    pub reads: Vec<usize>,
    /// The compare-and-sets from it that happened, the first to be over first.
    pub next: Vec<usize>,
}

/// The clusters of a history.
#[derive(Debug)]
pub struct Clusters<'r, A> {
    /// The accesses, which all others name by their places.
    pub accesses: &'r [A],
    /// The clusters, in the order of the first access that names each.
    pub all: Vec<ValueCluster>,
    /// For each access the cluster of the value that it finds, if any, and of the one that it leaves.
    of: Vec<(Option<usize>, usize)>,
}

/// Clusters with a given order: linked by compare-and-sets, in which case `links[n]` leads from the one before to
/// `clusters[n]`.
#[derive(Debug)]
pub struct Blocks {
    /// For each block its clusters in order.
    pub all: Vec<Vec<usize>>,
    /// Clusters whose links lead round in a circle, each circle torn where its block begins.
    pub circles: Vec<Vec<usize>>,
}

impl<'r, A: RegisterAccess> Clusters<'r, A> {
    /// Sorts the accesses by the values that they find and leave.
    pub fn new(accesses: &'r [A]) -> Self {
        let mut clusters = Self {
            accesses,
            all: Vec::new(),
            of: Vec::with_capacity(accesses.len()),
        };
        let mut named: HashMap<RegisterValue, usize> = HashMap::new();
        let mut sets: Vec<(usize, usize)> = Vec::new();
        for (number, access) in accesses.iter().enumerate() {
            let found = access
                .action()
                .observed()
                .map(|value| clusters.named(&mut named, value));
            match (found, access.action()) {
                (Some(cluster), Action::Read(_)) => clusters.all[cluster].reads.push(number),
                (Some(cluster), _) => sets.push((cluster, number)),
                (None, _) => {}
            }
            let left = access.action().written().map(|value| clusters.named(&mut named, value));
            if let Some(cluster) = left {
                clusters.all[cluster].writer = Some(number);
            }
            clusters.of.push((found, left.or(found).unwrap_or_default()));
        }
        let happened = clusters.happened();
        for (cluster, set) in sets.into_iter().filter(|&(_, set)| happened[set]) {
            clusters.all[cluster].next.push(set);
        }
        for cluster in &mut clusters.all {
            cluster.writer = cluster.writer.filter(|&writer| happened[writer]);
            cluster.next.sort_by_key(|&set| (accesses[set].finish(), set));
        }
        clusters
    }

    fn named(&mut self, named: &mut HashMap<RegisterValue, usize>, value: RegisterValue) -> usize {
        let next = self.all.len();
        let number = *named.entry(value).or_insert(next);
        if number == next {
            self.all.push(ValueCluster {
                value,
                ..ValueCluster::default()
            });
        }
        number
    }

    /// Which accesses happened: those that were answered, and the writer of every value that one of those found.
    fn happened(&self) -> Vec<bool> {
        let mut happened = vec![false; self.accesses.len()];
        let certain = |&number: &usize| self.accesses[number].certain();
        let mut left: Vec<usize> = (0..self.accesses.len()).filter(certain).collect();
        while let Some(number) = left.pop() {
            if !std::mem::replace(&mut happened[number], true)
                && let Some(found) = self.of[number].0
            {
                left.extend(self.all[found].writer);
            }
        }
        happened
    }

    /// The cluster of the value that an access leaves in the register.
    pub fn left_by(&self, access: usize) -> usize {
        self.of[access].1
    }

    /// The blocks. Of several compare-and-sets from one value only the first links.
    pub fn blocks(&self) -> Blocks {
        let mut linked = vec![false; self.all.len()];
        for set in self.all.iter().filter_map(|cluster| cluster.next.first()) {
            linked[self.left_by(*set)] = true;
        }
        let mut seen = vec![false; self.all.len()];
        let mut walk = |first: usize| {
            let mut block = Vec::new();
            let mut next = Some(first);
            while let Some(cluster) = next.filter(|&cluster| !std::mem::replace(&mut seen[cluster], true)) {
                block.push(cluster);
                next = self.all[cluster].next.first().map(|&set| self.left_by(set));
            }
            block
        };
        let first = (0..self.all.len()).filter(|&cluster| !linked[cluster]);
        let mut all: Vec<Vec<usize>> = first.map(&mut walk).collect();
        let circles: Vec<Vec<usize>> = (0..self.all.len())
            .map(walk)
            .filter(|block| !block.is_empty())
            .collect();
        all.extend(circles.iter().cloned());
        Blocks { all, circles }
    }

    /// The accesses on the shortest way, from any of these clusters, to one that certainly happened and so proves that
    /// its value was written: unknown compare-and-sets, then that one. Empty if there is none.
    pub fn proof(&self, values: &[usize]) -> Vec<usize> {
        let mut from: HashMap<usize, Option<usize>> = HashMap::new();
        let mut left: VecDeque<(usize, Option<usize>)> = values.iter().map(|&value| (value, None)).collect();
        let mut seen: HashSet<usize> = values.iter().copied().collect();
        while let Some((cluster, by)) = left.pop_front() {
            let ValueCluster { reads, next, .. } = &self.all[cluster];
            let last = reads
                .iter()
                .chain(next)
                .find(|&&access| self.accesses[access].finish() != NEVER);
            if let Some(&last) = last {
                let mut way = vec![last];
                let mut back = by;
                while let Some(set) = back {
                    way.push(set);
                    back = from[&set];
                }
                way.reverse();
                return way;
            }
            for &set in next {
                from.insert(set, by);
                if seen.insert(self.left_by(set)) {
                    left.push_back((self.left_by(set), Some(set)));
                }
            }
        }
        Vec::new()
    }
}
