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
    let mut holding = HoldingGrants::new(run);
    let mut found = Vec::new();
    for &later in read {
        let grant = &run.grants.all[later];
        let (Some(end), Some(begin)) = (last(grant).map(|answer| answer.sent), grant.read) else {
            continue;
        };
        holding.overlaps(later, begin, &mut found);
        holding.insert(later, end);
    }
    found
}

/// The overlaps of grants with those that their clients confirmed in spite of them: all the earlier ones were read
/// before the later one was asked for, and confirmed to requests sent after it was read. At most as many for each grant
/// as of [`overlaps`], in the same time.
pub fn admissions(run: &Analysis<'_>, read: &[usize]) -> Vec<Overlap> {
    let all = &run.grants.all;
    let mut asked: Vec<(usize, usize)> = read
        .iter()
        .filter_map(|&later| Some((all[later].requested?, later)))
        .collect();
    asked.sort_unstable();
    let mut earlier = read.iter().copied().peekable();
    let mut holding = HoldingGrants::new(run);
    let mut found = Vec::new();
    for (requested, later) in asked {
        while let Some(number) = earlier.next_if(|&number| all[number].read < Some(requested)) {
            let last = all[number].confirms.last();
            last.into_iter()
                .for_each(|confirm| holding.insert(number, confirm.sent));
        }
        let begin = all[later].read.unwrap_or(usize::MAX);
        holding.overlaps(later, begin, &mut found);
    }
    found.sort_by_key(|overlap| all[overlap.later].read);
    found
}

/// The clients that hold, by the mode in which they do.
struct HoldingGrants<'r, 'a> {
    run: &'r Analysis<'a>,
    exclusive: HoldingClients<'r, 'a>,
    shared: HoldingClients<'r, 'a>,
}

impl<'r, 'a> HoldingGrants<'r, 'a> {
    fn new(run: &'r Analysis<'a>) -> Self {
        Self {
            run,
            exclusive: HoldingClients::new(run),
            shared: HoldingClients::new(run),
        }
    }

    /// Adds a grant whose hold ends there.
    fn insert(&mut self, grant: usize, end: usize) {
        match self.run.judged_mode(grant) {
            Some(Mode::Exclusive) => self.exclusive.insert(grant, end),
            Some(Mode::Shared) => self.shared.insert(grant, end),
            None => {}
        }
    }

    /// Adds the overlaps of a grant with holds that end after an event.
    fn overlaps(&self, later: usize, after: usize, found: &mut Vec<Overlap>) {
        let node = self.run.grants.all[later].node;
        let mut add = |earlier: Option<Vec<usize>>| found.extend(earlier.map(|earlier| Overlap { earlier, later }));
        match self.run.judged_mode(later) {
            Some(Mode::Exclusive) => {
                let all = self.exclusive.others(node, self.run.capacity.get(), after);
                let one = self.shared.others(node, 1, after);
                match (all, one) {
                    (Some(all), Some(one)) if self.run.single() => {
                        let longer = self.exclusive.end(all[0]) < self.shared.end(one[0]);
                        add(Some(if longer { one } else { all }));
                    }
                    (all, one) => {
                        add(all);
                        add(one);
                    }
                }
            }
            Some(Mode::Shared) => add(self.exclusive.others(node, 1, after)),
            None => {}
        }
    }
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

    fn insert(&mut self, grant: usize, end: usize) {
        let node = self.node(grant);
        let known = self.of.get(node).copied();
        if known.is_none_or(|known| known < (end, grant)) {
            known.map(|known| self.ends.remove(&known));
            self.ends.insert((end, grant));
            self.of.insert(node, (end, grant));
        }
    }

    /// The longest grants of so many clients but this, all of which end after an event; `None` if there are not as
    /// many.
    fn others(&self, node: &str, count: usize, after: usize) -> Option<Vec<usize>> {
        let later = self.ends.iter().rev().take_while(|&&(end, _)| end > after);
        let others = later.map(|&(_, grant)| grant).filter(|&grant| self.node(grant) != node);
        let longest: Vec<usize> = others.take(count).collect();
        (longest.len() == count).then_some(longest)
    }

    /// Where the hold of a client ends that holds by this grant.
    fn end(&self, grant: usize) -> Option<usize> {
        self.of.get(self.node(grant)).map(|&(end, _)| end)
    }
}
