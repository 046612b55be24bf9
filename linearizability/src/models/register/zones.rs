//! Registers by their values, without a search: what is written once can be found only between its write and the next
//! one (Gibbons and Korach, "Testing shared memories", SIAM J. Comput. 26(4), 1997), and compare-and-sets link what
//! they found to what they left. In time O(n log n), by the code of the family `register`.
//!
//! An operation of unknown outcome took effect exactly if something answered rests on what it wrote; otherwise no order
//! lacks anything without it. What is found always convicts. Nothing found acquits if each value has one write at most,
//! and no compare-and-set that failed names what it found.

use crate::model::{Contradiction, NearLinearDecision, Op, Witness, any_optional};
use crate::models::register::operation::{FirstValue, RegisterOp};
use crate::unique::{Action, TimedAccess, UniqueJudgement, contradictions};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The most accesses, summed over all tries, by which it is tried what a witness can be left without.
const TRIED: usize = 2_000_000;

/// How many contradictions are held against the first values that a register may have had.
const LOOKED_AT: usize = 8;

/// Judges operations by their values.
pub fn judge<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> NearLinearDecision {
    // What need not have happened although it has an end is of no use to orders that can do without it, unless it is
    // found.
    if any_optional(ops) {
        return NearLinearDecision::Undecided;
    }
    let register = NumberedRegister::new(ops, first);
    let all: Vec<usize> = (0..ops.len()).collect();
    let UniqueJudgement {
        contradictions: mut found,
        whole,
    } = register.judge(&all);
    if found.is_empty() {
        let exact = whole && register.exact;
        return if exact {
            NearLinearDecision::Linearizable
        } else {
            NearLinearDecision::Undecided
        };
    }
    let end = |&op: &usize| ops[op].complete;
    found.sort_by_cached_key(|witness| (witness.iter().filter_map(end).max(), witness.len()));
    let anchors = register.anchors();
    for witness in found.into_iter().take(LOOKED_AT) {
        let anchored = anchors.iter().map(|anchor| [&witness[..], &anchor[..]].concat());
        if let Some(mut witness) = anchored.into_iter().find(|witness| register.convicts(witness)) {
            witness.sort_unstable();
            witness.dedup();
            let witness = register.least(witness, whole && register.exact);
            let stuck = witness.ops.iter().copied().max_by_key(end).unwrap_or_default();
            let claim = None;
            return NearLinearDecision::Not(Contradiction { stuck, witness, claim });
        }
    }
    NearLinearDecision::Undecided
}

/// Operations with values as numbers.
struct NumberedRegister {
    timed: Vec<Option<TimedAccess>>,
    /// For each value that is written by one operation only, that operation.
    writers: HashMap<i64, usize>,
    ambiguous: HashSet<i64>,
    /// Whether no compare-and-set failed: one that did does not name what it found, so it is not judged.
    exact: bool,
    /// The value with which it began, if an operation found it and none was to write it.
    nil: Option<i64>,
    /// Whether it is not known with what it began.
    unknown: bool,
}

impl NumberedRegister {
    fn new<V: Eq + Hash>(ops: &[Op<RegisterOp<V>>], first: &FirstValue<'_, V>) -> Self {
        let mut numbers: HashMap<&V, i64> = HashMap::new();
        let mut number = |value| {
            let next = numbers.len() as i64;
            *numbers.entry(value).or_insert(next)
        };
        let mut exact = true;
        let mut timed: Vec<Option<TimedAccess>> = Vec::with_capacity(ops.len());
        let mut writes: HashMap<i64, (usize, usize)> = HashMap::new();
        for (place, op) in ops.iter().enumerate() {
            let action = match &op.input {
                RegisterOp::Read(value) => Some(Action::Read(Some(number(value)))),
                RegisterOp::Write(to) => Some(Action::Write(number(to))),
                // It leaves what it finds.
                RegisterOp::Cas(from, to) if from == to => Some(Action::Read(Some(number(to)))),
                RegisterOp::Cas(from, to) => Some(Action::Cas {
                    from: Some(number(from)),
                    to: number(to),
                }),
                RegisterOp::Mismatch(_) => None,
            };
            exact &= action.is_some();
            let action = action.filter(|action| op.must() || action.written().is_some());
            if let Some(to) = action.and_then(|action| action.written().flatten()) {
                writes.entry(to).or_insert((place, 0)).1 += 1;
            }
            timed.push(action.map(|action| TimedAccess {
                action,
                sent: op.invoke,
                answered: op.complete,
            }));
        }
        let repeated = writes.iter().filter(|(_, (_, count))| *count > 1);
        let ambiguous: HashSet<i64> = repeated.map(|(&value, _)| value).collect();
        let mut register = Self {
            timed,
            writers: writes.into_iter().map(|(value, (place, _))| (value, place)).collect(),
            ambiguous,
            exact,
            nil: None,
            unknown: false,
        };
        match first {
            FirstValue::With(value) => register.begin(numbers.get(value).copied()),
            FirstValue::Unknown => {
                register.unknown = true;
                register.begin(register.unwritten());
            }
        }
        register
    }

    /// Of the values that no operation was to write the one that was found first.
    fn unwritten(&self) -> Option<i64> {
        let found = self.timed.iter().flatten().filter_map(|timed| {
            let value = timed.action.observed()??;
            let unwritten = !self.writers.contains_key(&value);
            Some((timed.answered.filter(|_| unwritten)?, value))
        });
        found.min().map(|(_, value)| value)
    }

    /// Makes this value the first one; if an operation writes it too, its writer is ambiguous.
    fn begin(&mut self, value: Option<i64>) {
        match value {
            Some(value) if self.writers.contains_key(&value) => drop(self.ambiguous.insert(value)),
            _ => self.nil = value,
        }
    }

    /// What may show that the register did not begin with a value that was found later: nothing, the first write that
    /// was over, the first of all operations that were.
    fn anchors(&self) -> Vec<Vec<usize>> {
        let mut anchors = vec![Vec::new()];
        if self.unknown {
            let over = |writes: bool| {
                let over = self
                    .timed
                    .iter()
                    .enumerate()
                    .filter_map(|(place, timed)| Some((place, (*timed)?)))
                    .filter(|(_, timed)| !writes || timed.action.written().is_some());
                over.filter_map(|(place, timed)| Some((timed.answered?, place))).min()
            };
            anchors.extend([true, false].into_iter().filter_map(over).map(|(_, place)| vec![place]));
        }
        anchors
    }

    /// Judges some of the operations; those that prove nothing are left out.
    fn judge(&self, places: &[usize]) -> UniqueJudgement {
        self.judge_if(places, |_, found| found.is_some() && found == self.nil)
    }

    /// Judges some of the operations if these found the first value: as nil.
    fn judge_if(&self, places: &[usize], first: impl Fn(usize, Option<i64>) -> bool) -> UniqueJudgement {
        let said = |&place: &usize| {
            let timed = self.timed[place]?;
            let nil = |found| if first(place, found) { None } else { found };
            let action = match timed.action {
                Action::Read(found) => Action::Read(nil(found)),
                Action::Cas { from, to } => Action::Cas { from: nil(from), to },
                other => other,
            };
            Some((place, TimedAccess { action, ..timed }))
        };
        let (places, timed): (Vec<usize>, Vec<TimedAccess>) = places.iter().filter_map(said).unzip();
        let mut judged = contradictions(&timed, &self.ambiguous);
        for place in judged.contradictions.iter_mut().flatten() {
            *place = places[*place];
        }
        judged
    }

    /// Operations with all that certainly happened if they did: the only writes of what they found, and so on. These
    /// found the first value (`first`), which nobody wrote.
    fn founded(&self, witness: &[usize], first: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut left = witness.to_vec();
        let mut all: HashSet<usize> = HashSet::new();
        while let Some(place) = left.pop() {
            if all.insert(place)
                && !first(place)
                && let Some(Some(found)) = self.timed[place].and_then(|timed| timed.action.observed())
                && !self.ambiguous.contains(&found)
            {
                left.extend(self.writers.get(&found));
            }
        }
        let mut all: Vec<usize> = all.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// Whether these operations contradict each other, with whatever value the register began.
    fn convicts(&self, witness: &[usize]) -> bool {
        let founded = self.founded(witness, |_| false);
        if self.judge(&founded).contradictions.is_empty() {
            return false;
        }
        if !self.unknown {
            return true;
        }
        let found = founded
            .iter()
            .filter_map(|&place| self.timed[place]?.action.observed()?);
        let mut may_be_first: Vec<i64> = found.collect();
        may_be_first.sort_unstable();
        may_be_first.dedup();
        may_be_first.retain(|&value| Some(value) != self.nil);
        may_be_first
            .into_iter()
            .all(|value| self.convicts_if(witness, &founded, value))
    }

    /// Whether operations contradict each other if the register began with a value that one of them finds.
    ///
    /// What finds it then was done before all other writes, or after the write of that value. What is read at first was
    /// sent before anything else was over, so whatever read it and was sent even before may have been read at first,
    /// too. Of the compare-and-sets one at most found it at first.
    fn convicts_if(&self, witness: &[usize], founded: &[usize], value: i64) -> bool {
        let finds =
            |place: &usize| self.timed[*place].is_some_and(|timed| timed.action.observed() == Some(Some(value)));
        let reads = |place: &usize| self.timed[*place].is_some_and(|timed| timed.action.written().is_none());
        let (mut reads, sets): (Vec<usize>, Vec<usize>) = founded
            .iter()
            .filter(|place| finds(place))
            .partition(|place| reads(place));
        reads.sort_by_key(|&place| self.timed[place].map(|timed| timed.sent));
        let sets = || sets.iter().map(|&set| Some(set)).chain([None]);
        (0..=reads.len()).all(|early| {
            sets().all(|set| {
                let early = |place| Some(place) == set || reads[..early].contains(&place);
                let founded = self.founded(witness, early);
                !self
                    .judge_if(&founded, |place, _| early(place))
                    .contradictions
                    .is_empty()
            })
        })
    }

    /// A witness without what can be left out; it is `least` only if `exact` and if the tries sufficed for all of it.
    fn least(&self, mut witness: Vec<usize>, exact: bool) -> Witness {
        let mut tries = TRIED / self.founded(&witness, |_| false).len().max(1);
        let mut at = 0;
        while at < witness.len() && tries > 0 {
            let mut less = witness.clone();
            let op = less.remove(at);
            if !less.is_empty() && self.convicts(&less) {
                witness = less;
            } else {
                witness[at] = op;
                at += 1;
            }
            tries -= 1;
        }
        let least = exact && at == witness.len();
        Witness { ops: witness, least }
    }
}
