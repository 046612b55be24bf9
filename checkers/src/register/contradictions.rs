//! Contradictions between the accesses of a register: the events that prove each, and the words.

use super::accesses::Access;
use super::witness::{ContradictionWriter, show};
use crate::analysis::Analysis;
use zooquake_linearizability::unique::RegisterAccess as _;
use zooquake_linearizability::unique::causes::{Cause, judge};
use zooquake_linearizability::unique::clusters::Clusters;
use zooquake_linearizability::unique::order::{Block, Pair};

/// The property of what is found in the wrong order.
const PROPERTY: &str = "linearizability";

/// The property of values that are found without having been sent.
pub const MADE_UP: &str = "nothing is made up";

/// What contradicts every order.
#[derive(Debug)]
pub struct RegisterContradiction {
    /// The property: [`PROPERTY`] or that nothing is made up.
    pub property: &'static str,
    /// The events that prove it.
    pub witness: Vec<usize>,
    /// What happened, in words.
    pub why: String,
}

impl RegisterContradiction {
    /// The events that prove a cause, and the words.
    fn new(teller: &ContradictionWriter<'_, '_>, cause: &Cause) -> Self {
        let (witness, why) = match cause {
            Cause::Phantom { finder, writer } => phantom(teller, *finder, *writer),
            Cause::Forked(sets) => forked(teller, *sets),
            Cause::Circular(circle) => circular(teller, circle),
            Cause::Disordered(block, pair) => disordered(teller, block, *pair),
            Cause::Crossed([a, b]) => crossed(teller, (&a.0, a.1), (&b.0, b.1)),
        };
        Self {
            property: property(cause),
            witness,
            why,
        }
    }
}

/// The property that a cause contradicts.
pub fn property(cause: &Cause) -> &'static str {
    match cause {
        Cause::Phantom { .. } => MADE_UP,
        _ => PROPERTY,
    }
}

/// A contradiction of this property between all of these accesses that rests on events of the history; `None` if there
/// is none.
pub fn contradiction(run: &Analysis<'_>, accesses: Vec<Access<'_>>, wanted: &str) -> Option<RegisterContradiction> {
    let (judged, causes) = judge(accesses, true);
    let causes = causes.iter().filter(|cause| property(cause) == wanted);
    tell(run, &judged, causes)
        .into_iter()
        .find(|found| !found.witness.is_empty())
}

/// What the causes contradict, each by the events that prove it.
pub fn tell<'c>(
    run: &Analysis<'_>,
    judged: &[Access<'_>],
    causes: impl Iterator<Item = &'c Cause>,
) -> Vec<RegisterContradiction> {
    let clusters = Clusters::new(judged);
    let teller = ContradictionWriter {
        run,
        clusters: &clusters,
    };
    causes.map(|cause| RegisterContradiction::new(&teller, cause)).collect()
}

fn phantom(teller: &ContradictionWriter<'_, '_>, finder: usize, writer: Option<usize>) -> (Vec<usize>, String) {
    let accesses = teller.clusters.accesses;
    let mut witness = teller.happened(finder);
    let later = match writer {
        None => "No client ever wrote it, except in a request that certainly failed.".to_owned(),
        Some(writer) => {
            if accesses[finder].of_tree() {
                witness.extend(accesses[writer].invoke);
            }
            format!("{} was only sent later.", sentence(&teller.name(writer)))
        }
    };
    let ended = match accesses[finder].end {
        Some(end) => format!(", answered at {}, found a value", teller.run.at(end)),
        None => " found a value".to_owned(),
    };
    let name = sentence(&teller.name(finder));
    (
        witness,
        format!("{name}{ended} that no client had sent by then. {later}"),
    )
}

/// Two compare-and-sets that both took the same value away.
fn forked(teller: &ContradictionWriter<'_, '_>, [one, other]: [usize; 2]) -> (Vec<usize>, String) {
    let mut witness = teller.happened(one);
    witness.extend(teller.happened(other));
    let why = format!(
        "Both happened: {}, and {}. The value was there once only, and after the first of them it was gone.",
        teller.name(one),
        teller.name(other)
    );
    (witness, why)
}

/// Compare-and-sets each of which found what the one before left, all the way round.
fn circular(teller: &ContradictionWriter<'_, '_>, circle: &[usize]) -> (Vec<usize>, String) {
    let writers = circle.iter().filter_map(|&cluster| teller.clusters.all[cluster].writer);
    let sets: Vec<usize> = writers.collect();
    let mut witness: Vec<usize> = sets.iter().flat_map(|&set| teller.link(set)).collect();
    if !sets.iter().any(|&set| teller.clusters.accesses[set].certain()) {
        let links = teller.clusters.proof(circle);
        witness.extend(links.into_iter().flat_map(|access| teller.link(access)));
    }
    let names: Vec<String> = sets.iter().map(|&set| teller.name(set)).collect();
    let why = match names.as_slice() {
        [alone] => format!("It happened, though nothing but itself left what it found: {alone}."),
        all => format!(
            "All of these happened, and each found what another of them left, so none can have been the first: {}.",
            all.join("; ")
        ),
    };
    (witness, why)
}

/// Accesses of one block against their places.
fn disordered(teller: &ContradictionWriter<'_, '_>, block: &Block, pair: Pair) -> (Vec<usize>, String) {
    let accesses = teller.clusters.accesses;
    let value = |place: usize| teller.clusters.all[block.clusters[place / 2]].value;
    let (over, sent) = (value(pair.over.0), value(pair.sent.0));
    let why = format!(
        "{}. Yet {} was there before {}, to which compare-and-sets led from it, and was gone since: each value is written \
         once.",
        sentence(&teller.before(pair.over.1, pair.sent.1)),
        show(sent),
        show(over),
    );
    (teller.pair(block, pair, accesses[pair.over.1].finish), why)
}

/// Two blocks that must each come before the other.
fn crossed(
    teller: &ContradictionWriter<'_, '_>,
    (a, of_a): (&Block, Pair),
    (b, of_b): (&Block, Pair),
) -> (Vec<usize>, String) {
    let accesses = teller.clusters.accesses;
    let mut witness = teller.pair(a, of_a, accesses[of_b.over.1].finish);
    witness.extend(teller.pair(b, of_b, accesses[of_a.over.1].finish));
    let links = |block: &Block, pair: Pair| {
        let (low, high) = (pair.over.0.min(pair.sent.0) / 2, pair.over.0.max(pair.sent.0) / 2);
        let values: Vec<String> = block.clusters[low..=high]
            .iter()
            .map(|&cluster| show(teller.clusters.all[cluster].value))
            .collect();
        match values.as_slice() {
            [value] => value.clone(),
            all => format!("what compare-and-sets made of it without a gap ({})", all.join(", ")),
        }
    };
    let (in_a, in_b) = (links(a, of_a), links(b, of_b));
    let why = format!(
        "{}; so {in_a} was there before {in_b}. But {}; so {in_b} was there before {in_a}. Each value is written once, so \
         neither can have come back.",
        sentence(&teller.before(of_a.over.1, of_b.sent.1)),
        teller.before(of_b.over.1, of_a.sent.1),
    );
    (witness, why)
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
