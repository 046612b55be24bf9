//! Random small histories: what is decided without a search, and what sweeps over configurations decide, is what the
//! definition says, and the search.

use super::agree::{access, histories, history, minimal, proven};
use super::{brute, search, with_budget};
use fastrand::Rng;
use std::fmt::Debug;
use zooquake_checkers::search::lease::{LeaseMutex, LeaseOp};
use zooquake_checkers::search::mutex::{Mutex, MutexOp};
use zooquake_checkers::search::register::{Register, RegisterOp, Unset};
use zooquake_checkers::search::{Decision, Model, Near, Op, Outcome, shrink};

/// How often histories were decided without a search, and how often they were convicted so.
#[derive(Debug, Default)]
pub struct Counts {
    pub good: usize,
    pub bad: usize,
    pub near: usize,
    pub near_bad: usize,
}

/// Holds a model's decision against the brute force and the search.
pub fn agree<M: Model>(model: &M, ops: &[Op<M::Input>], counts: &mut Counts)
where
    M::Input: Clone + Debug,
{
    let fits = brute::linearizable(model, ops);
    match fits {
        true => counts.good += 1,
        false => counts.bad += 1,
    }
    assert_eq!(
        matches!(search(model, ops), Outcome::Linearizable { .. }),
        fits,
        "{ops:?}"
    );
    match with_budget(|budget| model.decide(ops, budget)) {
        Decision::Linearizable => assert!(fits, "no order fits {ops:?}"),
        Decision::Not { stuck } => {
            assert!(!fits, "an order fits {ops:?}");
            // Trying all that can be left out takes long.
            if counts.bad.is_multiple_of(4) {
                let witness = with_budget(|budget| shrink(model, ops, stuck, budget));
                assert!(witness.least, "the budget suffices");
                minimal(model, ops, stuck, &witness.ops);
            }
        }
        Decision::GaveUp(limit) => panic!("{limit} ran out on {ops:?}"),
    }
    match model.near(ops) {
        Near::Linearizable => {
            assert!(fits, "no order fits {ops:?}");
            counts.near += 1;
        }
        Near::Not(found) => {
            assert!(!fits, "an order fits {ops:?}");
            counts.near += 1;
            counts.near_bad += 1;
            if found.witness.least {
                proven(model, ops, found.stuck, &found.witness.ops);
            }
        }
        Near::Unsaid => {}
    }
}

/// Operations all of which are answered or of unknown outcome, as histories have them.
pub fn recorded<I>(rng: &mut Rng, draw: &impl Fn(&mut Rng) -> I) -> Vec<Op<I>> {
    let mut ops = history(rng, draw);
    for op in ops.iter_mut().filter(|op| !op.required) {
        op.complete = None;
    }
    ops
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
    let (mut known, mut unknown) = (Counts::default(), Counts::default());
    for _ in 0..histories() {
        let mut ops = recorded(&mut rng, &|rng| access(rng, 5));
        unique(&mut rng, &mut ops, 30);
        agree(&Register { initial: 0 }, &ops, &mut known);
        agree(&Unset { never: [3].into() }, &ops, &mut unknown);
    }
    for Counts {
        good,
        bad,
        near,
        near_bad,
    } in [known, unknown]
    {
        assert!(good > histories() / 20 && bad > histories() / 20, "{good} {bad}");
        assert!(near > histories() / 2 && near_bad > bad / 2, "{near} of {near_bad}");
    }
}

/// Holds what sweeps over configurations say against the brute force.
fn swept(fits: bool, ops: &[Op<RegisterOp<u8>>], sweep: impl Fn(bool) -> Option<Decision>) {
    let not = |decision| matches!(decision, Some(Decision::Not { .. }));
    assert_eq!(not(sweep(false)), !fits, "{ops:?}");
    assert!(!fits || !not(sweep(true)), "an order fits {ops:?}");
}

#[test]
fn registers_whose_values_come_back() {
    let mut rng = Rng::with_seed(22);
    let (mut known, mut unknown) = (Counts::default(), Counts::default());
    let (register, unset) = (Register { initial: 0 }, Unset { never: [3].into() });
    for _ in 0..histories() {
        let ops = history(&mut rng, &|rng| access(rng, 4));
        agree(&register, &ops, &mut known);
        agree(&unset, &ops, &mut unknown);
        let fits = brute::linearizable(&register, &ops);
        swept(fits, &ops, |relaxed| {
            with_budget(|budget| register.sweep(&ops, relaxed, budget))
        });
        let fits = brute::linearizable(&unset, &ops);
        swept(fits, &ops, |relaxed| {
            with_budget(|budget| unset.sweep(&ops, relaxed, budget))
        });
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

/// Whether some operations do not matter; the others say the same without them.
fn relevant<M: Model>(model: &M, ops: &[Op<M::Input>]) -> bool
where
    M::Input: Clone + Debug,
{
    let Some(relevant) = model.relevant(ops) else {
        return false;
    };
    let fewer: Vec<Op<M::Input>> = relevant.iter().map(|&op| ops[op].clone()).collect();
    assert_eq!(
        brute::linearizable(model, &fewer),
        brute::linearizable(model, ops),
        "{relevant:?} of {ops:?}"
    );
    true
}

#[test]
fn registers_of_which_little_must_have_happened() {
    let mut rng = Rng::with_seed(26);
    let mut narrowed = 0;
    let (mut known, mut unknown) = (Counts::default(), Counts::default());
    let (register, unset) = (Register { initial: 0 }, Unset { never: [1].into() });
    for _ in 0..histories() {
        let ops = mostly_optional(&mut rng, &|rng| match rng.u8(0..8) {
            0 => RegisterOp::Mismatch(rng.u8(0..3)),
            _ => access(rng, 4),
        });
        agree(&register, &ops, &mut known);
        agree(&unset, &ops, &mut unknown);
        narrowed += usize::from(relevant(&register, &ops)) + usize::from(relevant(&unset, &ops));
        swept(brute::linearizable(&register, &ops), &ops, |relaxed| {
            with_budget(|budget| register.sweep(&ops, relaxed, budget))
        });
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
    let mut counts = Counts::default();
    let draw = |rng: &mut Rng| match rng.u8(0..4) {
        0 => RegisterOp::Mismatch(rng.u8(0..4)),
        _ => access(rng, 4),
    };
    let register = Register { initial: 0 };
    for _ in 0..histories() {
        let ops = history(&mut rng, &draw);
        agree(&register, &ops, &mut counts);
        let fits = brute::linearizable(&register, &ops);
        swept(fits, &ops, |relaxed| {
            with_budget(|budget| register.sweep(&ops, relaxed, budget))
        });
    }
    assert!(
        counts.bad > histories() / 20 && counts.good > histories() / 20,
        "{counts:?}"
    );
}

#[test]
fn textbook_mutexes() {
    let mut rng = Rng::with_seed(24);
    let mut counts = Counts::default();
    let draw = |rng: &mut Rng| if rng.bool() { MutexOp::Acquire } else { MutexOp::Release };
    for _ in 0..histories() {
        agree(&Mutex, &history(&mut rng, &draw), &mut counts);
        let ops = mostly_optional(&mut rng, &draw);
        agree(&Mutex, &ops, &mut counts);
        relevant(&Mutex, &ops);
    }
    assert!(
        counts.bad > histories() / 20 && counts.good > histories() / 20,
        "{counts:?}"
    );
}

#[test]
fn mutexes_that_know_their_holders() {
    let mut rng = Rng::with_seed(25);
    let mut counts = Counts::default();
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
    assert!(
        counts.bad > histories() / 20 && counts.good > histories() / 20,
        "{counts:?}"
    );
    assert_eq!(
        counts.near,
        counts.good + counts.bad,
        "all are decided without a search"
    );
}

#[test]
fn what_was_not_found_while_a_value_was_written_and_written_over_convicts_nobody() {
    let ops = [
        Op::unknown(RegisterOp::Write(2), 0),
        Op::done(RegisterOp::Mismatch(0), 1, 3),
        Op::unknown(RegisterOp::Write(0), 2),
    ];
    let register = Register { initial: 0 };
    assert!(brute::linearizable(&register, &ops));
    for relaxed in [false, true] {
        let swept = with_budget(|budget| register.sweep(&ops, relaxed, budget));
        assert_eq!(swept, Some(Decision::Linearizable), "{relaxed}");
    }
}

#[test]
fn a_write_of_unknown_outcome_may_write_over_others_what_was_there_before() {
    let ops = [
        Op::done(RegisterOp::Cas(2, 0), 0, 4),
        Op::done(RegisterOp::Write(3), 1, 5),
        Op::unknown(RegisterOp::Write(2), 2),
        Op::done(RegisterOp::Cas(0, 2), 6, 7),
    ];
    let register = Register { initial: 2 };
    assert!(brute::linearizable(&register, &ops));
    for relaxed in [false, true] {
        let swept = with_budget(|budget| register.sweep(&ops, relaxed, budget));
        assert_eq!(swept, Some(Decision::Linearizable), "{relaxed}");
    }
}
