//! A register with compare-and-set. Values need not be unique.

use crate::model::{Contradiction, Model, NearLinearDecision, Op, UnknownStart, narrowed};
use crate::models::register::accesses::FirstValue;
use crate::models::register::operation::RegisterOp;
use crate::models::register::relevance::relevant;
use crate::models::register::sweep::sweep;
use crate::models::register::unexplained_reads::{denied, unexplained};
use crate::models::register::{portfolio, zones};
use crate::search::{Budget, SearchDecision, search};
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
        portfolio::decide(ops, &self.first(), |budget| search(self, ops, budget), budget)
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
        portfolio::decide(ops, &first, |budget| search(&UnknownStart(model), ops, budget), budget)
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
        portfolio::decide(ops, &FirstValue::Unknown, |budget| search(self, ops, budget), budget)
    }

    fn decide_anywhere(&self, ops: &[Op<RegisterOp<V>>], budget: &mut Budget<'_>) -> SearchDecision {
        anywhere(self, ops, budget)
    }
}
