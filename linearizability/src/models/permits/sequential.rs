//! Something that gives out permits: a semaphore, a read-write lock (a writer takes all permits, a reader one), a
//! reentrant mutex (of one permit, whose holders take it only once).
//!
//! As with a mutex on a lease, a hold is certain only if its own release was answered with `ok`: from the answer to its
//! grant until its release was sent. Any other grant proves only that there was a permit at some moment until it was
//! answered, and an acquire of unknown outcome proves nothing. An order exists exactly if certain holds never take more
//! permits than there are, and each other grant has a moment at which enough of them were left; it takes time O(n log
//! n), by a sweep over the certain holds.

use crate::model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, any_optional, contradiction, earliest};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const TOO_MANY: BrokenClaim = BrokenClaim {
    kind: "double-grant",
    property: "mutual exclusion",
    says: "more was held at once than there is, although only the certain part of a hold counts",
};

/// The permits, none of which is taken at the beginning. The state are the holds, ascending, with how many each has.
#[derive(Debug, Clone, Copy)]
pub struct Permits {
    /// How many there are.
    pub permits: u64,
}

/// An operation on them. Holds are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermitOp {
    /// A hold of so many permits began that its release proves to have lasted until then.
    Grant(usize, u64),
    /// That hold ended.
    Release(usize, u64),
    /// A hold of so many permits began that lasted for an unknown time.
    Glimpse(u64),
}

impl Model for Permits {
    type State = Rc<[(usize, u64)]>;
    type Input = PermitOp;

    fn initial(&self) -> Self::State {
        Rc::default()
    }

    fn step(&self, holds: &Self::State, input: &PermitOp) -> Option<Self::State> {
        let taken: u64 = holds.iter().map(|&(_, weight)| weight).sum();
        let fits = |weight: u64| taken.checked_add(weight).is_some_and(|taken| taken <= self.permits);
        match *input {
            PermitOp::Grant(hold, weight) => {
                let (before, after) = holds.split_at(holds.partition_point(|&(other, _)| other < hold));
                fits(weight).then(|| [before, &[(hold, weight)], after].concat().into())
            }
            PermitOp::Release(hold, weight) => {
                let at = holds.binary_search(&(hold, weight)).ok()?;
                Some([&holds[..at], &holds[at + 1..]].concat().into())
            }
            PermitOp::Glimpse(weight) => fits(weight).then(|| Rc::clone(holds)),
        }
    }

    fn is_read(&self, input: &PermitOp) -> bool {
        matches!(input, PermitOp::Glimpse(_))
    }

    fn heap(&self, holds: &Self::State) -> usize {
        size_of_val(&**holds)
    }

    fn near(&self, ops: &[Op<PermitOp>]) -> NearLinearDecision {
        let Some(stretches) = stretches(ops) else {
            return NearLinearDecision::Undecided;
        };
        let found = [self.overflow(ops, &stretches), self.blocked(ops, &stretches)];
        earliest(ops, found.into_iter().flatten()).map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

/// A stretch in which permits were certainly held, by positions.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: usize,
    to: usize,
    weight: u64,
    grant: usize,
}

/// The stretches of all answered grants; `None` if something else than unanswered ends is missing.
fn stretches(ops: &[Op<PermitOp>]) -> Option<Vec<Stretch>> {
    if any_optional(ops) {
        return None;
    }
    let mut holds: BTreeMap<usize, [Option<usize>; 2]> = BTreeMap::new();
    for (place, op) in ops.iter().enumerate() {
        let (hold, side) = match op.input {
            PermitOp::Grant(hold, _) => (hold, 0),
            PermitOp::Release(hold, _) => (hold, 1),
            PermitOp::Glimpse(_) => continue,
        };
        if holds.entry(hold).or_default()[side].replace(place).is_some() {
            return None;
        }
    }
    let mut all = Vec::new();
    for [grant, release] in holds.into_values() {
        let answered = |op: Option<usize>| op.and_then(|op| ops[op].complete);
        let (Some(grant), Some(from)) = (grant, answered(grant)) else {
            if release.is_some() {
                return None;
            }
            continue;
        };
        let to = release.map_or(usize::MAX, |release| ops[release].invoke);
        let (PermitOp::Grant(_, weight), false) = (ops[grant].input, to < from) else {
            return None;
        };
        let released = release.map(|release| ops[release].input);
        if released.is_some_and(|input| !matches!(input, PermitOp::Release(_, other) if other == weight)) {
            return None;
        }
        all.push(Stretch {
            from,
            to,
            weight,
            grant,
        });
    }
    Some(all)
}

/// Where stretches begin and end, in order: the position, what is taken from there on, and the stretch that begins.
fn levels(stretches: &[Stretch]) -> Vec<(usize, u64)> {
    let mut ends: Vec<(usize, u64, bool)> = Vec::with_capacity(2 * stretches.len());
    for stretch in stretches {
        ends.push((stretch.from, stretch.weight, true));
        ends.push((stretch.to, stretch.weight, false));
    }
    ends.sort_unstable();
    let mut taken: u64 = 0;
    let mut level = |(at, weight, begins): (usize, u64, bool)| {
        taken = if begins {
            taken.saturating_add(weight)
        } else {
            taken.saturating_sub(weight)
        };
        (at, taken)
    };
    ends.into_iter().map(&mut level).collect()
}

impl Permits {
    /// The first moment at which more is certainly held than there is.
    fn overflow(&self, ops: &[Op<PermitOp>], stretches: &[Stretch]) -> Option<Contradiction> {
        let (over, _) = levels(stretches).into_iter().find(|&(_, taken)| taken > self.permits)?;
        let at_once = stretches.iter().filter(|one| one.from <= over && over < one.to);
        let mut held: Vec<Stretch> = at_once.copied().collect();
        held.sort_unstable_by_key(|one| (one.from != over, one.weight));
        let mut sum: u64 = held.iter().map(|one| one.weight).sum();
        // The one that began then is needed; of the others the largest are kept.
        let first = held.remove(0);
        held.retain(|one| {
            let needed = sum - one.weight <= self.permits;
            sum -= if needed { 0 } else { one.weight };
            needed
        });
        let grants = held.iter().chain([&first]).map(|one| one.grant);
        Some(contradiction(ops, grants.collect(), &TOO_MANY))
    }

    /// The first other grant that has no moment at which enough was left.
    fn blocked(&self, ops: &[Op<PermitOp>], stretches: &[Stretch]) -> Option<Contradiction> {
        let glimpse = |op: usize| match ops[op].input {
            PermitOp::Glimpse(weight) if ops[op].must() => Some((weight, ops[op].complete?, op)),
            _ => None,
        };
        let glimpses: BTreeSet<_> = (0..ops.len()).filter_map(glimpse).collect();
        let levels = levels(stretches);
        let (mut full, mut of): (Vec<(usize, usize)>, Option<u64>) = (Vec::new(), None);
        let mut first: Option<(usize, usize)> = None;
        for (weight, end, op) in glimpses {
            if of != Some(weight) {
                (full, of) = (self.full(&levels, weight), Some(weight));
            }
            let at = full.partition_point(|&(from, _)| from < ops[op].invoke);
            let within = weight > self.permits || at > 0 && end < full[at - 1].1;
            first = [first, within.then_some((end, op))].into_iter().flatten().min();
        }
        let (_, op) = first?;
        let PermitOp::Glimpse(weight) = ops[op].input else {
            return None;
        };
        Some(self.around(ops, stretches, op, weight))
    }

    /// From when to when fewer permits are left than so many.
    fn full(&self, levels: &[(usize, u64)], weight: u64) -> Vec<(usize, usize)> {
        let mut full = Vec::new();
        let mut since = None;
        for &(at, taken) in levels {
            let blocks = taken.saturating_add(weight) > self.permits;
            match (since, blocks) {
                (None, true) => since = Some(at),
                (Some(from), false) => {
                    full.push((from, at));
                    since = None;
                }
                _ => {}
            }
        }
        full.extend(since.map(|from| (from, usize::MAX)));
        full
    }

    /// A grant with the holds that leave it no moment.
    fn around(&self, ops: &[Op<PermitOp>], stretches: &[Stretch], op: usize, weight: u64) -> Contradiction {
        /// Of more holds it is not tried which of them can be left out.
        const TRIED: usize = 400;
        let (from, to) = (ops[op].invoke, ops[op].complete.unwrap_or(usize::MAX));
        let during = stretches.iter().filter(|one| one.from < to && from < one.to);
        let mut held: Vec<Stretch> = during.copied().collect();
        let blocks = |held: &[Stretch]| {
            let full = self.full(&levels(held), weight);
            weight > self.permits || full.iter().any(|&(begin, end)| begin < from && to < end)
        };
        let least = held.len() <= TRIED;
        let mut at = if least { 0 } else { held.len() };
        held.sort_unstable_by_key(|one| one.to - one.from);
        while at < held.len() {
            let one = held.remove(at);
            if !blocks(&held) {
                held.insert(at, one);
                at += 1;
            }
        }
        let mut found = contradiction(ops, held.iter().map(|one| one.grant).chain([op]).collect(), &TOO_MANY);
        found.witness.least = least;
        found
    }
}
