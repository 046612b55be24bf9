//! `not-linearizable`: no order of the register's accesses fits.
//!
//! An order fits if every read and every compare-and-set finds what was written last before it, and if whatever was
//! answered before something else was sent comes before that too. Each value is written once, so there is none exactly
//! if a value was found that nobody had sent (`phantom`), two compare-and-sets took the same value away, they lead round in a
//! circle, or real time contradicts the places that accesses have by what they found ([`super::order`]).
//!
//! The readings of the znode tree at the end are reads too. They are asked only if
//! nothing in the history itself is in the wrong order.

use super::accesses::{Access, Accesses, Action, UNKNOWN};
use super::clusters::Clusters;
use super::least::{self, Terms};
use super::opinion;
use super::order::{self, Block};
use super::witness::{Teller, show};
use crate::findings::{Findings, Found};
use crate::run::Run;

/// The property of what is found in the wrong order, or of values that are found without having been sent.
pub const PROPERTY: &str = "linearizability";
const MADE_UP: &str = "nothing is made up";

/// How many anomalies are told; of more than these only the number.
const TOLD: usize = 10;

/// What contradicts every order.
#[derive(Debug)]
pub struct Contradiction {
    /// The property: [`PROPERTY`] or that nothing is made up.
    pub property: &'static str,
    /// The events that prove it.
    pub witness: Vec<usize>,
    /// What happened, in words.
    pub why: String,
}

/// Looks for accesses that no order fits.
pub fn check(run: &Run<'_>, accesses: &Accesses<'_>, tree: &[Access<'_>], promised: bool, out: &mut Findings) {
    // What cannot be read may have written any value.
    let whole = accesses.unreadable == 0;
    let mut found = contradictions(run, accesses.all.clone(), whole);
    let mut looked_at = accesses.all.len() - 1;
    let by_tree = found.iter().all(|found| found.property == MADE_UP) && !tree.is_empty();
    let mut judged = accesses.all.clone();
    if by_tree {
        looked_at += tree.len();
        judged.extend(tree);
        found = contradictions(run, judged.clone(), whole);
    }
    if whole {
        opinion::check(&judged, found.is_empty(), out);
    }
    let more = found.len().saturating_sub(TOLD);
    let terms = Terms {
        record: run.record,
        tree: by_tree,
        promised,
        ambiguous: &accesses.ambiguous,
    };
    for contradiction in found.into_iter().take(TOLD) {
        let Contradiction { property, witness, why } = least::told(terms, contradiction);
        let kind = "not-linearizable";
        if witness.is_empty() {
            // Of the tree alone: then the history does not tell what happened.
            out.reasons.push(format!("evidence disagrees: {why}"));
            continue;
        }
        let found = Found {
            kind,
            property,
            advisory: false,
            witness,
            why,
        };
        out.add(run, found);
    }
    if more > 0 {
        out.reasons.push(format!(
            "note: {more} more contradictions between the register's accesses are not told"
        ));
    }
    out.ran("not-linearizable", looked_at);
}

/// All that contradicts an order of these accesses, which are all there were or not (`whole`); empty exactly if one fits.
pub fn contradictions(run: &Run<'_>, mut accesses: Vec<Access<'_>>, whole: bool) -> Vec<Contradiction> {
    let (mut found, early) = phantoms(run, &accesses, whole);
    for writer in early {
        // What was found before it was sent is told already.
        accesses[writer].start = UNKNOWN;
    }
    let clusters = Clusters::new(&accesses);
    let teller = Teller {
        run,
        clusters: &clusters,
    };
    found.extend(clusters.all.iter().filter_map(|cluster| forked(&teller, &cluster.next)));
    let blocks = clusters.blocks();
    found.extend(blocks.circles.iter().map(|circle| circular(&teller, circle)));
    let blocks: Vec<Block> = blocks
        .all
        .into_iter()
        .map(|block| Block::new(block, &clusters))
        .collect();
    // What stands apart only because of what is told already contradicts nothing else for sure.
    let torn = |block: &Block| {
        let writer = block.clusters.first().and_then(|&first| clusters.all[first].writer);
        writer.is_some_and(|writer| matches!(accesses[writer].action, Action::Cas { .. }))
    };
    let mut told: Vec<bool> = blocks.iter().map(torn).collect();
    for (at, block) in blocks.iter().enumerate() {
        if let Some(pair) = block.disorder(&accesses) {
            told[at] = true;
            let witness = teller.pair(block, pair, accesses[pair.over.1].finish);
            found.push(disordered(&teller, block, pair, witness));
        }
    }
    for (a, b) in order::contradictions(&blocks) {
        // One for each that is independent of the others.
        if told[a] || told[b] {
            continue;
        }
        told[a] = true;
        told[b] = true;
        found.extend(crossed(&teller, &blocks[a], &blocks[b]));
    }
    found
}

/// Values that were found before anybody had sent them, and those of their writes that were sent later.
fn phantoms(run: &Run<'_>, accesses: &[Access<'_>], whole: bool) -> (Vec<Contradiction>, Vec<usize>) {
    let clusters = Clusters::new(accesses);
    let teller = Teller {
        run,
        clusters: &clusters,
    };
    let (mut found, mut early) = (Vec::new(), Vec::new());
    for cluster in &clusters.all {
        let finders = cluster.reads.iter().chain(&cluster.next).copied();
        // Where nobody ever sent it, the tree proves less than the history.
        let weak = |finder: usize| cluster.writer.is_none() && accesses[finder].of_tree();
        let Some(finder) = finders.min_by_key(|&finder| (weak(finder), accesses[finder].finish)) else {
            continue;
        };
        let mut witness = teller.happened(finder);
        let later = match cluster.writer {
            None if !whole => continue,
            None => "Nobody ever wrote it, unless in a request that certainly failed.".to_owned(),
            Some(writer) if accesses[writer].start > accesses[finder].finish => {
                early.push(writer);
                if accesses[finder].of_tree() {
                    witness.extend(accesses[writer].invoke);
                }
                format!("{} was only sent later.", sentence(&teller.name(writer)))
            }
            Some(_) => continue,
        };
        let ended = match accesses[finder].end {
            Some(end) => format!(", answered at {}, found a value", run.at(end)),
            None => " found a value".to_owned(),
        };
        found.push(Contradiction {
            property: MADE_UP,
            witness,
            why: format!(
                "{}{ended} that nobody had sent by then. {later}",
                sentence(&teller.name(finder))
            ),
        });
    }
    (found, early)
}

/// Two compare-and-sets that both took the same value away.
fn forked(teller: &Teller<'_, '_>, next: &[usize]) -> Option<Contradiction> {
    let &[one, other, ..] = next else { return None };
    let mut witness = teller.happened(one);
    witness.extend(teller.happened(other));
    let why = format!(
        "Both happened: {}, and {}. The value was written once, and after the first of them it was gone.",
        teller.name(one),
        teller.name(other)
    );
    Some(Contradiction {
        property: PROPERTY,
        witness,
        why,
    })
}

/// Compare-and-sets each of which found what the one before left, all the way round.
fn circular(teller: &Teller<'_, '_>, circle: &[usize]) -> Contradiction {
    let sets: Vec<usize> = circle
        .iter()
        .filter_map(|&cluster| teller.clusters.all[cluster].writer)
        .collect();
    let mut witness: Vec<usize> = sets.iter().flat_map(|&set| teller.link(set)).collect();
    if !sets.iter().any(|&set| teller.clusters.accesses[set].certain()) {
        let proofs = circle.iter().map(|&cluster| teller.clusters.proof(cluster));
        let shortest = proofs.filter(|proof| !proof.is_empty()).min_by_key(Vec::len);
        let links = shortest.unwrap_or_default();
        witness.extend(links.into_iter().flat_map(|access| teller.link(access)));
    }
    let names: Vec<String> = sets.iter().map(|&set| teller.name(set)).collect();
    let why = format!(
        "All of these happened, and each found what another of them left, so none can have been the first: {}.",
        names.join("; ")
    );
    Contradiction {
        property: PROPERTY,
        witness,
        why,
    }
}

/// Accesses of one block against their places.
fn disordered(teller: &Teller<'_, '_>, block: &Block, pair: order::Pair, witness: Vec<usize>) -> Contradiction {
    let value = |place: usize| teller.clusters.all[block.clusters[place / 2]].value;
    let (over, sent) = (value(pair.over.0), value(pair.sent.0));
    let why = format!(
        "{}. Yet {} was there before {}, to which compare-and-sets led from it, and was gone since: each value is written \
         once.",
        sentence(&teller.before(pair.over.1, pair.sent.1)),
        show(sent),
        show(over),
    );
    Contradiction {
        property: PROPERTY,
        witness,
        why,
    }
}

/// Two blocks that must each come before the other.
fn crossed(teller: &Teller<'_, '_>, a: &Block, b: &Block) -> Option<Contradiction> {
    let accesses = teller.clusters.accesses;
    let of_a = a.around(accesses, b.first, b.last)?;
    let (over, sent) = (&accesses[of_a.over.1], &accesses[of_a.sent.1]);
    let of_b = b.around(accesses, over.finish, sent.start)?;
    let mut witness = teller.pair(a, of_a, accesses[of_b.over.1].finish);
    witness.extend(teller.pair(b, of_b, over.finish));
    let links = |block: &Block, pair: order::Pair| {
        let (low, high) = (pair.over.0.min(pair.sent.0) / 2, pair.over.0.max(pair.sent.0) / 2);
        let values = block.clusters[low..=high].iter();
        let values: Vec<String> = values
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
    Some(Contradiction {
        property: PROPERTY,
        witness,
        why,
    })
}

/// With a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
