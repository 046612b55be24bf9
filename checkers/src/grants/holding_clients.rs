//! Who holds beside whom, and until when.

use crate::analysis::Analysis;
use std::collections::{BTreeSet, HashMap};

/// Clients that hold, each by the grant of its that lasts longest. An end is an event, or a moment.
pub struct HoldingClients<'r, 'a, E> {
    run: &'r Analysis<'a>,
    /// Where each hold ends, and its grant.
    ends: BTreeSet<(E, usize)>,
    /// By client where its hold ends, and its grant.
    of: HashMap<&'a str, (E, usize)>,
}

impl<'r, 'a, E: Copy + Ord> HoldingClients<'r, 'a, E> {
    /// Nobody holds.
    pub fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            ends: BTreeSet::new(),
            of: HashMap::new(),
        }
    }

    fn node(&self, grant: usize) -> &'a str {
        self.run.grants.all[grant].node
    }

    /// Adds a grant whose hold ends there.
    pub fn insert(&mut self, grant: usize, end: E) {
        let node = self.node(grant);
        let known = self.of.get(node).copied();
        if known.is_none_or(|known| known < (end, grant)) {
            known.map(|known| self.ends.remove(&known));
            self.ends.insert((end, grant));
            self.of.insert(node, (end, grant));
        }
    }

    /// The longest grants of so many clients but this, all of which end after that; `None` if there are not as many.
    pub fn others(&self, node: &str, count: usize, after: E) -> Option<Vec<usize>> {
        let later = self.ends.iter().rev().take_while(|&&(end, _)| end > after);
        let others = later.map(|&(_, grant)| grant).filter(|&grant| self.node(grant) != node);
        let longest: Vec<usize> = others.take(count).collect();
        (longest.len() == count).then_some(longest)
    }

    /// Where the hold of a client ends that holds by this grant.
    pub fn end(&self, grant: usize) -> Option<E> {
        self.of.get(self.node(grant)).map(|&(end, _)| end)
    }
}
