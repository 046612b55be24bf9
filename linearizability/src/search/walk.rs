//! The search itself: depth first, without recursion, over the configurations of a history.
//!
//! Beside Lowe's memoisation it makes use of facts, none of which loses an order:
//! - A read that must be done and can be done now without a change may be done now: whatever order does it later fits
//!   as well with it moved here. So it is done without an alternative.
//! - An operation that need not be done and would leave the state as it is is not worth doing.
//! - Of operations of unknown outcome that are the same, the one invoked first can stand for any later one; and of two
//!   configurations that differ only in which of them took effect, the one with fewer can do whatever the other can.

use crate::search::bit_set::{Bits, Prefix};
use crate::search::list::{FlightSpan, List, ListEntry, fixed, numbered};
use crate::search::longest::FarthestPath;
use crate::search::visited::VisitedConfigurations;
use crate::{Budget, Limit, Model, Op, SearchOutcome};
use std::collections::HashMap;

/// Why an operation was taken out of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It was done, and something else may be done in its place.
    Choice,
    /// It was done, and nothing else could be better.
    Read,
    /// It need not be done, and its time was over.
    Skipped,
}

/// What is to be tried next.
#[derive(Debug, Clone, Copy)]
enum Cursor {
    /// What stands at this node of the list.
    Node(usize),
    /// The operation without completion of this number, when nothing in the list can be done.
    Open(usize),
}

/// A taken operation, and the state before.
#[derive(Debug)]
struct Frame<S> {
    op: usize,
    before: S,
    reason: Reason,
}

/// A search under way.
#[derive(Debug)]
pub struct Walk<'a, M: Model> {
    model: &'a M,
    ops: &'a [Op<M::Input>],
    list: List,
    state: M::State,
    frames: Vec<Frame<M::State>>,
    /// Each operation's number in `done`, by completion, or in `open`, by invocation: what is done is nearly a prefix.
    numbers: Vec<usize>,
    done: Prefix,
    open: Bits,
    /// The operations without completion, by invocation; they are not in the list.
    opens: Vec<usize>,
    /// For an operation without completion the last earlier one that is the same.
    twins: Vec<Option<usize>>,
    /// Required operations, and those of them that are not done.
    required: usize,
    missing: usize,
    seen: VisitedConfigurations<M::State>,
    key: Vec<u64>,
    /// Bytes that all but `frames` and `seen` take, and the operations themselves.
    fixed: usize,
    /// Where most was done, if that is wanted.
    farthest: Option<FarthestPath>,
}

impl<'a, M: Model> Walk<'a, M> {
    /// A search that has not begun.
    pub fn new(model: &'a M, ops: &'a [Op<M::Input>]) -> Self {
        let spans: Vec<FlightSpan> = ops.iter().map(FlightSpan::from).collect();
        let (list, (numbers, opens)) = (List::new(&spans), numbered(&spans));
        // `fixed` does not count them: the events of the list, which took more, are gone too.
        drop(spans);
        let mut twins = vec![None; ops.len()];
        let mut last: HashMap<&M::Input, usize> = HashMap::new();
        for &op in &opens {
            twins[op] = last.insert(&ops[op].input, op);
        }
        let required = ops.iter().filter(|op| op.must()).count();
        Self {
            model,
            ops,
            list,
            state: model.initial(),
            frames: Vec::new(),
            numbers,
            done: Prefix::default(),
            open: Bits::new(opens.len()),
            opens,
            twins,
            required,
            missing: required,
            seen: VisitedConfigurations::new(),
            key: Vec::new(),
            fixed: fixed::<M>(ops),
            farthest: None,
        }
    }

    /// Searches until there is an order, there is none, or the budget runs out.
    pub fn run(&mut self, budget: &mut Budget<'_>) -> SearchOutcome {
        match self.explore(budget) {
            Ok(None) => SearchOutcome::Linearizable { order: self.order() },
            Ok(Some(stuck)) => SearchOutcome::Not { stuck },
            Err(limit) => SearchOutcome::GaveUp(limit),
        }
    }

    /// Keeps from now on the longest order that is reached.
    pub fn record(&mut self) {
        self.farthest = Some(FarthestPath::default());
    }

    /// The longest order that was reached since [`record`](Self::record).
    pub fn longest(&mut self) -> Vec<usize> {
        self.keep();
        self.farthest.as_ref().map(FarthestPath::order).unwrap_or_default()
    }

    fn keep(&mut self) {
        let (frames, required) = (&self.frames, self.required);
        if let Some(farthest) = &mut self.farthest {
            let taken = |frame: &Frame<M::State>| (frame.op, frame.reason != Reason::Skipped);
            farthest.extend(required - self.missing, |from| {
                frames[from..].iter().map(taken).collect()
            });
        }
    }

    /// The operations that were done, in their order.
    fn order(&self) -> Vec<usize> {
        let done = self.frames.iter().filter(|frame| frame.reason != Reason::Skipped);
        done.map(|frame| frame.op).collect()
    }

    /// The operation that no order gets past, if there is one.
    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<Option<usize>, Limit> {
        let mut stuck = None;
        let mut cursor = self.start(budget)?;
        while self.missing > 0 {
            let next = match cursor {
                Cursor::Node(node) => match self.list.entry(node) {
                    ListEntry::Call(op) if self.choose(op, budget)? => Some(self.start(budget)?),
                    ListEntry::Call(_) => Some(Cursor::Node(self.list.after(node))),
                    ListEntry::Return(_) | ListEntry::End => Some(Cursor::Open(0)),
                },
                Cursor::Open(at) => match self.try_open(at, budget)? {
                    Some(cursor) => Some(cursor),
                    None => match self.list.entry(self.wall()) {
                        ListEntry::Return(op) if !self.ops[op].required && self.skip(op) => Some(self.start(budget)?),
                        ListEntry::Return(op) if self.ops[op].required => {
                            stuck = stuck.max(Some((self.ops[op].complete, op)));
                            self.back()
                        }
                        _ => self.back(),
                    },
                },
            };
            match next {
                Some(next) => cursor = next,
                None => return Ok(stuck.map(|(_, op)| op)),
            }
            let frames = self.frames.capacity() * size_of::<Frame<M::State>>();
            if self.fixed + frames + self.seen.bytes > budget.bytes {
                return Err(Limit::Memory);
            }
        }
        Ok(None)
    }

    /// Tries the operations without completion that were invoked before the first completion in the list, from this one
    /// on; `None` if none can be done. They come after all others, so that configurations in which few are used up come
    /// first.
    fn try_open(&mut self, from: usize, budget: &mut Budget<'_>) -> Result<Option<Cursor>, Limit> {
        let until = match self.list.entry(self.wall()) {
            ListEntry::Return(op) => self.ops[op].complete.unwrap_or(usize::MAX),
            ListEntry::Call(_) | ListEntry::End => usize::MAX,
        };
        for at in from..self.opens.len() {
            let op = self.opens[at];
            if self.ops[op].invoke > until {
                break;
            }
            let free = |op: usize| !self.open.contains(self.numbers[op]);
            if free(op) && !self.twins[op].is_some_and(free) && self.choose(op, budget)? {
                return self.start(budget).map(Some);
            }
        }
        Ok(None)
    }

    /// The node of the first completion in the list, or of its end: nothing invoked after it can be done before.
    fn wall(&self) -> usize {
        let mut node = self.list.after(self.list.head());
        while let ListEntry::Call(_) = self.list.entry(node) {
            node = self.list.after(node);
        }
        node
    }

    /// Does all reads that are possible in this configuration, and gives the first node of what is left.
    fn start(&mut self, budget: &mut Budget<'_>) -> Result<Cursor, Limit> {
        let mut before = self.list.head();
        loop {
            let node = self.list.after(before);
            let ListEntry::Call(op) = self.list.entry(node) else {
                return Ok(Cursor::Node(self.list.after(self.list.head())));
            };
            let read = self.ops[op].must() && self.model.is_read(&self.ops[op].input);
            if read && self.step(op, budget)?.is_some_and(|state| state == self.state) {
                self.take(op, self.state.clone(), Reason::Read);
            } else {
                before = node;
            }
        }
    }

    /// Does an operation if it can be done, and that leads where the search has not been.
    fn choose(&mut self, op: usize, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        match self.step(op, budget)? {
            Some(state) if self.ops[op].must() || state != self.state => Ok(self.visit(op, state, Reason::Choice)),
            _ => Ok(false),
        }
    }

    /// Goes on without an operation that need not be done, if that leads where the search has not been.
    fn skip(&mut self, op: usize) -> bool {
        self.visit(op, self.state.clone(), Reason::Skipped)
    }

    fn visit(&mut self, op: usize, state: M::State, reason: Reason) -> bool {
        let heap = self.model.heap(&state);
        self.take(op, state, reason);
        self.key.clear();
        self.done.key(&mut self.key);
        let new = self.seen.insert(&self.key, self.open.words(), &self.state, heap);
        if !new {
            self.undo();
        }
        new
    }

    /// Goes back to the last choice; returns where to go on from there, or `None` if there is none.
    fn back(&mut self) -> Option<Cursor> {
        self.keep();
        loop {
            let frame = self.undo()?;
            if frame.reason == Reason::Choice {
                return Some(match self.ops[frame.op].complete {
                    Some(_) => Cursor::Node(self.list.after_call(frame.op)),
                    None => Cursor::Open(self.numbers[frame.op] + 1),
                });
            }
        }
    }

    fn step(&self, op: usize, budget: &mut Budget<'_>) -> Result<Option<M::State>, Limit> {
        budget.spend()?;
        Ok(self.model.step(&self.state, &self.ops[op].input))
    }

    fn take(&mut self, op: usize, state: M::State, reason: Reason) {
        if self.ops[op].complete.is_some() {
            self.list.lift(op);
            self.done.insert(self.numbers[op]);
        } else {
            self.open.insert(self.numbers[op]);
        }
        self.missing -= usize::from(self.ops[op].must());
        let before = std::mem::replace(&mut self.state, state);
        self.frames.push(Frame { op, before, reason });
    }

    fn undo(&mut self) -> Option<Frame<M::State>> {
        let frame = self.frames.pop()?;
        let (op, left) = (frame.op, self.frames.len());
        self.farthest.iter_mut().for_each(|farthest| farthest.back_to(left));
        if self.ops[op].complete.is_some() {
            self.list.unlift(op);
            self.done.remove(self.numbers[op]);
        } else {
            self.open.remove(self.numbers[op]);
        }
        self.missing += usize::from(self.ops[op].must());
        self.state = frame.before.clone();
        Some(frame)
    }
}
