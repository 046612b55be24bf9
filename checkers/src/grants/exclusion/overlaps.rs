//! Holds that overlap and exclude each other.

use crate::analysis::{Analysis, Grant, HolderAnswer};
use std::collections::{BTreeSet, HashMap};
use zooquake_history::operation::Mode;

/// Grants of as many clients that may not hold together, and did when the last of them was read: two that exclude each
/// other, or one more than the capacity.
#[derive(Debug)]
pub struct Overlap {
    /// The other ones, the longest first.
    pub earlier: Vec<usize>,
    /// The one that was read last.
    pub later: usize,
}

impl Overlap {
    /// All of them; the one that was read last comes last.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        self.earlier.iter().copied().chain([self.later])
    }
}

/// The overlaps with earlier grants of other clients that are there when each grant is read, of the longest ones: at
/// most one with as many exclusive grants as may be held, and one of two grants that exclude each other.
///
/// A hold reaches from the reading of its grant to the sending of its last answered request, which `last` gives. In
/// time proportional to n log n and to what is found.
pub fn overlaps(run: &Analysis<'_>, read: &[usize], last: impl Fn(&Grant<'_>) -> Option<HolderAnswer>) -> Vec<Overlap> {
    let mut exclusive = HoldingClients::new(run);
    let mut shared = HoldingClients::new(run);
    let mut found = Vec::new();
    for &later in read {
        let grant = &run.grants.all[later];
        let (Some(end), Some(begin)) = (last(grant).map(|answer| answer.sent), grant.read) else {
            continue;
        };
        exclusive.forget(begin);
        shared.forget(begin);
        let mut add = |earlier: Option<Vec<usize>>| found.extend(earlier.map(|earlier| Overlap { earlier, later }));
        match run.judged_mode(later) {
            Some(Mode::Exclusive) => {
                let all = exclusive.others(grant.node, run.capacity.get());
                let one = shared.others(grant.node, 1);
                match (all, one) {
                    (Some(all), Some(one)) if run.single() => {
                        let longer = exclusive.end(all[0]) < shared.end(one[0]);
                        add(Some(if longer { one } else { all }));
                    }
                    (all, one) => {
                        add(all);
                        add(one);
                    }
                }
                exclusive.insert(later, end);
            }
            Some(Mode::Shared) => {
                add(exclusive.others(grant.node, 1));
                shared.insert(later, end);
            }
            None => {}
        }
    }
    found
}

/// Clients that hold, each by the grant of its that lasts longest.
struct HoldingClients<'r, 'a> {
    run: &'r Analysis<'a>,
    /// Where each hold ends, and its grant.
    ends: BTreeSet<(usize, usize)>,
    /// The same by client.
    of: HashMap<&'a str, (usize, usize)>,
}

impl<'r, 'a> HoldingClients<'r, 'a> {
    fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            ends: BTreeSet::new(),
            of: HashMap::new(),
        }
    }

    fn node(&self, grant: usize) -> &'a str {
        self.run.grants.all[grant].node
    }

    /// Leaves out those that ended until then.
    fn forget(&mut self, until: usize) {
        while let Some((_, grant)) = self.ends.first().copied().filter(|&(end, _)| end <= until) {
            self.ends.pop_first();
            self.of.remove(self.node(grant));
        }
    }

    fn insert(&mut self, grant: usize, end: usize) {
        let node = self.node(grant);
        let known = self.of.get(node).copied();
        if known.is_none_or(|known| known < (end, grant)) {
            known.map(|known| self.ends.remove(&known));
            self.ends.insert((end, grant));
            self.of.insert(node, (end, grant));
        }
    }

    /// The longest grants of so many clients but this; `None` if there are not as many.
    fn others(&self, node: &str, count: usize) -> Option<Vec<usize>> {
        let others = self.ends.len() - usize::from(self.of.contains_key(node));
        let longest = self.ends.iter().rev().map(|&(_, grant)| grant);
        let longest = longest.filter(|&grant| self.node(grant) != node).take(count);
        (others >= count).then(|| longest.collect())
    }

    /// Where the hold of a client ends that holds by this grant.
    fn end(&self, grant: usize) -> Option<usize> {
        self.of.get(self.node(grant)).map(|&(end, _)| end)
    }
}
