//! Two-phase commits: what happens is written down as a history, and judged as that of a run.

mod bed;
mod end;
mod steps;
mod torture;

use bed::{Bed, Kind, Plan};
use zooquake_workloads::recipes::commit::Vote;

use zooquake_workloads::zk::sim::Fate;

const YES: Vote = Vote::Yes;
const NO: Vote = Vote::No;

#[test]
fn without_faults_each_comes_to_its_decision() {
    for kind in Kind::ALL {
        let bed = Bed::new(kind);
        let plans = [
            Plan::new(&[YES, YES, YES], false),
            Plan::new(&[YES, NO, YES], false),
            Plan::new(&[YES, YES, YES], true),
            Plan::new(&[NO, NO, YES], true),
        ];
        let end = bed.run(&plans);
        assert_eq!(end.kinds(), [""; 0], "{kind:?}: {end:#?}");
        assert_eq!(
            end.decided(),
            ["t1 commit", "t2 abort", "t3 commit", "t4 abort"],
            "{kind:?}"
        );
    }
}

#[test]
fn one_no_is_enough_to_abort_early() {
    for kind in Kind::ALL {
        let bed = Bed::new(kind);
        let plan = Plan::new(&[NO, YES, YES], false).slow("c4", 500);
        let end = bed.run(&[plan]);
        assert_eq!(end.decided(), ["t1 abort"], "{kind:?}");
        let (early, slow) = (end.first("decided", "c2"), end.first("vote", "c4"));
        assert!(early < slow, "{kind:?}: {early:?} is not before {slow:?}");
    }
}

/// T1, and T6 in the words of this recipe.
#[test]
fn an_atomic_decision_whose_reply_was_lost_stands() {
    for fate in [Fate::ReplyLost, Fate::RequestLost] {
        let bed = Bed::new(Kind::Atomic);
        bed.net
            .server()
            .create(0, "/app", b"", zooquake_workloads::zk::CreateMode::Persistent)
            .unwrap();
        for op in ["multi", "set"] {
            bed.net.next(op, fate);
        }
        // The first is the parent's, the second the decision's.
        bed.net.next("create", Fate::Answered);
        bed.net.next("create", fate);
        let end = bed.run(&[Plan::new(&[YES, YES], false)]);
        assert_eq!(end.decided(), ["t1 commit"], "{fate:?}");
        assert_eq!(end.answered(), ["t1 commit"], "{fate:?}");
    }
}

#[test]
fn a_tutorial_coordinator_does_not_guess_an_unknown_outcome() {
    for kind in [Kind::Coordinated, Kind::Ephemeral] {
        let bed = Bed::new(kind);
        // The parent, the transaction, and two sites' znodes.
        for _ in 0..4 {
            bed.net.next("create", Fate::Answered);
        }
        bed.net.next("create", Fate::ReplyLost);
        let end = bed.run(&[Plan::new(&[YES, YES], false)]);
        assert_eq!(end.kinds(), [""; 0], "{kind:?}: {end:#?}");
        assert_eq!(end.answered(), [""; 0], "{kind:?}: it does not know");
        assert_eq!(end.decided(), ["t1 commit"], "{kind:?}: it was written");
    }
}

#[test]
fn a_restarted_site_says_what_it_said() {
    for kind in Kind::ALL {
        let bed = Bed::new(kind);
        let end = bed.run(&[Plan::new(&[YES, NO], false)]);
        assert_eq!(end.decided(), ["t1 abort"]);
        bed.kill("c2");
        bed.pass(5000);
        // Its log has a yes, whatever it is asked now.
        assert_eq!(bed.vote_now("c2", "t1", NO), Some(YES), "{kind:?}");
        assert_eq!(bed.decided_now("c2", "t1"), Some("abort"), "{kind:?}");
    }
}

/// Whoever hears nothing decides in the coordinator's place.
#[test]
fn an_atomic_transaction_outlives_its_coordinator() {
    for (votes, decision) in [(&[YES, YES], "t1 commit"), (&[YES, NO], "t1 abort")] {
        let bed = Bed::new(Kind::Atomic);
        // It dies when the transaction is there, and is never asked to decide.
        let end = bed.run_and(&[Plan::new(votes, true)], |bed| {
            bed.pass(12);
            bed.kill("c1");
        });
        assert_eq!(end.kinds(), [""; 0]);
        assert_eq!(end.decided(), [decision]);
    }
}

/// The coordinator has given up on a vote that came after all, and a site that was cut off counts it.
#[test]
fn whoever_decides_late_finds_the_decision_that_stands() {
    let bed = Bed::new(Kind::Atomic);
    let end = bed.run_and(&[Plan::new(&[YES, YES], false).slow("c3", 2800)], |bed| {
        bed.pass(100);
        let cut_off = bed.sessions()[1];
        bed.net.lose(cut_off, std::time::Duration::from_millis(3400));
    });
    assert_eq!(end.kinds(), [""; 0], "{end:#?}");
    assert_eq!(
        (end.answered(), end.decided()),
        (vec!["t1 abort".to_string()], vec!["t1 abort".to_string()])
    );
}

#[test]
fn a_missing_vote_is_no_yes_for_who_recovers() {
    let bed = Bed::new(Kind::Atomic);
    let end = bed.run_and(&[Plan::new(&[YES, YES], true).slow("c3", 3500)], |bed| {
        bed.pass(12);
        bed.kill("c1");
    });
    assert_eq!(end.kinds(), [""; 0], "{end:#?}");
    assert_eq!(end.decided(), ["t1 abort"]);
}
