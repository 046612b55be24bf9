//! What contradicts every order of the register's accesses, before it is put into words: the words and the events that
//! prove it cost more than the judgement, and only few of many contradictions are reported.

use super::ambiguous::left_out;
use super::clusters::{Clusters, ValueCluster};
use super::order::{self, Block, Pair};
use super::{AccessMoment, Action, BEGINNING, NEVER, RegisterAccess, UNKNOWN, at};
use std::collections::HashSet;

/// A contradiction, by the accesses and clusters that are in it.
#[derive(Debug)]
pub enum Cause {
    /// A value that this access found before anybody had sent it, and its write if that was sent later.
    Phantom {
        /// The access that found it.
        finder: usize,
        /// Its write.
        writer: Option<usize>,
    },
    /// Two compare-and-sets took the same value away.
    Forked([usize; 2]),
    /// Compare-and-sets lead round in a circle of these clusters.
    Circular(Vec<usize>),
    /// Two accesses of one block against their places.
    Disordered(Block, Pair),
    /// Two blocks that must each come before the other, each with the accesses that prove it.
    Crossed([(Block, Pair); 2]),
}

/// All that contradicts an order of these accesses, which are all there were or not (`whole`); nothing exactly if an
/// order fits. With the accesses as they were judged in the end. In time nearly linear in the accesses.
pub fn judge<A: RegisterAccess>(mut accesses: Vec<A>, whole: bool) -> (Vec<A>, Vec<Cause>) {
    let clusters = Clusters::new(&accesses);
    let mut found = phantoms(&clusters, whole);
    let late = |cause: &Cause| match cause {
        Cause::Phantom { writer, .. } => *writer,
        _ => None,
    };
    let late: Vec<usize> = found.iter().filter_map(late).collect();
    if late.is_empty() {
        found.extend(disordered(&clusters));
        return (accesses, found);
    }
    // What was found before it was sent is already a cause.
    late.into_iter()
        .for_each(|writer| accesses[writer] = accesses[writer].with_start(UNKNOWN));
    found.extend(disordered(&Clusters::new(&accesses)));
    (accesses, found)
}

/// All that contradicts an order of these accesses but values found too early.
fn disordered<A: RegisterAccess>(clusters: &Clusters<'_, A>) -> Vec<Cause> {
    let (accesses, mut found) = (clusters.accesses, Vec::new());
    found.extend(clusters.all.iter().filter_map(|cluster| match cluster.next.as_slice() {
        &[one, other, ..] => Some(Cause::Forked([one, other])),
        _ => None,
    }));
    let blocks = clusters.blocks();
    found.extend(blocks.circles.into_iter().map(Cause::Circular));
    let all = blocks.all.into_iter();
    let mut blocks: Vec<Block> = all.map(|block| Block::new(block, clusters)).collect();
    // What stands apart only because of a cause found already contradicts nothing else for sure.
    let torn = |block: &Block| {
        let writer = block.clusters.first().and_then(|&first| clusters.all[first].writer);
        writer.is_some_and(|writer| matches!(accesses[writer].action(), Action::Cas { .. }))
    };
    let mut told: Vec<bool> = blocks.iter().map(torn).collect();
    let pairs = order::contradictions(&blocks);
    for (at, block) in blocks.iter_mut().enumerate() {
        if let Some(pair) = block.disorder(accesses) {
            told[at] = true;
            found.push(Cause::Disordered(std::mem::take(block), pair));
        }
    }
    for (a, b) in pairs {
        // One for each that is independent of the others.
        if told[a] || told[b] {
            continue;
        }
        told[a] = true;
        told[b] = true;
        found.extend(cross(accesses, [a, b].map(|block| std::mem::take(&mut blocks[block]))));
    }
    found
}

/// Values that were found before anybody had sent them.
fn phantoms<A: RegisterAccess>(clusters: &Clusters<'_, A>, whole: bool) -> Vec<Cause> {
    let accesses = clusters.accesses;
    let phantom = |cluster: &ValueCluster| {
        let finders = cluster.reads.iter().chain(&cluster.next).copied();
        // Where nobody ever sent it, a weak access proves less than any other one.
        let weak = |finder: usize| cluster.writer.is_none() && accesses[finder].is_weak();
        let finder = finders.min_by_key(|&finder| (weak(finder), accesses[finder].finish()))?;
        let made_up = match cluster.writer {
            None => whole,
            Some(writer) => accesses[writer].start() > accesses[finder].finish(),
        };
        made_up.then_some(Cause::Phantom {
            finder,
            writer: cluster.writer,
        })
    };
    clusters.all.iter().filter_map(phantom).collect()
}

/// The accesses of two blocks by which each must come before the other.
fn cross<A: RegisterAccess>(accesses: &[A], [a, b]: [Block; 2]) -> Option<Cause> {
    let of_a = a.around(accesses, b.first, b.last)?;
    let (over, sent) = (&accesses[of_a.over.1], &accesses[of_a.sent.1]);
    let of_b = b.around(accesses, over.finish(), sent.start())?;
    Some(Cause::Crossed([(a, of_a), (b, of_b)]))
}

/// Judges accesses to a register that began with nil, by their values; some of these are known to be `ambiguous`.
///
/// Values that are written once decide in time O(n log n), by the zones of [`order`]. What more than one access can
/// have written is left out, so that what is found always convicts, and nothing found acquits only if nothing was left
/// out.
pub fn contradictions(timed: &[TimedAccess], ambiguous: &HashSet<i64>) -> UniqueJudgement {
    let access = |(place, timed): (usize, &TimedAccess)| PlacedAccess {
        place: Some(place),
        action: timed.action,
        start: at(timed.sent),
        finish: timed.answered.map_or(NEVER, at),
    };
    let mut all = vec![PlacedAccess {
        place: None,
        action: Action::Begin,
        start: BEGINNING,
        finish: BEGINNING,
    }];
    all.extend(timed.iter().enumerate().map(access));
    let (all, left_out) = left_out(all, ambiguous);
    let (judged, causes) = judge(all, true);
    let mut contradictions = Vec::new();
    if !causes.is_empty() {
        let clusters = Clusters::new(&judged);
        contradictions.extend(causes.iter().map(|cause| involved(&clusters, cause)));
    }
    UniqueJudgement {
        contradictions,
        whole: left_out.is_empty(),
    }
}

/// An access that happened or may have.
#[derive(Debug, Clone, Copy)]
pub struct TimedAccess {
    /// What it did; [`Action::Begin`] is not among them.
    pub action: Action,
    /// The event that sent it.
    pub sent: usize,
    /// The event that answered it; `None` if its outcome is unknown.
    pub answered: Option<usize>,
}

/// A timed access with its place among those that are judged; [`Action::Begin`] has none.
#[derive(Debug, Clone, Copy)]
struct PlacedAccess {
    place: Option<usize>,
    action: Action,
    start: AccessMoment,
    finish: AccessMoment,
}

impl RegisterAccess for PlacedAccess {
    fn action(&self) -> Action {
        self.action
    }

    fn start(&self) -> AccessMoment {
        self.start
    }

    fn finish(&self) -> AccessMoment {
        self.finish
    }

    fn with_action(self, action: Action) -> Self {
        Self { action, ..self }
    }

    fn with_start(self, start: AccessMoment) -> Self {
        Self { start, ..self }
    }
}

/// What is known of some accesses.
#[derive(Debug)]
pub struct UniqueJudgement {
    /// For each contradiction the answered accesses that make it, by their places in what was judged, ascending.
    /// Without them there is none, and they need no others but the writes of what they found, and of what those found.
    pub contradictions: Vec<Vec<usize>>,
    /// Whether all was judged: no value may have been written twice.
    pub whole: bool,
}

/// The answered accesses of a contradiction.
fn involved(clusters: &Clusters<'_, PlacedAccess>, cause: &Cause) -> Vec<usize> {
    let accesses: Vec<usize> = match cause {
        Cause::Phantom { finder, .. } => vec![*finder],
        Cause::Forked(sets) => sets.to_vec(),
        Cause::Circular(circle) => circle
            .iter()
            .filter_map(|&cluster| clusters.all[cluster].writer)
            .collect(),
        Cause::Disordered(block, pair) => between(clusters, block, *pair),
        Cause::Crossed(pairs) => pairs
            .iter()
            .flat_map(|(block, pair)| between(clusters, block, *pair))
            .collect(),
    };
    let certain = |access: usize| match clusters.accesses[access].certain() {
        true => Some(access),
        false => clusters.proof(&[clusters.left_by(access)]).pop(),
    };
    let answered = accesses.into_iter().filter_map(certain);
    let mut places: Vec<usize> = answered.filter_map(|access| clusters.accesses[access].place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Two accesses of a block, with the links that lead from one to the other.
fn between(clusters: &Clusters<'_, PlacedAccess>, block: &Block, Pair { over, sent }: Pair) -> Vec<usize> {
    let (low, high) = (over.0.min(sent.0) / 2, over.0.max(sent.0) / 2);
    let linked = block.clusters[low..=high].iter().skip(1);
    let links = linked.filter_map(|&cluster| clusters.all[cluster].writer);
    [over.1, sent.1].into_iter().chain(links).collect()
}
