//! Sets: `add` of an element, and `read`, answered with all of them. A history is decided in time O(n log n), n being
//! the number of operations and of elements in all reads together.
//!
//! Nothing is ever taken out, so what reads found determines their order: each is a subset of the next. An order exists
//! exactly if no two reads lack an element of each other, and of no two operations that this order arranges the later
//! one was over before the earlier one was sent (a case of Lee and Mathur, "Efficient decision procedures for
//! linearizability", arXiv 2410.04581). An add of unknown outcome took effect exactly if its element was read. An
//! element may be added more than once.

use crate::call::{CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{
    Completion, DrawnValues, GeneratedClients, GeneratedLoad, Options, SimulatedObject, Simulation, Values, one_client,
    simulate,
};
use crate::judgement::{StateNames, decide};
use crate::model::{
    BrokenClaim, Contradiction, Model, NearLinearDecision, Op, any_optional, contradiction, earliest, unordered,
};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

const MADE_UP: BrokenClaim = BrokenClaim {
    kind: "phantom-element",
    property: "nothing is made up",
    says: "an element was read that nothing had added",
};
const LOST: BrokenClaim = BrokenClaim {
    kind: "lost-element",
    property: "nothing is lost",
    says: "a read lacks an element that had been added, and is not older than that",
};
const APART: BrokenClaim = BrokenClaim {
    kind: "not-linearizable",
    property: "linearizability",
    says: "two reads contradict each other",
};
const UNORDERED: BrokenClaim = unordered("no order of the set's operations fits");

/// Sets that are empty at the beginning.
pub static SETS: ModelEntry = ModelEntry {
    names: &["set"],
    summary: "add, and read, answered with all elements",
    operations: &["add", "read"],
    size: ModelSize::Fixed,
    begins: Some("a set is empty at first"),
    fits: |operations| {
        let sets = || operations.reads(|value| !value.is_nil() && value.elements().is_some());
        // What is read as a number is a counter.
        let numbers = || operations.reads(|value| value.as_i64().is_some());
        ModelFit::shown_if(operations.any(&["add"]) && sets() && !numbers())
    },
    simulations: &[Simulation {
        name: "set",
        clients: one_client,
        loads: &[GeneratedLoad::new(10_000, 10, 0.01, Values::Unique)],
        run: |options, _| simulate(options, SetObject::new(options)),
    }],
    judge: |model, calls, conventions, _, inquiry| {
        let (mut reading, mut values) = (Reading::new(), ValueNumbers::default());
        for &call in calls {
            let (f, at) = (call.f, call.invoke);
            let mut number = |value: &Value| values.number(value, || format!("an element of the {f} of event {at}"));
            match f {
                "add" => {
                    reading.add(call, SetOp::Add(number(&call.asked)?));
                }
                "read" if call.outcome != CallOutcome::Ok => {}
                "read" if call.answered.is_nil() && conventions.nil_is_unknown => {}
                "read" => {
                    let Some(elements) = call.answered.elements() else {
                        return Err(InputError::Unexpected {
                            what: format!("the read of event {at} was answered with no set"),
                            found: call.answered.clone(),
                        });
                    };
                    let mut found: Vec<u32> = elements.iter().map(&mut number).collect::<Result<_, _>>()?;
                    found.sort_unstable();
                    found.dedup();
                    reading.add(call, SetOp::Read(found.into()));
                }
                _ => return Err(model.unable(call)),
            }
        }
        let words = |set: &Rc<[u64]>, names: &StateNames<'_, '_>| {
            let bits = (0..64 * set.len() as u32).filter(|bit| set[*bit as usize / 64] >> (bit % 64) & 1 == 1);
            let elements: Vec<&Value> = bits.map(|bit| values.value(bit)).collect();
            names.list(elements.into_iter())
        };
        Ok(decide(UNORDERED, &GrowSet, reading, &words, inquiry))
    },
};

/// The set, empty at the beginning. Its state has a bit for each element.
#[derive(Debug, Clone, Copy)]
pub struct GrowSet;

/// An operation on the set, with its answer. Elements are numbers from 0 on, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// This is in it.
    Add(u32),
    /// It was read, and held exactly these, ascending.
    Read(Box<[u32]>),
}

impl Model for GrowSet {
    type State = Rc<[u64]>;
    type Input = SetOp;

    fn initial(&self) -> Rc<[u64]> {
        Rc::default()
    }

    fn step(&self, set: &Rc<[u64]>, input: &SetOp) -> Option<Rc<[u64]>> {
        match input {
            SetOp::Add(element) => {
                let (word, bit) = (*element as usize / 64, 1 << (element % 64));
                if set.get(word).is_some_and(|word| word & bit != 0) {
                    return Some(Rc::clone(set));
                }
                let mut set = set.to_vec();
                set.resize(set.len().max(word + 1), 0);
                set[word] |= bit;
                Some(set.into())
            }
            SetOp::Read(found) => (*bits(found) == **set).then(|| Rc::clone(set)),
        }
    }

    fn is_read(&self, input: &SetOp) -> bool {
        matches!(input, SetOp::Read(_))
    }

    fn after(&self, input: &SetOp) -> Option<Rc<[u64]>> {
        match input {
            SetOp::Add(_) => None,
            SetOp::Read(found) => Some(bits(found).into()),
        }
    }

    fn heap(&self, set: &Rc<[u64]>) -> usize {
        size_of_val(&**set)
    }

    fn near(&self, ops: &[Op<SetOp>]) -> NearLinearDecision {
        let adds = ElementAdditions::new(ops);
        let mut reads: Vec<(&[u32], usize)> = Vec::new();
        for (place, op) in ops.iter().enumerate() {
            if let (SetOp::Read(found), true) = (&op.input, op.must()) {
                reads.push((found, place));
            }
        }
        let alone = reads.iter().filter_map(|&(found, place)| adds.judge(ops, found, place));
        let together = apart(ops, &mut reads.clone());
        let fits = if any_optional(ops) {
            NearLinearDecision::Undecided
        } else {
            NearLinearDecision::Linearizable
        };
        earliest(ops, alone.chain(together)).map_or(fits, NearLinearDecision::Not)
    }
}

/// The set's state after a read, without empty words at its end.
fn bits(found: &[u32]) -> Vec<u64> {
    let mut bits = vec![0; found.last().map_or(0, |&last| last as usize / 64 + 1)];
    for element in found {
        bits[*element as usize / 64] |= 1 << (element % 64);
    }
    bits
}

/// When elements were added.
struct ElementAdditions {
    /// For each element from when on it may be in the set.
    sent: HashMap<u32, usize>,
    /// By their ends the first add of each element that certainly took effect.
    certain: Vec<(usize, u32, usize)>,
}

impl ElementAdditions {
    fn new(ops: &[Op<SetOp>]) -> Self {
        let mut sent: HashMap<u32, usize> = HashMap::new();
        let mut certain: HashMap<u32, (usize, usize)> = HashMap::new();
        for (place, op) in ops.iter().enumerate() {
            let SetOp::Add(element) = op.input else { continue };
            let first = sent.entry(element).or_insert(op.invoke);
            *first = op.invoke.min(*first);
            if let Some(end) = op.complete.filter(|_| op.required) {
                let first = certain.entry(element).or_insert((end, place));
                *first = (end, place).min(*first);
            }
        }
        let certain = certain.into_iter().map(|(element, (end, place))| (end, element, place));
        let mut certain: Vec<_> = certain.collect();
        certain.sort_unstable();
        Self { sent, certain }
    }

    /// What is wrong with a read: an element that it has, or one that it lacks.
    fn judge(&self, ops: &[Op<SetOp>], found: &[u32], place: usize) -> Option<Contradiction> {
        let read = &ops[place];
        // It was done after everything was sent whose element it has.
        let mut after = read.invoke;
        for element in found {
            match self.sent.get(element) {
                Some(&sent) if Some(sent) < read.complete => after = after.max(sent),
                _ => return Some(contradiction(ops, vec![place], &MADE_UP)),
            }
        }
        let mut before = self.certain.iter().take_while(|(end, _, _)| *end < after);
        let (_, _, add) = before.find(|(_, element, _)| found.binary_search(element).is_err())?;
        Some(contradiction(ops, vec![*add, place], &LOST))
    }
}

/// Two reads that no order arranges: either has an element that the other lacks, or the larger one was over before the
/// smaller one was sent.
fn apart(ops: &[Op<SetOp>], reads: &mut [(&[u32], usize)]) -> Option<Contradiction> {
    reads.sort_unstable_by_key(|(found, place)| (found.len(), ops[*place].complete));
    // Of the smaller reads the one that was sent last; of those as large as the current one likewise.
    let (mut smaller, mut same): (Option<usize>, Option<usize>) = (None, None);
    let mut before: Option<&[u32]> = None;
    let later =
        |one: Option<usize>, other: Option<usize>| one.into_iter().chain(other).max_by_key(|&op| ops[op].invoke);
    let mut last = 0;
    for &(found, place) in reads.iter() {
        if before.is_some_and(|before| !within(before, found)) {
            return Some(contradiction(ops, vec![last, place], &APART));
        }
        if before.is_some_and(|before| before.len() < found.len()) {
            (smaller, same) = (later(smaller, same), None);
        }
        if let Some(smaller) = smaller.filter(|&smaller| Some(ops[smaller].invoke) > ops[place].complete) {
            return Some(contradiction(ops, vec![smaller, place], &APART));
        }
        (before, last, same) = (Some(found), place, later(same, Some(place)));
    }
    None
}

/// Whether one ascending list is within another.
fn within(small: &[u32], large: &[u32]) -> bool {
    let mut large = large.iter();
    small.iter().all(|element| large.any(|other| other == element))
}

/// Of so many operations on a simulated set one is a read: each is answered with all elements.
const READS: u8 = 32;

/// An operation on a simulated set, as a client invokes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SetCall {
    /// This element is added.
    Add(u64),
    /// All is read.
    Read,
}

/// A simulated set, empty at first.
#[derive(Debug)]
struct SetObject {
    elements: BTreeSet<u64>,
    values: DrawnValues,
}

impl SetObject {
    /// An empty one.
    fn new(options: &Options) -> Self {
        Self {
            elements: BTreeSet::new(),
            values: DrawnValues::new(options.values),
        }
    }
}

impl SimulatedObject for SetObject {
    type Op = SetCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> SetCall {
        match rng.u8(0..READS) {
            0 => SetCall::Read,
            _ => SetCall::Add(self.values.draw(rng)),
        }
    }

    fn request(op: &SetCall) -> (&'static str, Value) {
        match *op {
            SetCall::Add(what) => ("add", Value::from(what)),
            SetCall::Read => ("read", Value::Nil),
        }
    }

    fn apply(&mut self, _: usize, op: &SetCall) -> Option<Completion> {
        Some(Completion::Ok(match *op {
            SetCall::Add(element) => {
                self.elements.insert(element);
                Value::from(element)
            }
            SetCall::Read => self.elements.iter().map(|&element| Value::from(element)).collect(),
        }))
    }

    fn may_be_late(&self, op: &SetCall) -> bool {
        *op != SetCall::Read
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        let element = clients.object.values.unique();
        let without = Completion::Ok(
            clients
                .object
                .elements
                .iter()
                .map(|&element| Value::from(element))
                .collect(),
        );
        clients.at_once(client, &SetCall::Add(element), &Completion::Ok(Value::from(element)));
        clients.at_once(client, &SetCall::Read, &without);
        clients.object.elements.insert(element);
        true
    }
}
