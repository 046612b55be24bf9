//! Answers to what a replica asked before it was started again.

use super::super::isr_register::{PartitionAnswer, PartitionState};
use super::super::protocol::{Input, Output, Protocol};
use super::{EpochEnd, IsrConfig, IsrDisk, IsrMessage, IsrNode, PartitionEntry, PartitionLog};
use zooquake_history::operation::consensus::Announcement;

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
