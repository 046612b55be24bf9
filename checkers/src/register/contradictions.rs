//! Contradictions between the accesses of a register: the events that prove each, as few as possible, and the words.
//!
//! A witness is made of the nearest events that prove a contradiction. Some of them may prove part of it twice: that
//! nil was first needs no event, the readings of the znode tree are none. So events are left out, one after the other,
//! as long as what is left is still contradicted ([`minimal`]).

use super::PATH;
use super::accesses::{Access, AccessMoment, Accesses, Action, BEGINNING, RegisterValue};
use crate::analysis::Analysis;
use std::collections::{HashMap, HashSet};
use zooquake_history::evidence::Reading;
use zooquake_history::{Event, EventType, History, Process, Record, TreeReadings};
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
fn contradiction(run: &Analysis<'_>, accesses: Vec<Access<'_>>, wanted: &str) -> Option<RegisterContradiction> {
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

/// Tells of contradictions between accesses.
#[derive(Debug, Clone, Copy)]
struct ContradictionWriter<'r, 'a> {
    run: &'r Analysis<'a>,
    /// Its accesses, by value.
    clusters: &'r Clusters<'r, Access<'a>>,
}

impl ContradictionWriter<'_, '_> {
    /// The events that prove that an access was over, and what it did.
    fn over(&self, access: usize) -> Vec<usize> {
        let Access {
            end, invoke, repeats, ..
        } = self.clusters.accesses[access];
        let asked = invoke.filter(|_| end.is_some() && !repeats);
        end.into_iter().chain(asked).collect()
    }

    /// The events that prove what an access did that is known to have happened, whenever.
    fn link(&self, access: usize) -> Vec<usize> {
        match self.clusters.accesses[access].certain() {
            true => self.over(access),
            false => self.clusters.accesses[access].invoke.into_iter().collect(),
        }
    }

    /// The events that prove that an access happened.
    fn happened(&self, access: usize) -> Vec<usize> {
        let mut events = self.link(access);
        if !self.clusters.accesses[access].certain() {
            let proof = self.clusters.proof(&[self.clusters.left_by(access)]);
            events.extend(proof.into_iter().flat_map(|access| self.link(access)));
        }
        events
    }

    /// The events that prove that an access happened, and not before it was sent; `proved` if others prove the former.
    fn sent(&self, access: usize, proved: bool) -> Vec<usize> {
        let Access {
            action,
            invoke,
            own,
            asks,
            ..
        } = self.clusters.accesses[access];
        let mut events: Vec<usize> = invoke.into_iter().collect();
        events.extend(own.into_iter().flat_map(|(sent, acknowledged)| [sent, acknowledged]));
        if matches!(action, Action::Read(_)) || !asks || !proved {
            events.extend(self.happened(access));
        }
        events
    }

    /// The events that prove a pair of a block, `sent` not before `first`.
    fn pair(&self, block: &Block, Pair { over, sent }: Pair, first: AccessMoment) -> Vec<usize> {
        let mut events = self.over(over.1);
        if over == sent {
            if first > BEGINNING {
                events.extend(self.sent(sent.1, true));
            }
            return events;
        }
        // What is found later in the block proves the writes before.
        events.extend(self.sent(sent.1, over.0 > sent.0));
        let (low, high) = (over.0.min(sent.0) / 2, over.0.max(sent.0) / 2);
        let links = block.clusters[low..=high].iter().skip(1);
        events.extend(
            links
                .flat_map(|&cluster| self.clusters.all[cluster].writer.map(|set| self.link(set)))
                .flatten(),
        );
        events
    }

    /// An access: `the write of 3 by c2`.
    fn name(&self, access: usize) -> String {
        let Access {
            node, action, server, ..
        } = self.clusters.accesses[access];
        let of = match server {
            Some(server) => format!("by {node} through {server}"),
            None => format!("by {node}"),
        };
        match action {
            Action::Begin => "the creation of the register".to_owned(),
            Action::Read(value) if node.is_empty() => {
                format!("the reading of the znode tree that found {}", show(value))
            }
            Action::Read(value) => format!("the read of {} {of}", show(value)),
            Action::Write(to) => format!("the write of {to} {of}"),
            Action::Cas { from, to } => format!("the compare-and-set from {} to {to} {of}", show(from)),
        }
    }

    /// That one access was over when another was sent.
    fn before(&self, over: usize, sent: usize) -> String {
        let Access { own, node, .. } = self.clusters.accesses[sent];
        let (one, other) = (self.name(over), self.name(sent));
        if self.clusters.accesses[over].action == Action::Begin {
            return format!("nil was there at first, before {other}");
        }
        let ended = match self.clusters.accesses[over].end {
            Some(end) => format!("{one} was answered at {}", self.run.at(end)),
            None if self.clusters.accesses[over].of_tree() => format!("{one} was done"),
            None => one,
        };
        match (own, self.clusters.accesses[sent].invoke) {
            (Some((write, _)), _) => format!(
                "{ended}, before the last write was sent at {} that the session of {other} had had acknowledged by then, \
                 since which {node} can have been shown any state but none from before",
                self.run.at(write)
            ),
            (None, Some(invoke)) => format!("{ended}, before {other} was sent at {}", self.run.at(invoke)),
            (None, None) => format!("{ended}, before {other} was begun"),
        }
    }
}

/// A value as people write it.
pub fn show(value: RegisterValue) -> String {
    value.map_or("nil".to_owned(), |value| value.to_string())
}

/// The longest witness that is tried; each event of it takes another check of all others.
const LONGEST: usize = 200;

/// The processes whose requests and answers do not all pair, and an event of each that fits none.
type UnpairedProcesses<'a> = HashMap<&'a Process, usize>;

/// What a history is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    pub run: &'a Analysis<'a>,
    /// Whether the readings of its znode tree count.
    pub tree: bool,
    /// Whether reads are promised to be linearizable.
    pub promised: bool,
    /// Values that are not judged.
    pub ambiguous: &'a HashSet<i64>,
}

/// The contradiction without the events that can be left out. A witness longer than [`LONGEST`] is not reduced, and its
/// `why` states that.
pub fn minimal(terms: Terms<'_>, mut contradiction: RegisterContradiction) -> RegisterContradiction {
    let mut keep = contradiction.witness.clone();
    keep.sort_unstable();
    keep.dedup();
    if keep.len() > LONGEST {
        contradiction.why += " Whether each event of this long witness is needed was not tried.";
        return contradiction;
    }
    let property = contradiction.property;
    let misfits = terms.run.ops.misfits.iter();
    let unpaired: UnpairedProcesses<'_> = misfits.map(|&(at, _)| (&terms.run.events[at].process, at)).collect();
    let find = |keep: &[usize]| find(terms, &unpaired, keep, property);
    for event in keep.clone() {
        let less: Vec<usize> = keep.iter().copied().filter(|&other| other != event).collect();
        if find(&less).is_some() {
            keep = less;
        }
    }
    match find(&keep) {
        Some(mut least) => {
            least.witness.iter_mut().for_each(|event| *event = keep[*event]);
            if property == MADE_UP {
                // All events together show that nobody had written a value by then; those of the witness alone do not.
                least.why = contradiction.why;
            }
            least
        }
        None => contradiction,
    }
}

fn find(
    terms: Terms<'_>,
    unpaired: &UnpairedProcesses<'_>,
    keep: &[usize],
    property: &str,
) -> Option<RegisterContradiction> {
    let record = only(terms, unpaired, keep);
    let run = Analysis::new(&record);
    let accesses = Accesses::new(&run, terms.promised, terms.ambiguous);
    let all = [accesses.all.as_slice(), &accesses.of_tree(&run, PATH).0].concat();
    contradiction(&run, all, property)
}

/// A record of some events of a run, in the same order, and of its readings of the register if the tree counts. Of the
/// processes that are `unpaired` not all requests and answers pair.
fn only(Terms { run, tree, .. }: Terms<'_>, unpaired: &UnpairedProcesses<'_>, keep: &[usize]) -> Record {
    let event = |(index, &at): (usize, &usize)| Event {
        index,
        process: process(run, unpaired, at),
        ..run.events[at].clone()
    };
    let place = |index: usize| keep.partition_point(|&at| at < index);
    let reading = |reading: &Reading| Reading {
        index: place(reading.index),
        end_index: place(reading.end_index),
        znodes: reading
            .znodes
            .iter()
            .filter(|znode| znode.path == PATH)
            .cloned()
            .collect(),
    };
    let readings = run.record.readings.filter(|_| tree);
    Record {
        history: History {
            events: keep.iter().enumerate().map(event).collect(),
        },
        tree: readings.map(|readings| TreeReadings {
            readings: readings.iter().map(reading).collect(),
        }),
        ..Record::default()
    }
}

/// The process of an event: of a work operation one of its own, so that an answer pairs although the requests around it
/// are left out. One whose requests and answers do not all pair decides which of its answers are disputed, and stays.
/// All are numbered anew, the former odd and the latter even, so that none has another's number.
fn process(run: &Analysis<'_>, unpaired: &UnpairedProcesses<'_>, at: usize) -> Process {
    let event = &run.events[at];
    if let Process::Name(_) = event.process {
        return event.process.clone();
    }
    let number = match (unpaired.get(&event.process), event.kind) {
        (Some(misfit), _) => misfit * 2,
        (None, EventType::Invoke) => at * 2 + 1,
        (None, _) => {
            let asked = run.ops.completes[at].and_then(|op| run.ops.work.get(op)?.invoke);
            asked.map_or(at * 2, |asked| asked * 2 + 1)
        }
    };
    Process::Number(number as u64)
}
