//! Reads that no write explains are found before any search, and only where the definition convicts too.

use super::agree::{proven, tried};
use super::drawn::history;
use super::{brute, histories, limited, search};
use fastrand::Rng;
use std::fmt::Debug;
use zooquake_linearizability::models::register::RegisterOp::{self, Cas, Mismatch, Read, Write};
use zooquake_linearizability::models::register::{Register, UnsetRegister};
use zooquake_linearizability::{Limit, Model, Op, SearchOutcome};

fn found<M: Model>(model: &M, ops: &[Op<M::Input>]) -> Option<Vec<usize>> {
    model.contradiction(ops).map(|found| found.witness.ops)
}

#[test]
fn what_is_found_holds_by_the_definition() {
    let unset = UnsetRegister::default();
    let (known, unknown) = (agree(&Register { initial: 0 }, 6), agree(&unset, 7));
    assert!(known > histories() / 10, "{known}");
    assert!(unknown > histories() / 20, "{unknown}");
}

/// Holds what is found in random histories against the brute force; how often something was.
fn agree<M: Model<Input = RegisterOp<u8>>>(model: &M, seed: u64) -> usize {
    let mut rng = Rng::with_seed(seed);
    let mut convicted = 0;
    for _ in 0..histories() {
        let ops = history(&mut rng, &|rng| tried(rng, 4));
        let Some(found) = model.contradiction(&ops) else {
            continue;
        };
        convicted += 1;
        assert!(!brute::linearizable(model, &ops), "an order fits {ops:?}");
        assert!(matches!(search(model, &ops), SearchOutcome::Not { .. }));
        if found.witness.least {
            proven(model, &ops, found.stuck, &found.witness.ops);
        }
    }
    convicted
}

/// Writes of different values at the same time, all answered before `read` is sent.
fn crowd<V: Clone + Debug>(values: impl Iterator<Item = V>, read: RegisterOp<V>) -> Vec<Op<RegisterOp<V>>> {
    let writes: Vec<V> = values.collect();
    let size = writes.len();
    let mut ops: Vec<_> = (0..)
        .zip(writes)
        .map(|(at, value)| Op::done(Write(value), at, size + at))
        .collect();
    ops.push(Op::done(read, 2 * size, 2 * size + 1));
    ops
}

#[test]
fn a_phantom_needs_no_search() {
    let ops = crowd(0..40, Read(99));
    assert_eq!(found(&Register { initial: 0 }, &ops), Some(vec![40]), "nobody wrote it");
    let both = found(&UnsetRegister::default(), &ops).expect("it is not what the register began with");
    assert!(both.len() == 2 && both.contains(&40), "{both:?}");
    let searched = limited(&UnsetRegister::default(), &ops, 100_000, usize::MAX, false);
    assert_eq!(searched, Some(Limit::Steps));
    let written = crowd(0..10, Read(7));
    assert_eq!(found(&UnsetRegister::default(), &written), None);
    let searched = search(&UnsetRegister::default(), &written);
    assert!(matches!(searched, SearchOutcome::Linearizable { .. }));
}

#[test]
fn a_value_is_not_read_before_it_is_written_nor_after_it_is_overwritten() {
    let early = [Op::done(Read(1), 0, 1), Op::done(Write(1), 2, 3)];
    assert_eq!(found(&Register { initial: 0 }, &early), Some(vec![0]));
    assert_eq!(
        found(&UnsetRegister::default(), &early),
        None,
        "it may have begun with it"
    );
    let meanwhile = [Op::done(Read(1), 0, 2), Op::done(Write(1), 1, 3)];
    assert_eq!(found(&Register { initial: 0 }, &meanwhile), None);
    let over = [
        Op::done(Write(1), 0, 1),
        Op::done(Write(2), 2, 3),
        Op::done(Cas(1, 3), 4, 5),
    ];
    assert_eq!(found(&UnsetRegister::default(), &over), Some(vec![1, 2]));
    let twice = [Op::unknown(Write(1), 0), over[1].clone(), over[2].clone()];
    assert_eq!(
        found(&UnsetRegister::default(), &twice),
        None,
        "the unknown one may come late"
    );
    let same = [
        Op::done(Write(1), 0, 1),
        Op::done(Write(1), 2, 3),
        Op::done(Read(1), 4, 5),
    ];
    assert_eq!(found(&UnsetRegister::default(), &same), None);
}

#[test]
fn a_compare_and_set_that_failed_denies_a_first_value() {
    let unset = UnsetRegister::default();
    let before = [Op::done(Mismatch(0), 0, 1), Op::done(Read(0), 2, 3)];
    assert_eq!(found(&unset, &before), Some(vec![0, 1]));
    let taken = [before[0].clone(), Op::done(Cas(0, 2), 2, 3)];
    assert_eq!(found(&unset, &taken), Some(vec![0, 1]));
    let meanwhile = [
        Op::done(Mismatch(0), 0, 2),
        Op::unknown(Write(0), 1),
        Op::done(Read(0), 3, 4),
    ];
    assert_eq!(found(&unset, &meanwhile), None, "it was written since");
    let after = [Op::done(Read(0), 0, 1), Op::done(Mismatch(0), 2, 3)];
    assert!(
        matches!(search(&unset, &after), SearchOutcome::Not { stuck: 1 }),
        "nothing wrote another value"
    );
    let together = [Op::done(Mismatch(0), 0, 2), Op::done(Read(0), 1, 3)];
    assert!(matches!(search(&unset, &together), SearchOutcome::Not { .. }));
    let other = [Op::done(Mismatch(0), 0, 2), Op::done(Read(1), 1, 3)];
    assert!(matches!(search(&unset, &other), SearchOutcome::Linearizable { .. }));
}
