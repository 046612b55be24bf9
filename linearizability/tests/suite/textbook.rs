//! Histories written by hand.

use super::search;
use zooquake_linearizability::models::mutex::{LeaseMutex, LeaseOp, Mutex, MutexOp};
use zooquake_linearizability::models::register::Register;
use zooquake_linearizability::models::register::RegisterOp::{Cas, Mismatch, Read, Write};
use zooquake_linearizability::{Model, Op, SearchOutcome};

/// The operation that a search is stuck at, `None` if the history is linearizable.
fn stuck<M: Model>(model: &M, ops: &[Op<M::Input>]) -> Option<usize> {
    match search(model, ops) {
        SearchOutcome::Linearizable { .. } => None,
        SearchOutcome::Not { stuck } => Some(stuck),
        SearchOutcome::GaveUp(limit) => panic!("{limit} ran out"),
    }
}

#[test]
fn an_empty_history_is_linearizable() {
    assert_eq!(stuck(&Register { initial: 0 }, &[]), None);
}

#[test]
fn a_stale_read_is_stuck() {
    let register = Register { initial: 0 };
    let stale = [Op::done(Write(1), 0, 1), Op::done(Read(0), 2, 3)];
    assert_eq!(stuck(&register, &stale), Some(1));
    let concurrent = [Op::done(Write(1), 0, 2), Op::done(Read(0), 1, 3)];
    assert_eq!(stuck(&register, &concurrent), None);
    let flipped = [
        Op::done(Write(1), 0, 5),
        Op::done(Read(1), 1, 2),
        Op::done(Read(0), 3, 4),
    ];
    assert_eq!(stuck(&register, &flipped), Some(2), "new, then old");
}

#[test]
fn an_unknown_write_may_take_effect_late_or_never() {
    let register = Register { initial: 0 };
    let late = [
        Op::unknown(Write(1), 0),
        Op::done(Read(0), 1, 2),
        Op::done(Write(2), 3, 4),
        Op::done(Read(1), 5, 6),
    ];
    assert_eq!(stuck(&register, &late), None);
    assert_eq!(stuck(&register, &late[..3]), None);
    let twice = [
        Op::unknown(Write(1), 0),
        Op::done(Read(1), 1, 2),
        Op::done(Write(2), 3, 4),
        Op::done(Read(1), 5, 6),
    ];
    assert_eq!(stuck(&register, &twice), Some(3), "but not twice");
    let early = [Op::done(Read(1), 0, 1), Op::unknown(Write(1), 2)];
    assert_eq!(stuck(&register, &early), Some(0), "nor before it was invoked");
}

#[test]
fn values_come_back() {
    let register = Register { initial: 0 };
    let ops = [
        Op::done(Cas(0, 1), 0, 1),
        Op::done(Cas(1, 0), 2, 3),
        Op::done(Cas(0, 1), 4, 5),
        Op::done(Read(1), 6, 7),
    ];
    assert_eq!(stuck(&register, &ops), None);
    assert_eq!(stuck(&register, &ops[1..]), Some(0));
    let mismatch = [Op::done(Write(1), 0, 1), Op::done(Mismatch(1), 2, 3)];
    assert_eq!(stuck(&register, &mismatch), Some(1), "it would have matched");
}

#[test]
fn a_write_of_the_same_value_is_no_read() {
    let again = [
        Op::done(Write(2), 0, 2),
        Op::done(Write(0), 1, 3),
        Op::done(Read(0), 4, 5),
    ];
    assert_eq!(stuck(&Register { initial: 0 }, &again), None);
}

#[test]
fn a_mutex_is_held_once() {
    use MutexOp::{Acquire, Release};
    let held_twice = [Op::done(Acquire, 0, 1), Op::done(Acquire, 2, 3)];
    assert_eq!(stuck(&Mutex, &held_twice), Some(1));
    let handed_over = [
        Op::done(Acquire, 0, 1),
        Op::done(Acquire, 2, 5),
        Op::done(Release, 3, 4),
    ];
    assert_eq!(stuck(&Mutex, &handed_over), None);
    let lost_reply = [
        Op::done(Acquire, 0, 1),
        Op::unknown(Release, 2),
        Op::done(Acquire, 3, 4),
    ];
    assert_eq!(stuck(&Mutex, &lost_reply), None);
}

#[test]
fn a_lease_is_lost_without_a_word_but_not_while_its_hold_is_certain() {
    use LeaseOp::{Glimpse, Grant, Release};
    let within = [
        Op::done(Grant(0), 0, 1),
        Op::done(Glimpse, 2, 3),
        Op::done(Release(0), 4, 5),
    ];
    assert_eq!(stuck(&LeaseMutex, &within), Some(1), "both held");
    let over = [
        Op::done(Grant(0), 0, 1),
        Op::done(Release(0), 2, 5),
        Op::done(Glimpse, 3, 4),
    ];
    assert_eq!(stuck(&LeaseMutex, &over), None);
    let lost = [Op::done(Glimpse, 0, 1), Op::done(Glimpse, 2, 3)];
    assert_eq!(stuck(&LeaseMutex, &lost), None, "the first may have been lost");
}
