//! Holds on their own: the clocks of free time, what is owed before a release, and who has to confirm.

use super::*;
use zooquake_history::plan::Plan;

fn holds(clients: usize) -> Holds {
    Holds::new(clients, NonZeroUsize::MIN)
}

fn run() -> RunContext {
    RunContext::new(Plan::default())
}

fn to_confirm(holds: &Holds) -> Vec<usize> {
    holds.to_confirm().collect()
}

#[test]
fn a_hold_lasts_from_its_grant_to_its_end() {
    let mut holds = holds(2);
    assert_eq!(holds.holder(), None);
    holds.grant(1, "g1", 4);
    assert_eq!((holds.holder(), holds.is_holder_of(1, "g1")), (Some(1), true));
    assert!(!holds.is_holder_of(1, "g2") && holds.excludes(0) && !holds.excludes(1));
    assert!(!holds.is_about_grant(1, 4) && holds.is_about_grant(1, 5));
    assert!(!holds.end(1), "no release waits");
    assert!(!holds.is_holder(1));
}

#[test]
fn all_that_hold_confirm_while_some_exclude_each_other() {
    let mut holds = holds(3);
    let now = Duration::from_secs(1);
    for (client, mode) in [(0, Mode::Shared), (1, Mode::Shared)] {
        holds.ask(client, mode);
        holds.grant(client, "g", 0);
    }
    assert_eq!(to_confirm(&holds), [0; 0]);
    holds.grant(2, "g", 0);
    assert_eq!(to_confirm(&holds), [0, 1, 2]);
    holds.confirm(0, now);
    assert_eq!(holds.confirm_due(0, now), now + CONFIRM_EVERY);
    assert_eq!(holds.confirm_due(1, now), now);
}

#[test]
fn a_release_is_withheld_until_the_debt_is_settled_or_overdue() {
    let (mut run, mut holds) = (run(), holds(2));
    holds.grant(0, "g1", 1);
    assert_eq!(holds.withhold(&run, 0), None, "nothing was healed");
    holds.owe_confirms(&run, 7);
    assert!(!holds.owes(0, 7) && holds.owes(0, 8) && !holds.owes(1, 8));
    let until = run.session() * DEBT_SESSIONS;
    assert_eq!(holds.withhold(&run, 0), Some(until));
    assert_eq!(to_confirm(&holds), [0]);
    run.now = until / 2;
    holds.owe_confirms(&run, 9);
    assert_eq!(holds.withhold(&run, 0), Some(until), "it is put off no further");
    assert!(!holds.could_not_confirm(0) && !holds.must_work(0));
    assert!(holds.could_not_confirm(0) && holds.must_work(0));
    holds.works(0);
    assert!(!holds.must_work(0));
    run.now = until;
    assert_eq!(holds.withhold(&run, 0), None, "it is overdue");
    assert!(holds.settle(0) && !holds.settle(0));
}

#[test]
fn a_clock_runs_only_while_a_grant_of_its_mode_could_be_given() {
    let mut holds = holds(2);
    let second = Duration::from_secs(1);
    holds.ask(1, Mode::Shared);
    holds.pass(second, std::iter::empty());
    assert_eq!((holds.free_time(0), holds.free_time(1)), (second, second));
    holds.grant(1, "g1", 0);
    holds.pass(second, std::iter::empty());
    assert_eq!((holds.free_time(0), holds.free_time(1)), (second, second * 2));
    holds.pass(second, [0].into_iter());
    assert_eq!(holds.free_time(1), second * 2, "a writer waits");
    holds.restart_free_time();
    assert_eq!(holds.free_time(1), Duration::ZERO);
}
