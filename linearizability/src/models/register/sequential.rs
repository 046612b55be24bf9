//! A register with compare-and-set. Values need not be unique.

use crate::model::{Contradiction, Model, NearLinearDecision, Op, UnknownStart, Witness, narrowed};
use crate::models::register::operation::{FirstValue, RegisterOp, relevant};
use crate::models::register::sweep::{sweep, take_turns};
use crate::models::register::zones;
use crate::search::{Budget, SearchDecision, search};
use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::rc::Rc;

/// A register that is read, written, and compared and set.
#[derive(Debug, Clone)]
pub struct Register<V> {
    /// Its value at the beginning.
    pub initial: V,
}

impl<V: Clone + Eq + Hash> Register<V> {
    /// Decides a history by configurations alone, whatever order its values show; `None` if too much is in flight
    /// together. In the `relaxed` form each operation of unknown outcome may be done any number of times, and
    /// `Linearizable` proves nothing.
    pub fn sweep(&self, ops: &[Op<RegisterOp<V>>], relaxed: bool, budget: &mut Budget<'_>) -> Option<SearchDecision> {
        sweep(ops, &self.first(), relaxed, budget)
    }

    fn first(&self) -> FirstValue<'_, V> {
        FirstValue::With(&self.initial)
    }
}

impl<V: Clone + Eq + Hash> Model for Register<V> {
    type State = V;
    type Input = RegisterOp<V>;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, input: &RegisterOp<V>) -> Option<V> {
        match input {
            RegisterOp::Read(value) => (state == value).then(|| state.clone()),
            RegisterOp::Write(value) => Some(value.clone()),
            RegisterOp::Cas(from, to) => (state == from).then(|| to.clone()),
            RegisterOp::Mismatch(from) => (state != from).then(|| state.clone()),
        }
    }

    fn is_read(&self, input: &RegisterOp<V>) -> bool {
        matches!(input, RegisterOp::Read(_) | RegisterOp::Mismatch(_))
    }

    fn after(&self, input: &RegisterOp<V>) -> Option<V> {
        input.left().cloned()
    }

    fn contradiction(&self, ops: &[Op<RegisterOp<V>>]) -> Option<Contradiction> {
        unexplained(ops, &self.first())
    }

    fn near(&self, ops: &[Op<RegisterOp<V>>]) -> NearLinearDecision {
        zones::judge(ops, &self.first())
    }

    fn relevant(&self, ops: &[Op<RegisterOp<V>>]) -> Option<Vec<usize>> {
        relevant(ops, &self.first())
    }

    fn explore(&self, ops: &[Op<RegisterOp<V>>], budget: &mut Budget<'_>) -> SearchDecision {
        take_turns(ops, &self.first(), |budget| search(self, ops, budget), budget)
    }

    fn decide_anywhere(&self, ops: &[Op<RegisterOp<V>>], budget: &mut Budget<'_>) -> SearchDecision {
        anywhere(self, ops, budget)
    }
}

/// Decides a history that began with whatever value.
fn anywhere<V: Clone + Eq + Hash>(
    model: &impl Model<Input = RegisterOp<V>>,
    ops: &[Op<RegisterOp<V>>],
    budget: &mut Budget<'_>,
) -> SearchDecision {
    let first = FirstValue::Unknown;
    narrowed(ops, relevant(ops, &first), |ops| {
        take_turns(ops, &first, |budget| search(&UnknownStart(model), ops, budget), budget)
    })
}

/// The same register with an unknown initial value.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnsetRegister<V>(PhantomData<V>);

/// What is known of the value of a register that began with an unknown one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Content<V> {
    /// It is the one with which it began, and none of these, ascending.
    First(Rc<[V]>),
    /// It is this one.
    Value(V),
}

impl<V: Eq + Hash> UnsetRegister<V> {
    /// The same as [`Register::sweep`].
    pub fn sweep(&self, ops: &[Op<RegisterOp<V>>], relaxed: bool, budget: &mut Budget<'_>) -> Option<SearchDecision> {
        sweep(ops, &FirstValue::Unknown, relaxed, budget)
    }
}

impl<V: Clone + Eq + Hash + Ord> Model for UnsetRegister<V> {
    type State = Content<V>;
    type Input = RegisterOp<V>;

    fn initial(&self) -> Content<V> {
        Content::First(Rc::default())
    }

    fn step(&self, state: &Content<V>, input: &RegisterOp<V>) -> Option<Content<V>> {
        let none = match state {
            Content::Value(value) => {
                let known = Register { initial: value.clone() };
                return known.step(value, input).map(Content::Value);
            }
            Content::First(none) => none,
        };
        let may_be = |value: &V| none.binary_search(value).is_err();
        match input {
            RegisterOp::Read(value) => may_be(value).then(|| Content::Value(value.clone())),
            RegisterOp::Write(value) => Some(Content::Value(value.clone())),
            RegisterOp::Cas(from, to) => may_be(from).then(|| Content::Value(to.clone())),
            RegisterOp::Mismatch(value) if !may_be(value) => Some(state.clone()),
            RegisterOp::Mismatch(value) => {
                let (less, more) = none.split_at(none.partition_point(|other| other < value));
                Some(Content::First(
                    [less, std::slice::from_ref(value), more].concat().into(),
                ))
            }
        }
    }

    /// A compare-and-set that found another value than some one leaves the first value as it is, but not what is known
    /// of it: to that nothing leads back.
    fn is_read(&self, input: &RegisterOp<V>) -> bool {
        matches!(input, RegisterOp::Read(_) | RegisterOp::Mismatch(_))
    }

    fn after(&self, input: &RegisterOp<V>) -> Option<Content<V>> {
        input.left().cloned().map(Content::Value)
    }

    fn heap(&self, state: &Content<V>) -> usize {
        match state {
            Content::First(none) => size_of_val(&**none),
            Content::Value(_) => 0,
        }
    }

    fn contradiction(&self, ops: &[Op<RegisterOp<V>>]) -> Option<Contradiction> {
        unexplained(ops, &FirstValue::Unknown).or_else(|| denied(ops))
    }

    fn near(&self, ops: &[Op<RegisterOp<V>>]) -> NearLinearDecision {
        zones::judge(ops, &FirstValue::Unknown)
    }

    fn relevant(&self, ops: &[Op<RegisterOp<V>>]) -> Option<Vec<usize>> {
        relevant(ops, &FirstValue::Unknown)
    }

    fn explore(&self, ops: &[Op<RegisterOp<V>>], budget: &mut Budget<'_>) -> SearchDecision {
        take_turns(ops, &FirstValue::Unknown, |budget| search(self, ops, budget), budget)
    }

    fn decide_anywhere(&self, ops: &[Op<RegisterOp<V>>], budget: &mut Budget<'_>) -> SearchDecision {
        anywhere(self, ops, budget)
    }
}

/// The first read in the order of answers that no write explains, for what it found was never written, or had certainly
/// been overwritten: alone, or after the write that had overwritten it.
///
/// A read of a value needs a write of it that was sent before the read was answered, and after whose end no other value
/// was certainly written before the read was sent. Where that is missing no search is needed, however many orders there
/// are.
fn unexplained<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Option<Contradiction> {
    let sources = sources(ops);
    let (ends, latest) = certain(ops);
    let mut reads: Vec<(usize, usize)> = (0..ops.len())
        .filter(|&op| ops[op].must() && ops[op].input.observed().is_some())
        .filter_map(|op| Some((ops[op].complete?, op)))
        .collect();
    reads.sort_unstable();
    reads.into_iter().find_map(|(end, read)| {
        let value = ops[read].input.observed()?;
        // An operation that writes what it found would have to be distinguished from its own sources.
        if ops[read].input.written() == Some(value) {
            return None;
        }
        let source = sources.get(value).and_then(|sources| sources.before(end));
        let began = first.may_be(value);
        if source.is_none() && !began {
            return Some(contradiction(vec![read], read, true));
        }
        let last = latest.get(ends.partition_point(|&end| end < ops[read].invoke).checked_sub(1)?)?;
        let over = match ops[last.best].input.written() == Some(value) {
            true => last.other?,
            false => last.best,
        };
        let overwritten = source.is_none_or(|(end, _)| end < ops[over].invoke);
        // Each of the two is possible without the other, if no chain of other operations has to lead to it.
        let least =
            matches!(ops[over].input, RegisterOp::Write(_)) && (began || source.is_some_and(|(_, plain)| plain));
        overwritten.then(|| contradiction(vec![over, read], read, least))
    })
}

/// The first read of a value that nobody had written, so that the register began with it, after a compare-and-set that
/// had found another value. It is of registers that began with an unknown value.
fn denied<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>]) -> Option<Contradiction> {
    let mut mismatches: HashMap<&V, (usize, usize)> = HashMap::new();
    for (place, op) in ops.iter().enumerate() {
        if let (RegisterOp::Mismatch(value), Some(end), true) = (&op.input, op.complete, op.required) {
            let first = mismatches.entry(value).or_insert((end, place));
            *first = (end, place).min(*first);
        }
    }
    if mismatches.is_empty() {
        return None;
    }
    let sources = sources(ops);
    let denied = |read: usize| {
        let (value, end) = (ops[read].input.observed()?, ops[read].complete?);
        let written =
            ops[read].input.written() == Some(value) || sources.get(value).and_then(|all| all.before(end)).is_some();
        let &(mismatched, mismatch) = mismatches.get(value).filter(|_| !written)?;
        let late = ops[read].must() && mismatched < ops[read].invoke;
        late.then(|| (end, contradiction(vec![mismatch, read], read, true)))
    };
    let found = (0..ops.len()).filter_map(denied).min_by_key(|&(end, _)| end);
    found.map(|(_, found)| found)
}

/// The writes that may have given a register a value, by where they were sent.
#[derive(Debug)]
struct Sources {
    sent: Vec<usize>,
    /// Of those up to each the latest end, and whether one is a write without a condition.
    latest: Vec<(usize, bool)>,
}

/// What is certainly written by some position.
#[derive(Debug, Clone, Copy)]
struct CertainWrite {
    /// The write that was sent last.
    best: usize,
    /// The one that was sent last of those that write another value than `best`.
    other: Option<usize>,
}

fn contradiction(mut ops: Vec<usize>, stuck: usize, least: bool) -> Contradiction {
    ops.sort_unstable();
    Contradiction {
        stuck,
        witness: Witness { ops, least },
        claim: None,
    }
}

fn sources<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>]) -> HashMap<&V, Sources> {
    let mut order: Vec<usize> = (0..ops.len()).collect();
    order.sort_unstable_by_key(|&op| ops[op].invoke);
    let mut all: HashMap<&V, Sources> = HashMap::new();
    for op in order {
        let Some(value) = ops[op].input.written() else { continue };
        let of = all.entry(value).or_insert_with(|| Sources {
            sent: Vec::new(),
            latest: Vec::new(),
        });
        let (end, plain) = of.latest.last().copied().unwrap_or((0, false));
        let own = ops[op].complete.unwrap_or(usize::MAX);
        of.latest
            .push((end.max(own), plain || matches!(ops[op].input, RegisterOp::Write(_))));
        of.sent.push(ops[op].invoke);
    }
    all
}

impl Sources {
    /// Of those sent before a position the latest end, and whether one is a plain write; `None` if there are none.
    fn before(&self, position: usize) -> Option<(usize, bool)> {
        let count = self.sent.partition_point(|&sent| sent < position);
        self.latest.get(count.checked_sub(1)?).copied()
    }
}

/// The ends of the writes that certainly took effect, ascending, and what is certain at each.
fn certain<V: Eq>(ops: &[Op<RegisterOp<V>>]) -> (Vec<usize>, Vec<CertainWrite>) {
    let mut writes: Vec<(usize, usize)> = (0..ops.len())
        .filter(|&op| ops[op].must() && ops[op].input.written().is_some())
        .filter_map(|op| Some((ops[op].complete?, op)))
        .collect();
    writes.sort_unstable();
    let value = |op: usize| ops[op].input.written();
    let later = |a: usize, b: usize| if ops[a].invoke > ops[b].invoke { a } else { b };
    let mut latest: Vec<CertainWrite> = Vec::with_capacity(writes.len());
    for &(_, op) in &writes {
        let next = match latest.last() {
            None => CertainWrite { best: op, other: None },
            Some(&CertainWrite { best, other }) if value(op) == value(best) => CertainWrite {
                best: later(op, best),
                other,
            },
            Some(&CertainWrite { best, .. }) if later(op, best) == op => CertainWrite {
                best: op,
                other: Some(best),
            },
            Some(&CertainWrite { best, other }) => CertainWrite {
                best,
                other: Some(other.map_or(op, |other| later(op, other))),
            },
        };
        latest.push(next);
    }
    (writes.iter().map(|&(end, _)| end).collect(), latest)
}
