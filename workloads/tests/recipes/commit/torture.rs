//! Faults at every step, and many at once: `commit/atomic` shows no anomaly, the tutorial's block at most.

use std::time::Duration;

use zooquake_checkers::EventType;

use super::bed::{Bed, Kind, Plan};
use super::end::End;
use super::{NO, YES};
use zooquake_workloads::zk::sim::Fate;

/// A small generator of pseudorandom numbers (Steele, Lea, Flood: SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % bound
    }
}

/// No anomaly but those that the variant is known for. Tells whether something blocked.
#[track_caller]
fn judge(kind: Kind, end: &End, what: &str) -> bool {
    let blocked = end.kinds().contains(&"blocked-transaction");
    let known = |anomaly: &&str| kind != Kind::Atomic && *anomaly == "blocked-transaction";
    let unknown: Vec<&str> = end.kinds().into_iter().filter(|anomaly| !known(anomaly)).collect();
    assert!(
        unknown.is_empty(),
        "{kind:?}, {what}: {:#?}\n{}",
        end.results,
        told(end)
    );
    blocked
}

fn told(end: &End) -> String {
    let line = |event: &zooquake_checkers::Event| {
        let node = event.node.as_deref().unwrap_or_default();
        let error = event.error.as_deref().unwrap_or_default();
        format!(
            "{} {:?} {node} {:?} {} {} {error}\n",
            event.index,
            Duration::from_nanos(event.time),
            event.kind,
            event.f,
            event.value
        )
    };
    end.record.history.events.iter().map(line).collect()
}

#[test]
fn killed_at_each_moment() {
    for kind in Kind::ALL {
        let mut blocked = 0;
        for victim in ["c1", "c2", "c3"] {
            for moment in 0..24 {
                for (votes, late) in [([YES, YES], moment % 2 == 0), ([YES, NO], moment % 2 == 1)] {
                    let bed = Bed::new(kind);
                    let end = bed.run_and(&[Plan::new(&votes, late)], |bed| {
                        bed.pass(moment);
                        bed.kill(victim);
                    });
                    blocked += usize::from(judge(kind, &end, &format!("{victim} killed at {moment} ms")));
                }
            }
        }
        assert_eq!(blocked > 0, kind != Kind::Atomic, "{kind:?}: {blocked}");
    }
}

#[test]
fn each_request_lost_once() {
    for kind in Kind::ALL {
        for op in ["create", "multi", "set", "get", "exists", "children"] {
            for nth in 0..7 {
                for fate in [Fate::ReplyLost, Fate::RequestLost] {
                    let bed = Bed::new(kind);
                    for _ in 0..nth {
                        bed.net.next(op, Fate::Answered);
                    }
                    bed.net.next(op, fate);
                    let end = bed.run(&[Plan::new(&[YES, YES], nth % 2 == 0)]);
                    judge(kind, &end, &format!("{op} {nth} {fate:?}"));
                }
            }
        }
    }
}

/// Expired while it is connected to nobody, at each moment.
#[test]
fn each_session_lost_at_each_moment() {
    for kind in Kind::ALL {
        for victim in 0..3 {
            for moment in (3..24).step_by(2) {
                let bed = Bed::new(kind);
                let end = bed.run_and(&[Plan::new(&[YES, YES], false)], |bed| {
                    bed.pass(moment);
                    if let Some(&session) = bed.sessions().get(victim) {
                        bed.expire(session);
                    }
                });
                judge(kind, &end, &format!("{victim} expires at {moment}"));
            }
        }
    }
}

#[test]
fn many_faults_at_once() {
    for kind in Kind::ALL {
        let (mut commits, mut aborts) = (0, 0);
        for seed in 0..40 {
            let mut dice = Dice(seed);
            let plans: Vec<Plan> = (0..6)
                .map(|_| {
                    let votes: Vec<_> = (0..3).map(|_| if dice.below(5) == 0 { NO } else { YES }).collect();
                    Plan::new(&votes, dice.below(2) == 0)
                })
                .collect();
            let bed = Bed::new(kind);
            let end = bed.run_and(&plans, |bed| {
                for _ in 0..25 {
                    bed.pass(dice.below(400));
                    hurt(bed, &mut dice);
                }
                bed.net.server().script.clear();
            });
            judge(kind, &end, &format!("seed {seed}"));
            let of = |word: &str| end.decided().iter().filter(|told| told.ends_with(word)).count();
            (commits, aborts) = (commits + of("commit"), aborts + of("abort"));
            if kind == Kind::Atomic {
                let begun = |event: &&zooquake_checkers::Event| event.f == "begin" && event.kind == EventType::Ok;
                let begun = end.record.history.events.iter().filter(begun).count();
                assert!(end.decided().len() >= begun, "seed {seed}: {begun} began");
            }
        }
        assert!(commits > 20 && aborts > 20, "{kind:?}: {commits} {aborts}");
    }
}

fn hurt(bed: &Bed, dice: &mut Dice) {
    bed.net.server().late = Some(dice.below(2) == 0);
    let fate = if dice.below(2) == 0 {
        Fate::ReplyLost
    } else {
        Fate::RequestLost
    };
    let sessions = bed.sessions();
    let session = sessions.get(dice.below(sessions.len().max(1) as u64) as usize);
    match dice.below(9) {
        0..2 => bed.kill(["c1", "c2", "c3", "c4"][dice.below(4) as usize]),
        2 => session.into_iter().for_each(|&session| bed.expire(session)),
        3 => {
            let time = Duration::from_millis(dice.below(1500));
            session.into_iter().for_each(|&session| bed.net.lose(session, time));
        }
        4 => bed.net.next("create", fate),
        5 => bed.net.next("set", fate),
        6 => bed.net.next("multi", fate),
        7 => bed.net.next("get", fate),
        _ => bed.net.next("exists", fate),
    }
}
