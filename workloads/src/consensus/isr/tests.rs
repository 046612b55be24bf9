use super::super::isr_register::{PartitionAnswer, PartitionState};
use super::super::protocol::{Input, Node, NodeSet, Output, Protocol};
use super::super::test_network::{FaultKinds, NetworkEvent, PublicEvent, VirtualNetwork, schedules};
use super::{EpochEnd, IsrBug, IsrConfig, IsrDisk, IsrMessage, IsrNode, PartitionEntry, PartitionLog};
use std::collections::BTreeSet;
use zooquake_history::operation::consensus::Announcement;

/// What a record comes to.
struct LogOutcome {
    /// Messages that producers have an acknowledgement of.
    answered: BTreeSet<u32>,
    /// The leader of the highest epoch.
    leader: Option<Node>,
    /// The values in its log, by what was made public.
    log: Vec<Option<u32>>,
    /// Whether every other replica follows it in its epoch.
    followed: bool,
}

impl LogOutcome {
    fn read(record: &[PublicEvent], replicas: Node) -> Self {
        let mut answered = BTreeSet::new();
        let mut logs = vec![Vec::new(); replicas.into()];
        let mut last = vec![None; replicas.into()];
        let (mut epoch, mut leader) = (0, None);
        for &(_, node, event) in record {
            match event {
                Some(Announcement::Answered { value }) => drop(answered.insert(value)),
                Some(Announcement::Stored { offset, value, .. }) => {
                    let (log, offset) = (&mut logs[usize::from(node)], offset as usize);
                    log.resize(log.len().max(offset + 1), None);
                    log[offset] = Some(value);
                }
                Some(Announcement::Truncated { offset }) => logs[usize::from(node)].truncate(offset as usize),
                Some(Announcement::Leading { round }) if round > epoch => (epoch, leader) = (round, Some(node)),
                Some(Announcement::Leading { round }) => assert!(round < epoch, "{round} has one leader process"),
                _ => {}
            }
            let standing = matches!(
                event,
                Some(Announcement::Stored { .. } | Announcement::Truncated { .. })
            );
            if node < replicas && !standing {
                last[usize::from(node)] = event;
            }
        }
        let follows = |node: Node| match last[usize::from(node)] {
            Some(Announcement::Leading { round }) => Some(node) == leader && round == epoch,
            Some(Announcement::Following { leader: other, round }) => Some(other) == leader && round == epoch,
            _ => false,
        };
        let log = leader
            .map(|leader| logs[usize::from(leader)].clone())
            .unwrap_or_default();
        Self {
            answered,
            leader,
            log,
            followed: (0..replicas).all(follows),
        }
    }

    /// Acknowledged messages that are not in the last leader's log.
    fn lost(&self) -> Vec<u32> {
        self.answered
            .iter()
            .copied()
            .filter(|&value| !self.log.contains(&Some(value)))
            .collect()
    }
}

/// Until when faults happen, in microseconds.
const FAULTY: u64 = 3_000_000;
/// When the last requests come, some time after the faults, and when a run ends.
const LATE: u64 = FAULTY + 4_000_000;
const END: u64 = LATE + 1_500_000;
/// Requests of a run while faults happen, and late ones.
const EARLY_REQUESTS: u32 = 8;
const LATE_REQUESTS: u32 = 2;

type PartitionNetwork = VirtualNetwork<IsrNode>;

fn log_of(network: &PartitionNetwork, node: Node) -> Option<&PartitionLog> {
    match network.machine(node)? {
        IsrNode::Replica(replica) => Some(&replica.log),
        _ => None,
    }
}

fn play(config: IsrConfig, faults: FaultKinds, seed: u64) -> (PartitionNetwork, LogOutcome) {
    let mut network = PartitionNetwork::new(config, faults, FAULTY, seed);
    for value in 1..=EARLY_REQUESTS + LATE_REQUESTS {
        let late = if value > EARLY_REQUESTS { LATE } else { 0 };
        let at = late + network.random.u64(..if late > 0 { 100_000 } else { FAULTY });
        let producer = config.register() + 1 + network.random.u8(..config.producers);
        network.request(at, producer, value);
    }
    network.play(if faults.slow_links { END + 15_000_000 } else { END });
    let outcome = LogOutcome::read(&network.record, config.replicas);
    let leader = outcome.leader.expect("the first leader at least");
    let log = log_of(&network, leader).expect("all replicas run again");
    let public: Vec<u32> = outcome.log.iter().map(|value| value.expect("no gap")).collect();
    let values: Vec<u32> = log.entries().iter().map(|entry| entry.value).collect();
    assert_eq!(public, values, "seed {seed}: what is public is what the leader has");
    (network, outcome)
}

/// How many of a number of schedules lost a message. Each heals: its late requests are answered.
fn losses(config: impl Fn(u64) -> IsrConfig, faults: FaultKinds, number: u64) -> u64 {
    let mut found = 0;
    for seed in 0..number {
        let (network, outcome) = play(config(seed), faults, seed);
        assert!(outcome.followed, "seed {seed}: {:#?}", network.record);
        let late = EARLY_REQUESTS + 1..=EARLY_REQUESTS + LATE_REQUESTS;
        let missing: Vec<u32> = late.filter(|value| !outcome.answered.contains(value)).collect();
        assert!(missing.is_empty(), "seed {seed}: {:#?}", network.record);
        found += u64::from(!outcome.lost().is_empty());
    }
    println!("{faults:?}: {found} of {number}");
    found
}

/// Two replicas and three by turns, with a minimum of one and two.
fn clean(seed: u64) -> IsrConfig {
    let replicas = if seed.is_multiple_of(2) { 2 } else { 3 };
    IsrConfig {
        min_insync: if seed % 4 < 2 { 1 } else { 2 },
        ..IsrConfig::clean(replicas, 2)
    }
}

#[test]
fn clean_elections_with_disks_written_first_lose_no_acknowledged_message() {
    let none = FaultKinds::default();
    let alone = [
        FaultKinds { loss: true, ..none },
        FaultKinds {
            duplicates: true,
            ..none
        },
        FaultKinds {
            partitions: true,
            ..none
        },
        FaultKinds { pauses: true, ..none },
        FaultKinds::KILLS,
    ];
    for faults in alone {
        assert_eq!(losses(clean, faults, schedules(60)), 0);
    }
    assert_eq!(losses(clean, FaultKinds::ALL, schedules(300)), 0);
    let slow = FaultKinds {
        slow_links: true,
        ..FaultKinds::ALL
    };
    assert_eq!(losses(clean, slow, schedules(60)), 0);
}

#[test]
fn the_replica_0_leads_first_and_a_message_is_acknowledged_when_all_have_it() {
    let (network, outcome) = play(IsrConfig::clean(3, 1), FaultKinds::default(), 1);
    assert_eq!(
        (outcome.leader, outcome.followed, outcome.lost()),
        (Some(0), true, vec![])
    );
    assert_eq!(outcome.answered.len() as u32, EARLY_REQUESTS + LATE_REQUESTS);
    for value in &outcome.answered {
        let answer = network
            .record
            .iter()
            .position(|event| event.2 == Some(Announcement::Answered { value: *value }));
        let copies = network.record[..answer.expect("answered")]
            .iter()
            .filter(|event| matches!(event.2, Some(Announcement::Stored { value: stored, .. }) if stored == *value));
        assert_eq!(copies.count(), 3);
    }
    assert!(
        !network
            .record
            .iter()
            .any(|event| matches!(event.2, Some(Announcement::Truncated { .. })))
    );
}

#[test]
fn unclean_elections_late_writes_and_a_leader_out_of_sync_lose_acknowledged_messages() {
    let unclean = |seed| IsrConfig {
        unclean: true,
        min_insync: 1,
        ..clean(seed)
    };
    let late = |seed| IsrConfig {
        write_before_ack: false,
        ..clean(seed)
    };
    let outsider = |seed| IsrConfig {
        bug: IsrBug::LeaderOutsideIsr,
        min_insync: 1,
        ..clean(seed)
    };
    assert_ne!(losses(unclean, FaultKinds::ALL, schedules(300)), 0);
    assert_ne!(losses(late, FaultKinds::KILLS, schedules(300)), 0);
    assert_ne!(losses(outsider, FaultKinds::ALL, schedules(300)), 0);
    assert_eq!(
        losses(outsider, FaultKinds::default(), schedules(60)),
        0,
        "the twin looks like a correct one"
    );
}

/// The same crash of two replicas of three at once, with and without disks that are written first.
#[test]
fn messages_that_no_disk_has_are_lost_with_the_processes() {
    for (write_before_ack, lost) in [(true, 0), (false, 1)] {
        let config = IsrConfig {
            write_before_ack,
            ..IsrConfig::clean(3, 1)
        };
        let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, 3);
        network.request(1_000_000, 4, 1);
        for node in 0..3 {
            network.kill(1_150_000, node, 10_000);
        }
        network.play(3_000_000);
        let outcome = LogOutcome::read(&network.record, 3);
        assert!(outcome.answered.contains(&1) && outcome.followed);
        assert_eq!(outcome.lost().len(), lost);
    }
}

/// Where a majority needs three nodes to survive one loss and five to survive two.
#[test]
fn two_in_sync_replicas_survive_one_loss_and_three_survive_two() {
    for replicas in [2, 3] {
        let config = IsrConfig::clean(replicas, 1);
        let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, replicas.into());
        for round in 0..replicas {
            let begin = 500_000 + 2_500_000 * u64::from(round);
            network.request(begin, config.register() + 1, u32::from(round) + 1);
            network.play(begin + 500_000);
            let outcome = LogOutcome::read(&network.record, replicas);
            assert_eq!(outcome.answered.len(), usize::from(round) + 1, "all are acknowledged");
            assert!(outcome.lost().is_empty());
            if round + 1 < replicas {
                network.kill(begin + 500_000, outcome.leader.expect("a leader"), u64::MAX);
            }
        }
        let crashed = network.record.iter().filter(|event| event.2.is_none()).count();
        assert_eq!(crashed, usize::from(replicas) - 1);
    }
}

/// A minimum of two keeps a leader that is alone from acknowledging, and a minimum of one does not.
#[test]
fn a_leader_alone_acknowledges_if_the_minimum_lets_it() {
    for (min_insync, answered) in [(1, true), (2, false)] {
        let config = IsrConfig {
            min_insync,
            ..IsrConfig::clean(2, 1)
        };
        let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, 5);
        network.kill(500_000, 1, u64::MAX);
        network.request(2_000_000, 3, 7);
        network.play(4_000_000);
        assert_eq!(LogOutcome::read(&network.record, 2).answered.contains(&7), answered);
    }
}

#[test]
fn a_deposed_leader_acknowledges_nothing_and_cuts_its_log_off() {
    let config = IsrConfig::clean(3, 2);
    let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, 2);
    // Leader 0 and producer 4 on one side, the register on the other.
    network.cut(1_000_000, [0, 4].into_iter().collect::<NodeSet>());
    network.request(1_100_000, 4, 1);
    network.request(2_500_000, 5, 2);
    network.play(2_900_000);
    let cut = LogOutcome::read(&network.record, 3);
    assert_eq!(cut.answered, BTreeSet::from([2]));
    assert_ne!(cut.leader, Some(0));
    network.cut(3_000_000, NodeSet::EMPTY);
    network.play(5_000_000);
    let whole = LogOutcome::read(&network.record, 3);
    let truncated = (0, Some(Announcement::Truncated { offset: 0 }));
    assert!(
        network
            .record
            .iter()
            .any(|&(_, node, event)| (node, event) == truncated)
    );
    assert_eq!((whole.answered, whole.followed), (BTreeSet::from([1, 2]), true));
}

/// The leader 0 of a partition of three with a message that nobody has fetched from it, and a later leader with others:
/// the logs of both when 0 has followed for a while.
fn logs_after_a_deposition(bug: IsrBug) -> [Vec<u32>; 2] {
    let config = IsrConfig {
        bug,
        ..IsrConfig::clean(3, 2)
    };
    let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, 2);
    network.cut(1_000_000, [0, 4].into_iter().collect::<NodeSet>());
    network.request(1_100_000, 4, 1);
    for value in 2..=4 {
        network.request(2_500_000, 5, value);
    }
    network.play(2_900_000);
    let later = LogOutcome::read(&network.record, 3).leader.expect("a leader");
    assert_ne!(later, 0);
    network.cut(3_000_000, NodeSet::EMPTY);
    network.play(5_000_000);
    [0, later].map(|node| {
        let log = log_of(&network, node).expect("all replicas run");
        log.entries().iter().map(|entry| entry.value).collect()
    })
}

#[test]
fn a_deposed_leader_keeps_its_tail_only_with_the_bug() {
    let [deposed, later] = logs_after_a_deposition(IsrBug::None);
    assert_eq!(deposed, later);
    let [deposed, later] = logs_after_a_deposition(IsrBug::KeepsTail);
    assert_eq!(
        (deposed[0], later[0], deposed.len()),
        (1, 2, later.len()),
        "{deposed:?} {later:?}"
    );
    assert_eq!(deposed[1..], later[1..], "it has fetched what comes after");
}

/// The leader is frozen while it is asked for a message, and its follower asks it again and again.
#[test]
fn an_entry_that_is_fetched_twice_is_stored_twice_only_with_the_bug() {
    for (bug, same) in [(IsrBug::None, true), (IsrBug::IgnoresOffset, false)] {
        let config = IsrConfig {
            bug,
            ..IsrConfig::clean(2, 1)
        };
        let mut network = PartitionNetwork::new(config, FaultKinds::default(), 0, 2);
        let pause = NetworkEvent::Pause { node: 0, long: 600_000 };
        network.schedule(1_000_000, pause);
        network.request(1_010_000, 3, 1);
        network.request(1_900_000, 3, 2);
        network.play(3_000_000);
        let logs = [0, 1].map(|node| *log_of(&network, node).expect("both run"));
        assert_eq!(logs[0] == logs[1], same, "{logs:?}");
    }
}

/// The register's answer to a process that has died, with a leader that is deposed by now.
#[test]
fn a_restarted_replica_follows_no_leader_of_an_epoch_before_that_on_its_disk() {
    let config = IsrConfig::clean(2, 1);
    let state = |epoch| PartitionState {
        leader: 0,
        epoch,
        version: epoch + 1,
        ..PartitionState::initial(2)
    };
    let answer = |epoch| Input::Receive {
        from: config.register(),
        message: IsrMessage::Answer(PartitionAnswer::State(state(epoch))),
    };
    let mut first = IsrNode::boot(&config, 1, &IsrNode::new_disk(&config, 1));
    first.step(Input::Start);
    let outputs = first.step(answer(2));
    let mut disks = outputs.iter().filter_map(|output| match output {
        Output::Write(disk) => Some(*disk),
        _ => None,
    });
    let disk = disks
        .next_back()
        .expect("the epoch is written before the leader is asked");
    let mut second = IsrNode::boot(&config, 1, &disk);
    second.step(Input::Start);
    assert_eq!(second.step(answer(1)), []);
    let asks = |output: &_| {
        matches!(
            output,
            Output::Send {
                to: 0,
                message: IsrMessage::AskEpochEnd { epoch: 2, .. }
            }
        )
    };
    assert!(second.step(answer(2)).iter().any(asks));
}

/// The leader's answer to a process that has died, when the log was empty.
#[test]
fn a_replica_cuts_nothing_off_by_an_answer_to_what_its_log_was_before() {
    let config = IsrConfig::clean(2, 1);
    let mut log = PartitionLog::default();
    assert!(log.append(PartitionEntry {
        value: 7,
        epoch: 1,
        producer: 3
    }));
    let mut node = IsrNode::boot(
        &config,
        1,
        &IsrDisk::Replica {
            log,
            asked: 0,
            epoch: 1,
        },
    );
    node.step(Input::Start);
    let state = PartitionState {
        epoch: 1,
        version: 2,
        ..PartitionState::initial(2)
    };
    let message = IsrMessage::Answer(PartitionAnswer::State(state));
    node.step(Input::Receive {
        from: config.register(),
        message,
    });
    let answer = |log: EpochEnd| {
        let message = IsrMessage::EpochEnd {
            epoch: 1,
            log,
            leader: log,
        };
        Input::Receive { from: 0, message }
    };
    assert_eq!(node.step(answer(PartitionLog::default().last())), []);
    let following = Output::Announce(Announcement::Following { leader: 0, round: 1 });
    assert!(node.step(answer(log.last())).contains(&following));
}
