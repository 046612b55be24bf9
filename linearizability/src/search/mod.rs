//! The depth-first search of Wing and Gong, with Lowe's memoisation on the entry list of Horn and Kroening: without
//! recursion, over the configurations of a history, within a budget.
//!
//! Beside Lowe's memoisation it makes use of facts, none of which loses an order:
//! - A read that must be done and can be done now without a change may be done now: whatever order does it later fits
//!   as well with it moved here. So it is done without an alternative.
//! - An operation that need not be done and would leave the state as it is is not worth doing.
//! - Of operations of unknown outcome that are the same, the one invoked first can stand for any later one; and of two
//!   configurations that differ only in which of them took effect, the one with fewer can do whatever the other can.
//!
//! [`longest_order`] is the longest order that the search reaches, also where no order holds all operations.

mod list;
mod visited;

use crate::model::{Model, Op};
use list::{FlightSpan, List, ListEntry, numbered};
use std::collections::{HashMap, HashSet};
use std::fmt;
use visited::{Bits, Prefix, VisitedConfigurations};

/// Searches for an order of `ops`, which may come in any order, that fits the model.
pub fn search<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> SearchOutcome {
    if fixed::<M>(ops) > budget.bytes {
        return SearchOutcome::GaveUp(Limit::Memory);
    }
    Walk::new(model, ops).run(budget)
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchOutcome {
    /// There is an order that fits.
    Linearizable {
        /// The operations in such an order, by their place in the list given; those left out never took effect.
        order: Vec<usize>,
    },
    /// There is none.
    Not {
        /// The operation, by its place in the list given, whose completion no order gets past: what was recorded before
        /// that completion is linearizable, with it it is not.
        stuck: usize,
    },
    /// The budget ran out before the search decided.
    GaveUp(Limit),
}

/// Whether there is an order that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchDecision {
    /// There is an order that fits.
    Linearizable,
    /// There is none.
    Not {
        /// An operation, by its place in the list given: what was recorded up to its completion is not linearizable.
        stuck: usize,
    },
    /// The budget ran out before the search decided.
    GaveUp(Limit),
}

impl From<SearchOutcome> for SearchDecision {
    fn from(outcome: SearchOutcome) -> Self {
        match outcome {
            SearchOutcome::Linearizable { .. } => Self::Linearizable,
            SearchOutcome::Not { stuck } => Self::Not { stuck },
            SearchOutcome::GaveUp(limit) => Self::GaveUp(limit),
        }
    }
}

/// How much a search may use. It is used up by one search after another.
pub struct Budget<'a> {
    /// Steps of the model that are left.
    pub steps: u64,
    /// Bytes that a search may take (estimated): its operations and lists, and the table of visited configurations; for
    /// each search anew.
    pub bytes: usize,
    /// Called every few thousand steps; the search gives up once it returns `true`.
    pub expired: &'a mut dyn FnMut() -> bool,
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("steps", &self.steps)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Budget<'_> {
    /// Spends one step.
    pub(crate) fn spend(&mut self) -> Result<(), Limit> {
        // How often, in steps, the clock is asked: often enough for a second, too seldom to cost anything.
        const POLL: u64 = 4096;
        if self.steps == 0 {
            return Err(Limit::Steps);
        }
        if self.steps.is_multiple_of(POLL) && (self.expired)() {
            return Err(Limit::Time);
        }
        self.steps -= 1;
        Ok(())
    }
}

/// Does with some of the steps that are left what may use no more.
pub fn within<T>(budget: &mut Budget<'_>, steps: u64, work: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let kept = budget.steps.saturating_sub(steps);
    budget.steps -= kept;
    let done = work(budget);
    budget.steps += kept;
    done
}

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// More steps were needed than it has.
    Steps,
    /// More memory was needed than it has.
    Memory,
    /// The time: [`Budget::expired`] returned `true`.
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::Memory => "memory",
            Self::Time => "time",
        })
    }
}

/// The order with the most operations that certainly took effect, of all that fit; the same for the same operations and
/// the same number of steps.
///
/// Where the budget runs out it is the longest one that was reached. A search takes exponential time at worst, so that
/// long histories which have no order need a budget of few steps.
pub fn longest_order<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> LongestOrder<M::State> {
    let kept = ops.len() * size_of::<(usize, bool)>();
    let (reached, end) = match fixed::<M>(ops) + kept > budget.bytes {
        true => (Vec::new(), OrderEnd::GaveUp(Limit::Memory)),
        false => {
            let bytes = budget.bytes;
            budget.bytes -= kept;
            let found = reach(model, ops, budget);
            budget.bytes = bytes;
            found
        }
    };
    let last = reached.iter().rposition(|&op| ops[op].must());
    let order = reached[..last.map_or(0, |last| last + 1)].to_vec();
    let mut states: Vec<M::State> = Vec::with_capacity(order.len());
    for &op in &order {
        let before = states.last().cloned().unwrap_or_else(|| model.initial());
        states.extend(model.step(&before, &ops[op].input));
    }
    let state = states.last().cloned().unwrap_or_else(|| model.initial());
    let refused = next(ops, &order)
        .into_iter()
        .filter(|&op| model.step(&state, &ops[op].input).is_none());
    LongestOrder {
        refused: refused.collect(),
        order,
        states,
        end,
    }
}

fn reach<M: Model>(model: &M, ops: &[Op<M::Input>], budget: &mut Budget<'_>) -> (Vec<usize>, OrderEnd) {
    let mut walk = Walk::new(model, ops);
    walk.record();
    match walk.run(budget) {
        SearchOutcome::Linearizable { order } => (order, OrderEnd::Whole),
        SearchOutcome::Not { .. } => (walk.longest(), OrderEnd::Longest),
        SearchOutcome::GaveUp(limit) => (walk.longest(), OrderEnd::GaveUp(limit)),
    }
}

/// The operations that certainly took effect and may follow an order by their intervals, by their completions.
fn next<I>(ops: &[Op<I>], order: &[usize]) -> Vec<usize> {
    let done: HashSet<usize> = order.iter().copied().collect();
    let left = || (0..ops.len()).filter(|op| ops[*op].must() && !done.contains(op));
    let wall = left().filter_map(|op| ops[op].complete).min();
    let mut next: Vec<usize> = left().filter(|&op| Some(ops[op].invoke) < wall).collect();
    next.sort_unstable_by_key(|&op| ops[op].complete);
    next
}

/// Why an order ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderEnd {
    /// It holds every operation that certainly took effect.
    Whole,
    /// No order that fits holds more of these.
    Longest,
    /// The budget ran out: longer ones may fit.
    GaveUp(Limit),
}

/// An order that fits the model and the intervals, as a beginning of one that holds all: what was completed before an
/// operation in it was invoked is in it, if it certainly took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongestOrder<S> {
    /// The operations, by their place in the list given. The last one certainly took effect.
    pub order: Vec<usize>,
    /// The state after each of them.
    pub states: Vec<S>,
    /// The operations that certainly took effect, may be next by their intervals, and are impossible in the last state:
    /// by their completions, of which the first is the one that no order of this beginning gets past. Of an order that
    /// is the longest one these are all that may be next.
    pub refused: Vec<usize>,
    /// Why it ends there.
    pub end: OrderEnd,
}

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
struct Walk<'a, M: Model> {
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
    fn new(model: &'a M, ops: &'a [Op<M::Input>]) -> Self {
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
    fn run(&mut self, budget: &mut Budget<'_>) -> SearchOutcome {
        match self.explore(budget) {
            Ok(None) => SearchOutcome::Linearizable { order: self.order() },
            Ok(Some(stuck)) => SearchOutcome::Not { stuck },
            Err(limit) => SearchOutcome::GaveUp(limit),
        }
    }

    /// Keeps from now on the longest order that is reached.
    fn record(&mut self) {
        self.farthest = Some(FarthestPath::default());
    }

    /// The longest order that was reached since [`record`](Self::record).
    fn longest(&mut self) -> Vec<usize> {
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

impl<I> From<&Op<I>> for FlightSpan {
    fn from(op: &Op<I>) -> Self {
        Self {
            invoke: op.invoke,
            complete: op.complete,
        }
    }
}

/// Bytes that a search of these operations takes before its first step (estimated), with the operations themselves.
fn fixed<M: Model>(ops: &[Op<M::Input>]) -> usize {
    // Of each operation: itself, its two nodes in the list (an entry, two links) and where they are, its two events
    // while the list is made (in a vector that may be half empty), its number, its twin, its place in the order, a
    // place in the table of twins while that is made, and its part of a configuration and of the key for it.
    let list = 2 * (size_of::<ListEntry>() + 3 * size_of::<usize>()) + 4 * size_of::<(usize, ListEntry)>();
    let each = size_of::<Op<M::Input>>() + list + size_of::<(usize, Option<usize>, usize)>() + 10 * size_of::<usize>();
    ops.len() * each
}

/// The way of a search to where most of what must be done was done.
#[derive(Debug, Default)]
struct FarthestPath {
    /// How many of the operations that must be done are on it.
    done: usize,
    /// What was taken out of the list, with whether it was done.
    taken: Vec<(usize, bool)>,
    /// How much of it is still on the way that the search is on.
    shared: usize,
}

impl FarthestPath {
    /// The way that the search is on, which goes on with these after so many, if it is the farthest.
    fn extend(&mut self, done: usize, after: impl FnOnce(usize) -> Vec<(usize, bool)>) {
        if done > self.done {
            self.done = done;
            self.taken.truncate(self.shared);
            self.taken.extend(after(self.shared));
            self.shared = self.taken.len();
        }
    }

    /// The search went back to its first so many.
    fn back_to(&mut self, length: usize) {
        self.shared = self.shared.min(length);
    }

    /// What was done, in order.
    fn order(&self) -> Vec<usize> {
        self.taken.iter().filter(|(_, done)| *done).map(|&(op, _)| op).collect()
    }
}
