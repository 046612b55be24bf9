//! Each disturbance is seen from inside the nodes, and so is its healing.

use crate::disturbance::{Disturbance, DisturbanceKind};
use crate::observer::{Observer, Transmission};
use crate::play::play;
use crate::scenario::{Pace, Scenario};
use crate::script::NodeStep;
use crate::transit::Transit;
use crate::world::World;
use fastrand::Rng;
use std::ops::{ControlFlow, Range};
use zooquake_history::MessageRecord;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::plan::{ConsensusGoal, Plan};
use zooquake_workloads::consensus::protocol::{
    Input, InputOf, MessageFigure, Node, NodeRole, NodeSet, Output, OutputOf, Protocol,
};

/// Node 0 sends a number to node 1 every 10 ms, the next one each time, and node 1 makes each public. Node 0 has the
/// next number on its disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CountingNode {
    node: Node,
    next: u32,
}

impl Protocol for CountingNode {
    type Config = ();
    type Message = u32;
    type Timer = ();
    type Disk = u32;

    fn roles((): &()) -> Vec<NodeRole> {
        vec![
            NodeRole {
                name: "node",
                client: false
            };
            2
        ]
    }

    fn new_disk((): &(), _: Node) -> u32 {
        1
    }

    fn boot((): &(), node: Node, disk: &u32) -> Self {
        Self { node, next: *disk }
    }

    fn step(&mut self, input: InputOf<Self>) -> Vec<OutputOf<Self>> {
        match input {
            Input::Start if self.node == 0 => vec![Output::SetTimer(())],
            Input::Timer(()) => {
                let message = self.next;
                self.next += 1;
                vec![
                    Output::Write(self.next),
                    Output::Send { to: 1, message },
                    Output::SetTimer(()),
                ]
            }
            Input::Receive { message, .. } => vec![Output::Announce(Announcement::Looking { round: message })],
            Input::Start | Input::Request(_) => Vec::new(),
        }
    }

    fn duration((): ()) -> Range<u32> {
        10_000..10_001
    }

    fn figure(message: &u32) -> MessageFigure {
        MessageFigure {
            kind: "number",
            detail: message.to_string(),
            round: None,
        }
    }
}

/// What node 1 made public, with the moments in milliseconds, and what each disturbance hit.
#[derive(Debug, Default, PartialEq)]
struct CountingObserver {
    numbers: Vec<(u32, u32)>,
    hits: Vec<(usize, u32)>,
    copies: usize,
}

impl Observer<CountingNode> for CountingObserver {
    fn announced(&mut self, at: u32, _: Node, announcement: Announcement) -> ControlFlow<()> {
        if let Announcement::Looking { round } = announcement {
            self.numbers.push((at / 1_000, round));
        }
        ControlFlow::Continue(())
    }

    fn requested(&mut self, _: u32, _: Node, _: u32) {}

    fn died(&mut self, _: u32, _: Node) {}

    fn sent(&mut self, _: u32, message: &Transmission<u32>, _: bool) {
        self.copies += usize::from(message.copy_of.is_some());
    }

    fn healed(&mut self, _: u32, disturbance: usize, hit: u32) {
        self.hits.push((disturbance, hit));
    }
}

/// What is heard in 100 ms, of messages that take 1 ms, with this wrong from 25 to 65 ms.
fn heard(kind: Option<DisturbanceKind>) -> CountingObserver {
    let disturbances: Vec<Disturbance> = kind
        .map(|kind| Disturbance {
            kind,
            from: 25_000,
            until: 65_000,
        })
        .into_iter()
        .collect();
    let scenario = Scenario {
        config: &(),
        disturbances: &disturbances,
        requests: &[],
        until: 100_000,
    };
    let pace = Pace::Drawn(Transit::Constant(1_000));
    let mut world = World::<CountingNode, _>::new(scenario, pace, Rng::with_seed(1), CountingObserver::default());
    world.run();
    world.observer
}

fn numbers(heard: &CountingObserver) -> Vec<u32> {
    heard.numbers.iter().map(|(_, number)| *number).collect()
}

#[test]
fn without_a_disturbance_every_message_arrives_once_and_in_time() {
    let found = heard(None);
    assert_eq!(found.numbers, (1..=9).map(|n| (10 * n + 1, n)).collect::<Vec<_>>());
    assert_eq!((found.copies, found.hits), (0, vec![]));
}

#[test]
fn a_cut_drops_what_passes_in_the_directions_that_it_has_and_nothing_after_it() {
    let cut = |node, inbound, outbound| {
        heard(Some(DisturbanceKind::Partition {
            side: NodeSet::from_iter([node]),
            inbound,
            outbound,
        }))
    };
    for dropping in [cut(0, true, true), cut(0, false, true), cut(1, true, false)] {
        assert_eq!(numbers(&dropping), [1, 2, 7, 8, 9]);
        assert_eq!(dropping.hits, [(0, 4)]);
    }
    for passing in [cut(0, true, false), cut(1, false, true)] {
        assert_eq!(numbers(&passing), (1..=9).collect::<Vec<_>>());
        assert_eq!(passing.hits, [(0, 0)], "it hit nothing");
    }
}

#[test]
fn a_killed_process_does_nothing_and_goes_on_from_its_disk() {
    let sender = heard(Some(DisturbanceKind::Kill(0)));
    // Its timer died with it, and the next process sets one when it starts.
    assert_eq!(sender.numbers, [(11, 1), (21, 2), (76, 3), (86, 4), (96, 5)]);
    let receiver = heard(Some(DisturbanceKind::Kill(1)));
    assert_eq!(numbers(&receiver), [1, 2, 7, 8, 9]);
    assert_eq!(receiver.hits, [(0, 5)], "the process and four messages");
}

#[test]
fn a_frozen_process_takes_what_it_missed_when_it_is_thawed() {
    let receiver = heard(Some(DisturbanceKind::Pause(1)));
    assert_eq!(numbers(&receiver), (1..=9).collect::<Vec<_>>());
    let late: Vec<u32> = receiver
        .numbers
        .iter()
        .filter(|(at, _)| *at == 65)
        .map(|(_, n)| *n)
        .collect();
    assert_eq!((late, receiver.hits), (vec![3, 4, 5, 6], vec![(0, 4)]));
    let sender = heard(Some(DisturbanceKind::Pause(0)));
    assert_eq!(sender.numbers, [(11, 1), (21, 2), (66, 3), (76, 4), (86, 5), (96, 6)]);
}

#[test]
fn shares_of_messages_are_lost_or_doubled() {
    let lost = heard(Some(DisturbanceKind::Loss(100)));
    assert_eq!((numbers(&lost), lost.hits), (vec![1, 2, 7, 8, 9], vec![(0, 4)]));
    let doubled = heard(Some(DisturbanceKind::Duplicate(100)));
    assert_eq!(numbers(&doubled), [1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9]);
    assert_eq!((doubled.copies, doubled.hits), (4, vec![(0, 4)]));
}

#[test]
fn a_script_lets_happen_what_it_names_and_nothing_else() {
    let deliver = |nth| NodeStep::Deliver { from: 0, to: 1, nth };
    let timer = || NodeStep::Timer {
        node: 0,
        timer: "()".to_owned(),
    };
    let script = [
        (1_000, deliver(1)),
        (2_000, timer()),
        (3_000, timer()),
        (4_000, deliver(2)),
        (5_000, deliver(1)),
        (6_000, deliver(1)),
    ];
    let scenario = Scenario {
        config: &(),
        disturbances: &[],
        requests: &[],
        until: 10_000,
    };
    let mut world =
        World::<CountingNode, _>::new(scenario, Pace::Script(&script), Rng::new(), CountingObserver::default());
    world.run();
    // What was not sent yet is not delivered, and what is delivered again is a copy.
    assert_eq!(world.observer.numbers, [(4, 2), (5, 1), (6, 1)]);
    assert_eq!(world.observer.copies, 1);
}

#[test]
fn a_server_that_is_dead_or_was_not_launched_yet_receives_nothing() {
    let played = |variant: &str| {
        let mut plan = Plan::default();
        plan.workload.family = "consensus".to_owned();
        plan.workload.variant = variant.to_owned();
        plan.workload.goal = ConsensusGoal::EpochLeader;
        plan.cluster.servers = 5;
        plan.time_ms = 6_000;
        let played = play(&plan).expect("it is a protocol");
        ["server1", "server2", "server5"].map(|name| {
            let to = played.messages.iter().filter(|message| message.to == name);
            to.cloned().collect::<Vec<MessageRecord>>()
        })
    };
    let ended = |message: &&MessageRecord| message.lost.is_some_and(|at| at > message.sent);
    let [first, second, fifth] = played("textbook-election");
    for dead in [first, second] {
        assert!(dead.iter().all(|message| message.received.is_none()), "{dead:?}");
        assert!(
            dead.iter().filter(ended).count() > 2,
            "they arrive, and nobody is there"
        );
    }
    assert!(fifth.iter().any(|message| message.received.is_some()));
    let [.., fifth] = played("textbook-one-by-one");
    let received: Vec<u64> = fifth.iter().filter_map(|message| message.received).collect();
    assert!(
        !received.is_empty() && received.iter().all(|at| *at >= 4_000_000_000),
        "{received:?}"
    );
}
