use super::super::protocol::{Input, Node, NodeSet, Output, Protocol};
use super::super::test_network::{FaultKinds, PublicEvent, VirtualNetwork, schedules};
use super::{Zen, ZenConfig, ZenMessage};
use zooquake_history::operation::consensus::Announcement;

/// Until when faults happen, in microseconds.
const FAULTY: u64 = 8_000_000;

/// Whether two nodes lead at one instant.
fn two_lead(record: &[PublicEvent]) -> bool {
    let mut leaders = NodeSet::EMPTY;
    record.iter().any(|&(_, node, event)| {
        match event {
            Some(Announcement::Leading { .. }) => drop(leaders.insert(node)),
            Some(Announcement::Resigned { .. }) | None => leaders.remove(node),
            _ => {}
        }
        leaders.len() > 1
    })
}

/// The one leader at the end of a record that every other node follows.
fn followed_leader(record: &[PublicEvent], nodes: Node) -> Option<Node> {
    let mut last = vec![None; nodes.into()];
    for &(_, node, event) in record {
        last[usize::from(node)] = event;
    }
    let leads = |event: &Option<Announcement>| matches!(event, Some(Announcement::Leading { .. }));
    let chief = last.iter().position(leads)?;
    let follows = |(node, event): (usize, &Option<Announcement>)| match event {
        Some(Announcement::Following { leader, .. }) => usize::from(*leader) == chief,
        _ => node == chief,
    };
    let all = last.iter().enumerate().all(follows);
    all.then(|| chief.try_into().expect("a node"))
}

fn play(config: ZenConfig, faults: FaultKinds, seed: u64) -> VirtualNetwork<Zen> {
    let mut network = VirtualNetwork::new(config, faults, FAULTY, seed);
    network.play(FAULTY + 20_000_000);
    network
}

/// Plays schedules of 3, 4, and 5 nodes by turns; how many had two leaders. Those with a majority heal.
fn split(number: u64, faults: FaultKinds, config: fn(Node) -> ZenConfig) -> u64 {
    let nodes = |seed: u64| [3, 4, 5][usize::try_from(seed % 3).expect("small")];
    let found = (0..number).filter(|&seed| {
        let nodes = nodes(seed);
        let network = play(config(nodes), faults, seed);
        if config(nodes) == ZenConfig::with_majority(nodes) {
            assert!(
                followed_leader(&network.record, nodes).is_some(),
                "seed {seed}: {:?}",
                network.record
            );
        }
        two_lead(&network.record)
    });
    found.count().try_into().expect("a number of schedules")
}

fn without_quorum(nodes: Node) -> ZenConfig {
    ZenConfig { nodes, minimum: 1 }
}

#[test]
fn the_lowest_id_is_master_and_all_others_follow() {
    for (nodes, seed) in [(1, 1), (2, 2), (3, 3), (5, 4), (8, 5)] {
        let network = play(ZenConfig::with_majority(nodes), FaultKinds::default(), seed);
        assert_eq!(followed_leader(&network.record, nodes), Some(0));
        let (at, ..) = network
            .record
            .iter()
            .find(|event| matches!(event.2, Some(Announcement::Leading { .. })))
            .unwrap();
        assert!(*at < 2_200_000, "{at}");
        let resigned = network
            .record
            .iter()
            .any(|event| matches!(event.2, Some(Announcement::Resigned { .. })));
        assert!(!resigned && !two_lead(&network.record));
    }
}

#[test]
fn without_faults_and_with_kills_alone_no_two_nodes_lead_at_once() {
    let none = FaultKinds::default();
    let slow = FaultKinds {
        slow_links: true,
        ..none
    };
    let slow_kills = FaultKinds {
        slow_links: true,
        ..FaultKinds::KILLS
    };
    for faults in [none, slow, FaultKinds::KILLS, slow_kills] {
        assert_eq!(split(schedules(100), faults, ZenConfig::with_majority), 0, "{faults:?}");
    }
}

#[test]
fn a_master_that_stands_still_leads_beside_its_successor() {
    let faults = FaultKinds {
        pauses: true,
        ..FaultKinds::default()
    };
    assert_ne!(split(schedules(200), faults, ZenConfig::with_majority), 0);
}

#[test]
fn whatever_happens_one_master_is_followed_by_all_after_healing() {
    let faults = FaultKinds::ALL;
    println!(
        "{} of {}",
        split(schedules(100), faults, ZenConfig::with_majority),
        schedules(100)
    );
    let faults = FaultKinds {
        slow_links: true,
        ..faults
    };
    println!(
        "{} of {}",
        split(schedules(100), faults, ZenConfig::with_majority),
        schedules(100)
    );
}

#[test]
fn with_a_minimum_of_one_a_partition_leaves_two_masters_for_good() {
    let mut network = VirtualNetwork::<Zen>::new(without_quorum(4), FaultKinds::default(), 0, 7);
    let halves = [NodeSet::range(0..2), NodeSet::EMPTY];
    network.cut(3_000_000, halves[0]);
    network.cut(9_000_000, halves[1]);
    network.play(15_000_000);
    assert!(two_lead(&network.record));
    assert_eq!(
        followed_leader(&network.record, 4),
        None,
        "the halves do not find each other again"
    );
    let partitions = FaultKinds {
        partitions: true,
        ..FaultKinds::default()
    };
    let found = split(schedules(100), partitions, without_quorum);
    assert!(found > schedules(100) / 20);
}

#[test]
fn a_master_below_its_minimum_resigns_and_the_other_half_elects_the_lowest_of_its_own() {
    let mut network = VirtualNetwork::<Zen>::new(ZenConfig::with_majority(5), FaultKinds::default(), 0, 1);
    network.cut(3_000_000, NodeSet::range(0..2));
    network.play(9_000_000);
    let resigned = network
        .record
        .iter()
        .position(|&(_, node, event)| node == 0 && matches!(event, Some(Announcement::Resigned { round: 1 })));
    assert!(resigned.is_some());
    let leading = (2, Some(Announcement::Leading { round: 1 }));
    assert!(network.record.iter().any(|&(_, node, event)| (node, event) == leading));
}

#[test]
fn a_restarted_node_is_another_one_to_its_master() {
    let config = ZenConfig::with_majority(3);
    let mut node = Zen::boot(&config, 1, &Zen::new_disk(&config, 1));
    let first = node.step(Input::Start);
    let Some(Output::Write(disk)) = first.first() else {
        panic!("{first:?}")
    };
    let mut second = Zen::boot(&config, 1, disk);
    second.step(Input::Start);
    let vote = Input::Receive {
        from: 2,
        message: ZenMessage::Join {
            process: 1,
            candidate: 1,
        },
    };
    node.step(vote);
    second.step(vote);
    assert_eq!(
        (node.members.len(), second.members.len()),
        (1, 0),
        "the vote was for the first process"
    );
}
