//! Random small histories: what is decided without a search, and what sweeps over configurations decide, is what the
//! definition says, and the search.

use super::agree::{HISTORIES, access, history, proven};
use super::{brute, search, with_budget};
use fastrand::Rng;
use std::fmt::Debug;
use zooquake_checkers::search::lease::{LeaseMutex, LeaseOp};
use zooquake_checkers::search::mutex::{Mutex, MutexOp};
use zooquake_checkers::search::register::{Register, RegisterOp, Unset};
use zooquake_checkers::search::{Decision, Model, Near, Op, Outcome};

/// How many histories each test tries: a short form, or as many as `ZOOQUAKE_HISTORIES` says.
pub fn histories() -> usize {
    let told = std::env::var("ZOOQUAKE_HISTORIES").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(HISTORIES / 4)
}

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
        Decision::Not { .. } => assert!(!fits, "an order fits {ops:?}"),
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
