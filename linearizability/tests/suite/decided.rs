//! Random small histories: what is decided without a search, and what sweeps over configurations decide, agrees with
//! the definition and with the search.

use super::agree::{minimal, proven, tried};
use super::drawn::{access, history, recorded};
use super::{brute, histories, search, with_budget};
use fastrand::Rng;
use std::fmt::Debug;
use zooquake_linearizability::models::mutex::{LeaseMutex, LeaseOp, Mutex, MutexOp};
use zooquake_linearizability::models::register::{Register, RegisterOp, UnsetRegister};
use zooquake_linearizability::{Budget, Model, NearLinearDecision, Op, SearchDecision, SearchOutcome, shrink};

/// How often histories were decided without a search, and how often they were convicted so.
#[derive(Debug, Default)]
pub struct DecisionCounts {
    pub good: usize,
    pub bad: usize,
    pub near: usize,
    pub near_bad: usize,
}

impl DecisionCounts {
    /// Wants both answers often enough to mean something.
    #[track_caller]
    pub fn balanced(&self) {
        let least = histories() / 20;
        assert!(self.good > least && self.bad > least, "{self:?}");
    }
}

/// Holds a model's decision against the brute force and the search.
pub fn agree<M: Model<Input: Debug>>(model: &M, ops: &[Op<M::Input>], counts: &mut DecisionCounts) {
    let fits = brute::linearizable(model, ops);
    match fits {
        true => counts.good += 1,
        false => counts.bad += 1,
    }
    let found = matches!(search(model, ops), SearchOutcome::Linearizable { .. });
    assert_eq!(found, fits, "{ops:?}");
    match with_budget(|budget| model.decide(ops, budget)) {
        SearchDecision::Linearizable => assert!(fits, "no order fits {ops:?}"),
        SearchDecision::Not { stuck } => {
            assert!(!fits, "an order fits {ops:?}");
            // Trying all that can be left out takes long.
            if counts.bad.is_multiple_of(4) {
                let witness = with_budget(|budget| shrink(model, ops, stuck, budget));
                assert!(witness.least, "the budget suffices");
                minimal(model, ops, stuck, &witness.ops);
            }
        }
        SearchDecision::GaveUp(limit) => panic!("{limit} ran out on {ops:?}"),
    }
    match model.near(ops) {
        NearLinearDecision::Linearizable => {
            assert!(fits, "no order fits {ops:?}");
            counts.near += 1;
        }
        NearLinearDecision::Not(found) => {
            assert!(!fits, "an order fits {ops:?}");
            counts.near += 1;
            counts.near_bad += 1;
            if found.witness.least {
                proven(model, ops, found.stuck, &found.witness.ops);
            }
        }
        NearLinearDecision::Undecided => {}
    }
}

/// Gives each write of a history a value of its own, or nearly: one in `same` keeps it.
fn unique(rng: &mut Rng, ops: &mut [Op<RegisterOp<u8>>], same: u8) {
    for (place, op) in ops.iter_mut().enumerate() {
        if let RegisterOp::Write(to) | RegisterOp::Cas(_, to) = &mut op.input
            && rng.u8(0..same) > 0
        {
            *to = place as u8 + 1;
        }
    }
}

#[test]
fn registers_whose_values_are_written_once() {
    let mut rng = Rng::with_seed(21);
    let (mut known, mut unknown) = (DecisionCounts::default(), DecisionCounts::default());
    for _ in 0..histories() {
        let mut ops = recorded(&mut rng, &|rng| access(rng, 5));
        unique(&mut rng, &mut ops, 30);
        agree(&Register { initial: 0 }, &ops, &mut known);
        agree(&UnsetRegister::default(), &ops, &mut unknown);
    }
    for counts in [known, unknown] {
        counts.balanced();
        assert!(
            counts.near > histories() / 2 && counts.near_bad > counts.bad / 2,
            "{counts:?}"
        );
    }
}

/// Decides by sweeps over configurations, in the relaxed form or not.
type Sweep<M> = fn(&M, &[Op<RegisterOp<u8>>], bool, &mut Budget<'_>) -> Option<SearchDecision>;

/// Compares the decisions of sweeps over configurations with the brute force.
fn swept<M: Model<Input = RegisterOp<u8>>>(model: &M, ops: &[Op<RegisterOp<u8>>], sweep: Sweep<M>) {
    let fits = brute::linearizable(model, ops);
    let not = |relaxed| {
        let decision = with_budget(|budget| sweep(model, ops, relaxed, budget));
        matches!(decision, Some(SearchDecision::Not { .. }))
    };
    assert_eq!(not(false), !fits, "{ops:?}");
    assert!(!fits || !not(true), "an order fits {ops:?}");
}

#[test]
fn registers_whose_values_come_back() {
    let mut rng = Rng::with_seed(22);
    let (mut known, mut unknown) = (DecisionCounts::default(), DecisionCounts::default());
    let (register, unset) = (Register { initial: 0 }, UnsetRegister::default());
    for number in 0..histories() {
        let draw = if number % 2 == 0 { access } else { tried };
        let ops = history(&mut rng, &|rng: &mut Rng| draw(rng, 4));
        agree(&register, &ops, &mut known);
        agree(&unset, &ops, &mut unknown);
        swept(&register, &ops, Register::sweep);
        swept(&unset, &ops, UnsetRegister::sweep);
    }
    assert!(
        known.bad > histories() / 20 && unknown.good > histories() / 20,
        "{known:?} {unknown:?}"
    );
}

/// Histories of which little must have happened, and much may have.
fn mostly_optional<I>(rng: &mut Rng, draw: &impl Fn(&mut Rng) -> I) -> Vec<Op<I>> {
    let mut ops = history(rng, draw);
    for op in &mut ops {
        op.required &= rng.u8(0..3) == 0;
        if !op.required && rng.bool() {
            op.complete = None;
        }
    }
    ops
}

/// Whether the model names operations that do not matter; asserts that the decision is the same without them.
fn relevant<M: Model<Input: Debug>>(model: &M, ops: &[Op<M::Input>]) -> bool {
    let Some(relevant) = model.relevant(ops) else {
        return false;
    };
    let fewer: Vec<Op<M::Input>> = relevant.iter().map(|&op| ops[op].clone()).collect();
    let fit = [&fewer, ops].map(|ops| brute::linearizable(model, ops));
    assert_eq!(fit[0], fit[1], "{relevant:?} of {ops:?}");
    true
}

#[test]
fn registers_of_which_little_must_have_happened() {
    let mut rng = Rng::with_seed(26);
    let mut narrowed = 0;
    let (mut known, mut unknown) = (DecisionCounts::default(), DecisionCounts::default());
    let (register, unset) = (Register { initial: 0 }, UnsetRegister::default());
    for _ in 0..histories() {
        let ops = mostly_optional(&mut rng, &|rng| match rng.u8(0..8) {
            0 => RegisterOp::Mismatch(rng.u8(0..3)),
            _ => access(rng, 4),
        });
        agree(&register, &ops, &mut known);
        agree(&unset, &ops, &mut unknown);
        narrowed += usize::from(relevant(&register, &ops)) + usize::from(relevant(&unset, &ops));
        swept(&register, &ops, Register::sweep);
        swept(&unset, &ops, UnsetRegister::sweep);
    }
    assert!(narrowed > histories() / 2, "{narrowed}");
    assert!(
        known.bad > histories() / 20 && unknown.bad > histories() / 20,
        "{known:?} {unknown:?}"
    );
}

#[test]
fn registers_with_compare_and_sets_that_failed() {
    let mut rng = Rng::with_seed(23);
    let (mut known, mut unknown) = (DecisionCounts::default(), DecisionCounts::default());
    let (register, unset) = (Register { initial: 0 }, UnsetRegister::default());
    for number in 0..histories() {
        // Values that are written once, too, so that what failed meets the zones.
        let mut ops = history(&mut rng, &|rng| tried(rng, 4));
        if number % 2 == 0 {
            unique(&mut rng, &mut ops, 30);
        }
        agree(&register, &ops, &mut known);
        agree(&unset, &ops, &mut unknown);
        swept(&register, &ops, Register::sweep);
        swept(&unset, &ops, UnsetRegister::sweep);
    }
    known.balanced();
    unknown.balanced();
}

#[test]
fn textbook_mutexes() {
    let mut rng = Rng::with_seed(24);
    let mut counts = DecisionCounts::default();
    let draw = |rng: &mut Rng| if rng.bool() { MutexOp::Acquire } else { MutexOp::Release };
    for _ in 0..histories() {
        agree(&Mutex, &history(&mut rng, &draw), &mut counts);
        let ops = mostly_optional(&mut rng, &draw);
        agree(&Mutex, &ops, &mut counts);
        relevant(&Mutex, &ops);
    }
    counts.balanced();
}

#[test]
fn mutexes_that_know_their_holders() {
    let mut rng = Rng::with_seed(25);
    let mut counts = DecisionCounts::default();
    for _ in 0..histories() {
        let mut ops = recorded(&mut rng, &|_| LeaseOp::Glimpse);
        // Any two that follow each other may be a hold, with others in between.
        rng.shuffle(&mut ops);
        for hold in 0..ops.len() / 2 {
            let [grant, release] = [2 * hold, 2 * hold + 1];
            if ops[grant].complete.is_some_and(|end| end < ops[release].invoke) {
                ops[grant].input = LeaseOp::Grant(hold);
                ops[release].input = LeaseOp::Release(hold);
            }
        }
        agree(&LeaseMutex, &ops, &mut counts);
    }
    counts.balanced();
    let all = counts.good + counts.bad;
    assert_eq!(counts.near, all, "all are decided without a search");
}

/// Wants sweeps of both forms to find that a history of a register fits that began with this value.
#[track_caller]
fn fits(initial: u8, ops: &[Op<RegisterOp<u8>>]) {
    let register = Register { initial };
    assert!(brute::linearizable(&register, ops));
    for relaxed in [false, true] {
        let swept = with_budget(|budget| register.sweep(ops, relaxed, budget));
        assert_eq!(swept, Some(SearchDecision::Linearizable), "{relaxed}");
    }
}

#[test]
fn what_was_not_found_while_a_value_was_written_and_written_over_convicts_nobody() {
    let ops = [
        Op::unknown(RegisterOp::Write(2), 0),
        Op::done(RegisterOp::Mismatch(0), 1, 3),
        Op::unknown(RegisterOp::Write(0), 2),
    ];
    fits(0, &ops);
}

#[test]
fn a_write_of_unknown_outcome_may_write_over_others_what_was_there_before() {
    let ops = [
        Op::done(RegisterOp::Cas(2, 0), 0, 4),
        Op::done(RegisterOp::Write(3), 1, 5),
        Op::unknown(RegisterOp::Write(2), 2),
        Op::done(RegisterOp::Cas(0, 2), 6, 7),
    ];
    fits(2, &ops);
}
