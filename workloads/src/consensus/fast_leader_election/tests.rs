//! The election and what follows it: cases of the textbook, and schedules of faults drawn at random.

mod schedule;

use super::{FleBug, FleConfig, FleState, FleVote, MAX_VOTERS, ServerLaunch, ServerStart};
use crate::consensus::protocol::Node;
use crate::consensus::setting::ProtocolSetting;
use crate::consensus::test_network::{NetworkEvent, schedules};
use crate::consensus::variants::variant;
use schedule::{Disturbances, FleSchedule, SECOND};
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::ClusterPlan;

/// Servers of one epoch with these zxids, all started at once.
fn ensemble(zxids: &[u32]) -> FleConfig {
    let start = |zxid| ServerStart {
        epoch: 1,
        zxid,
        launch: ServerLaunch::AtOnce,
    };
    let mut config = FleConfig {
        servers: u8::try_from(zxids.len()).expect("at most eight servers"),
        observers: 0,
        start: [start(0); MAX_VOTERS],
        discovery: true,
        bug: FleBug::None,
    };
    for (place, &zxid) in config.start.iter_mut().zip(zxids) {
        *place = start(zxid);
    }
    config
}

/// Plays an ensemble without faults for some seconds.
fn played(config: FleConfig, seconds: u64) -> FleSchedule {
    let mut schedule = FleSchedule::new(config, 1, Disturbances::default());
    schedule.play(seconds * SECOND);
    schedule
}

fn cast(schedule: &FleSchedule, by: Node) -> Vec<(u8, u32)> {
    let looking = |vote: &&(Node, super::FleNotification)| vote.0 == by && vote.1.state == FleState::Looking;
    let first = schedule.votes.iter().filter(looking).filter(|vote| vote.1.round == 1);
    first.map(|(_, vote)| (vote.vote.sid, vote.vote.zxid)).collect()
}

#[test]
fn a_higher_zxid_or_epoch_wins_over_a_higher_id() {
    assert_eq!(played(ensemble(&[10, 9, 9]), 2).judge.winners(), [0]);
    assert_eq!(played(ensemble(&[9, 9, 9]), 2).judge.winners(), [2]);
    let mut config = ensemble(&[9, 5, 9]);
    config.start[1].epoch = 2;
    let schedule = played(config, 2);
    assert_eq!(schedule.judge.winners(), [1]);
    // The others have adopted the history of the leader, shorter than theirs, in the epoch after the highest.
    let adopted = Announcement::Credentials { epoch: 3, zxid: 5 };
    for node in [0, 2] {
        assert!(
            schedule
                .judge
                .announced
                .iter()
                .any(|&(_, of, what)| of == node && what == adopted)
        );
    }
}

#[test]
fn an_observer_does_not_count_and_follows() {
    let mut config = ensemble(&[1, 1, 1, 50, 50]);
    config.servers = 3;
    config.observers = 2;
    let schedule = played(config, 3);
    assert_eq!(schedule.judge.winners(), [2]);
    assert_eq!(schedule.judge.serving[..5], [Some((2, 2)); 5]);
    config.start[0].launch = ServerLaunch::Never;
    config.start[1].launch = ServerLaunch::Never;
    assert_eq!(played(config, 10).judge.winners(), [] as [Node; 0]);
}

#[test]
fn servers_started_one_after_the_other_elect_the_last_of_the_first_majority() {
    for discovery in [true, false] {
        let mut config = ensemble(&[0; 5]);
        config.discovery = discovery;
        for (place, seconds) in config.start.iter_mut().zip(0..) {
            place.launch = ServerLaunch::After(seconds);
        }
        let mut schedule = FleSchedule::new(config, 1, Disturbances::default());
        schedule.play(SECOND * 2);
        assert_eq!(schedule.judge.winners(), [] as [Node; 0]);
        schedule.play(SECOND * 10);
        assert_eq!(schedule.judge.winners(), [2]);
        let epoch = schedule.judge.serving[2].expect("it leads").1;
        assert_eq!(schedule.judge.serving[..5], [Some((2, epoch)); 5]);
    }
}

#[test]
fn a_leader_without_followers_and_followers_without_a_leader_look_again() {
    for discovery in [true, false] {
        let mut config = ensemble(&[7, 7, 7]);
        config.discovery = discovery;
        let mut schedule = played(config, 2);
        schedule.kill(2 * SECOND, 2, 18 * SECOND);
        schedule.play(8 * SECOND);
        assert_eq!(schedule.judge.winners(), [2, 1]);
        let epoch = schedule.judge.serving[1].expect("it leads").1;
        assert_eq!(schedule.judge.serving[..3], [Some((1, epoch)), Some((1, epoch)), None]);
        schedule.kill(8 * SECOND, 0, 12 * SECOND);
        schedule.play(12 * SECOND);
        assert_eq!(schedule.judge.serving[..3], [None; 3]);
        let resigned = Announcement::Resigned { round: epoch };
        assert!(
            schedule
                .judge
                .announced
                .iter()
                .any(|&(_, node, what)| node == 1 && what == resigned)
        );
        schedule.play(25 * SECOND);
        assert!(schedule.judge.established().is_some());
    }
}

#[test]
fn one_server_or_two_are_an_ensemble_too() {
    for discovery in [true, false] {
        for zxids in [&[3][..], &[3, 3]] {
            let mut config = ensemble(zxids);
            config.discovery = discovery;
            let schedule = played(config, 2);
            assert_eq!(schedule.judge.winners(), [config.servers - 1]);
            assert!(schedule.judge.serving[..zxids.len()].iter().all(Option::is_some));
        }
    }
}

/// So voters are judged by what they had when they voted, not by what they have when the winner announces itself.
#[test]
fn a_paused_winner_counts_voters_that_have_a_later_epoch_by_then() {
    let mut schedule = FleSchedule::new(ensemble(&[9, 9, 9]), 1, Disturbances::default());
    schedule.play(SECOND / 10);
    let (node, long) = (2, 6 * SECOND - SECOND / 10);
    schedule.schedule(SECOND / 10, NetworkEvent::Pause { node, long });
    schedule.play(5 * SECOND);
    assert_eq!(schedule.judge.serving[..3], [Some((1, 2)), Some((1, 2)), None]);
    schedule.play(15 * SECOND);
    assert_eq!(schedule.judge.winners()[..2], [1, 2]);
    assert_eq!((schedule.judge.lesser_now > 0, schedule.judge.lesser_votes), (true, 0));
    assert_eq!(schedule.judge.shared_epochs, 0);
    assert!(schedule.judge.established().is_some());
}

#[test]
fn votes_are_ordered_by_epoch_zxid_and_server() {
    let vote = |epoch, zxid, sid| FleVote { epoch, zxid, sid };
    let ascending = [vote(1, 9, 9), vote(2, 0, 1), vote(2, 0, 2), vote(2, 1, 1)];
    assert!(ascending.is_sorted());
}

/// What came of many schedules.
#[derive(Default, Debug)]
struct ScheduleFigures {
    lesser_votes: usize,
    lesser_now: usize,
    shared_epochs: usize,
    unfounded: usize,
    unsettled: Vec<u64>,
    /// Microseconds after the last fault within which a leader was established.
    slowest: u64,
    steps: u64,
    elections: usize,
}

fn random_schedule(seed: u64, discovery: bool, bug: FleBug) -> (FleSchedule, Disturbances) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut config = ensemble(&[0; 8]);
    config.servers = rng.u8(3..=5);
    config.observers = rng.u8(0..=1);
    config.discovery = discovery;
    config.bug = bug;
    for place in &mut config.start {
        place.epoch = rng.u32(1..=3);
        place.zxid = rng.u32(0..=9);
        if rng.u8(0..8) == 0 {
            place.launch = ServerLaunch::After(1);
        }
    }
    let disturbances = Disturbances {
        loss: [0, 50, 300][rng.usize(0..3)],
        duplication: [0, 100][rng.usize(0..2)],
        lateness: [0, 20, 200][rng.usize(0..3)],
        crash: [0, 3, 30][rng.usize(0..3)],
        faults: rng.u32(0..8),
        until: rng.u64(100_000..5_000_000),
    };
    (FleSchedule::new(config, seed, disturbances), disturbances)
}

fn figures(count: u64, discovery: bool, bug: FleBug) -> ScheduleFigures {
    let mut figures = ScheduleFigures::default();
    for seed in 0..count {
        let (mut schedule, disturbances) = random_schedule(seed, discovery, bug);
        // Faults and what is late by them last 1.6 s longer at most.
        let healed = disturbances.until + 1_600_000;
        match schedule.play_to_leader(healed + 10 * SECOND) {
            Some(at) => figures.slowest = figures.slowest.max(at.saturating_sub(healed)),
            None => figures.unsettled.push(seed),
        }
        figures.lesser_votes += usize::from(schedule.judge.lesser_votes > 0);
        figures.lesser_now += usize::from(schedule.judge.lesser_now > 0);
        figures.shared_epochs += usize::from(schedule.judge.shared_epochs > 0);
        figures.unfounded += usize::from(schedule.judge.unfounded > 0);
        figures.elections += schedule.judge.winners().len();
        figures.steps += schedule.steps;
    }
    figures
}

#[test]
fn no_schedule_lets_a_lesser_vote_win_or_two_servers_lead_an_epoch() {
    let figures = figures(schedules(300), true, FleBug::None);
    println!("with discovery: {figures:?}");
    assert_eq!(
        (figures.lesser_votes, figures.shared_epochs, figures.unfounded),
        (0, 0, 0)
    );
    assert_eq!(figures.unsettled, [] as [u64; 0]);
    assert!(figures.elections > 0);
}

#[test]
fn no_schedule_without_discovery_lets_a_lesser_vote_win() {
    let figures = figures(schedules(300), false, FleBug::None);
    println!("without discovery: {figures:?}");
    assert_eq!((figures.lesser_votes, figures.lesser_now, figures.unfounded), (0, 0, 0));
    assert_eq!(figures.unsettled, [] as [u64; 0]);
}

#[test]
fn votes_compared_without_their_epochs_let_a_lesser_vote_win() {
    for discovery in [true, false] {
        let figures = figures(100, discovery, FleBug::IgnoresEpoch);
        assert!(figures.lesser_votes > 25, "{figures:?}");
    }
}

/// The tutorial's five servers, as this variant `textbook-…` has them.
fn textbook(name: &str, observers: usize) -> FleConfig {
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
    let schedule = played(textbook("textbook-election", 0), 2);
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
    let schedule = played(textbook("textbook-higher-zxid", 0), 2);
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
    let schedule = played(textbook("textbook-election", 1), 3);
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
    let mut schedule = played(textbook("textbook-one-by-one", 0), 1);
    assert_eq!(schedule.judge.winners(), [] as [Node; 0]);
    schedule.play(SECOND * 10);
    assert_eq!(schedule.judge.winners(), [2]);
    let epoch = schedule.judge.serving[2].expect("it leads").1;
    assert_eq!(schedule.judge.serving[..5], [Some((2, epoch)); 5]);
}
