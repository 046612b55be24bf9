//! The tutorial's five servers, as the variants `textbook-…` have them.

use super::super::FleConfig;
use super::schedule::{FleSchedule, SECOND};
use super::{cast, played};
use crate::consensus::protocol::Node;
use crate::consensus::setting::ProtocolSetting;
use crate::consensus::variants::variant;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ClusterPlan;

fn config(name: &str, observers: usize) -> FleConfig {
    let cluster = ClusterPlan {
        servers: 5,
        observers,
        clients: 0,
        ..ClusterPlan::default()
    };
    let variant = variant(name).expect("a variant");
    variant.check(&cluster).expect("its cluster");
    match variant.setting(7, &cluster) {
        ProtocolSetting::FastLeaderElection(config) => config,
        other => panic!("{other:?}"),
    }
}

/// Whether this server won with these voters, as bits.
fn is_elected(schedule: &FleSchedule, server: Node, voters: u32) -> bool {
    let elected = Announcement::Elected { round: 1, voters };
    let mut announced = schedule.judge.announced.iter();
    announced.any(|&(_, node, what)| node == server && what == elected)
}

#[test]
fn the_textbook_case_elects_the_server_with_the_latest_transaction() {
    let schedule = played(config("textbook-election", 0), 2);
    assert_eq!(cast(&schedule, 2), [(3, 9)]);
    assert_eq!((cast(&schedule, 3)[0], cast(&schedule, 4)[0]), ((4, 8), (5, 8)));
    assert_eq!(cast(&schedule, 3).last(), Some(&(3, 9)));
    assert_eq!(cast(&schedule, 4).last(), Some(&(3, 9)));
    assert_eq!(schedule.judge.winners(), [2]);
    assert_eq!(schedule.judge.serving[2..5], [Some((2, 2)); 3]);
    assert!(is_elected(&schedule, 2, 0b1_1100));
}

#[test]
fn a_higher_zxid_wins_over_the_highest_id() {
    let schedule = played(config("textbook-higher-zxid", 0), 2);
    assert_eq!(schedule.judge.winners(), [3]);
    assert_eq!(
        (cast(&schedule, 2).last(), cast(&schedule, 4).last()),
        (Some(&(4, 10)), Some(&(4, 10)))
    );
    assert_eq!(cast(&schedule, 3), [(4, 10)]);
    assert_eq!(schedule.judge.serving[2..5], [Some((3, 2)); 3]);
}

#[test]
fn an_observer_that_would_win_by_its_id_follows_and_has_no_vote() {
    let schedule = played(config("textbook-election", 1), 3);
    assert_eq!(schedule.judge.winners(), [2]);
    assert!(is_elected(&schedule, 2, 0b1_1100));
    assert!(
        schedule.votes.iter().all(|(_, vote)| vote.vote.sid != 6),
        "nobody votes for it"
    );
    assert_eq!(schedule.judge.serving[2..6], [Some((2, 2)); 4]);
}

#[test]
fn servers_that_start_one_after_the_other_elect_the_third() {
    let mut schedule = played(config("textbook-one-by-one", 0), 1);
    assert_eq!(schedule.judge.winners(), [] as [Node; 0]);
    schedule.play(SECOND * 10);
    assert_eq!(schedule.judge.winners(), [2]);
    let epoch = schedule.judge.serving[2].expect("it leads").1;
    assert_eq!(schedule.judge.serving[..5], [Some((2, epoch)); 5]);
}
