//! What faults strike, and what survives them.

use super::{Ran, plan, run};
use std::collections::BTreeSet;
use zooquake_history::{
    Event, EventType, Node, Process,
    fault::{Cut, Latency, Payload, Wire},
    plan::{Target, Trigger, Window},
};

impl Ran {
    fn events(&self) -> &[Event] {
        &self.record.history.events
    }

    /// Where a window came into a phase.
    fn mark(&self, window: usize, phase: &str) -> Option<usize> {
        let of = |event: &Event| event.is_of("nemesis") && event.phase() == Some(phase);
        self.events()
            .iter()
            .position(|event| of(event) && event.window() == Some(window as i64))
    }

    /// The operation that a client had pending at an event.
    fn pending(&self, client: &Node, at: usize) -> Option<&Event> {
        let mut ops = self.events()[..at].iter();
        ops.rfind(|event| event.client().as_ref() == Some(client) && matches!(event.process, Process::Number(_)))
            .filter(|event| event.kind == EventType::Invoke)
    }
}

#[test]
fn the_first_kill_of_a_commit_strikes_a_site_in_doubt_about_a_transaction_with_yes_votes_only() {
    for name in [
        "commit/broadcast",
        "commit/coordinated",
        "commit/ephemeral",
        "commit/atomic",
    ] {
        for seed in 0..4 {
            let plan = plan(name, seed, 15_000, &["kill", "pause"]);
            let ran = run(plan.clone());
            assert_eq!(ran.news(), [""; 0], "{name} seed {seed}");
            assert!(
                ran.results.windows[0].counts,
                "{name} seed {seed}: {}",
                ran.results.windows[0].why
            );
            let Trigger::Op { client, .. } = &plan.windows[0].trigger else {
                panic!("{name} seed {seed}: {:?}", plan.windows[0]);
            };
            let struck = ran.pending(client, ran.mark(1, "begin").unwrap()).unwrap();
            assert_eq!(struck.f, "decided", "{name} seed {seed}");
            let tx = struck.value["tx"].as_str();
            let asked: Vec<bool> = ran
                .events()
                .iter()
                .filter(|event| event.f == "vote" && event.value["tx"].as_str() == tx)
                .filter(|event| event.kind == EventType::Invoke)
                .map(|event| event.value["vote"] == "yes")
                .collect();
            assert_eq!(asked, vec![true; 4], "{name} seed {seed}");
        }
    }
}

#[test]
fn pauses_of_a_queue_with_claims_strike_dequeues_and_acknowledgements() {
    let mut struck = BTreeSet::new();
    for seed in 0..6 {
        let ran = run(plan("queue/claimed", seed, 30_000, &["pause"]));
        assert_eq!(ran.kinds(), [""; 0], "seed {seed}");
        for window in ran.results.windows.iter().filter(|window| window.counts) {
            let begin = ran.mark(window.id, "begin").unwrap();
            struck.extend(
                ran.pending(&window.target.as_str().into(), begin)
                    .map(|op| op.f.clone()),
            );
        }
    }
    assert!(
        struck.contains("dequeue") && struck.contains("acknowledge"),
        "{struck:?}"
    );
}

#[test]
fn no_session_ends_of_a_disconnect() {
    for name in ["lock/fenced", "election/epoch", "queue/claimed", "barrier/double"] {
        for seed in 0..4 {
            let ran = run(plan(name, seed, 20_000, &["disconnect"]));
            assert!(
                ran.results.windows.iter().any(|window| window.counts),
                "{name} seed {seed}"
            );
            let over = ran.events().iter().find(|event| event.state() == Some("expired"));
            assert_eq!(over, None, "{name} seed {seed}");
        }
    }
}

#[test]
fn kills_strike_one_round_of_a_barrier_after_the_other() {
    for seed in 0..6 {
        let ran = run(plan("barrier/double", seed, 30_000, &["kill"]));
        assert_eq!(ran.kinds(), [""; 0], "seed {seed}");
        let windows = ran.results.windows.iter().filter(|window| window.counts);
        let rounds: BTreeSet<i64> = windows
            .filter_map(|window| {
                ran.pending(&window.target.as_str().into(), ran.mark(window.id, "begin")?)?
                    .value["round"]
                    .as_i64()
            })
            .collect();
        assert!(rounds.len() >= 2, "seed {seed}: {rounds:?}");
    }
}

#[test]
fn who_holds_when_a_window_is_healed_confirms_before_it_gives_back() {
    let mut confirmed = 0;
    for seed in 0..6 {
        let ran = run(plan("election/ephemeral", seed, 30_000, &["pause", "partition"]));
        assert_eq!(ran.news(), [""; 0], "seed {seed}");
        for healed in ran
            .results
            .windows
            .iter()
            .filter_map(|window| ran.mark(window.id, "off"))
        {
            for client in (1..=5).map(Node::client) {
                confirmed += usize::from(confirms_first(&ran, &client, healed));
            }
        }
    }
    assert!(confirmed > 10, "{confirmed} holders confirmed");
}

/// Whether a client that held at an event confirmed before it resigned; false if it did not hold, lost that meanwhile,
/// or got no answer in time.
fn confirms_first(ran: &Ran, client: &Node, healed: usize) -> bool {
    let held = ran.events()[..healed].iter().rfind(|event| {
        event.client().as_ref() == Some(client) && matches!(event.f.as_str(), "elect" | "resign" | "exit")
    });
    if held.is_none_or(|event| event.f != "elect" || event.kind != EventType::Ok) {
        return false;
    }
    let later = || {
        ran.events()[healed..]
            .iter()
            .filter(|event| event.client().as_ref() == Some(client))
    };
    let ends =
        |event: &&Event| event.f == "resign" || event.f == "exit" || event.f == "lost" || event.kind == EventType::Fail;
    let Some(resigned) = later().find(ends) else {
        return false;
    };
    if resigned.f != "resign" {
        return false;
    }
    let before = || later().take_while(|event| event.index < resigned.index);
    let confirm = |kind| before().any(|event| event.f == "confirm" && event.kind == kind);
    // A client whose session is over may get no answer.
    let waited_ms = (resigned.time - ran.events()[healed].time) / 1_000_000;
    assert!(confirm(EventType::Invoke), "{client} after {healed}: {resigned:?}");
    assert!(
        confirm(EventType::Ok) || waited_ms >= 4_000,
        "{client} after {healed}: {resigned:?}"
    );
    confirm(EventType::Ok)
}

fn late(ms: u64, jitter_ms: u64) -> Payload {
    Payload::Latency(Latency { ms, jitter_ms })
}

/// A plan may come from elsewhere.
#[test]
fn a_window_that_does_not_say_how_it_strikes_says_so_where_it_strikes() {
    for (fault, payload, why) in [
        ("partition", None, "the plan does not state how the network is cut"),
        ("partition", Some(Payload::Wire(Wire::Close)), "how the network is cut"),
        ("disconnect", None, "how the connections end"),
        ("drop-reply", Some(Payload::Cut(Cut::Mute)), "what is lost"),
        (
            "hold-reply",
            Some(Payload::Wire(Wire::Close)),
            "which reply is kept back",
        ),
        ("latency", None, "how late all is"),
        ("latency", Some(late(0, 0)), "a delay of 0 ms"),
        ("latency", Some(late(20, 21)), "with a jitter of 21 ms"),
        ("lag", None, "by how much the follower is behind"),
    ] {
        let mut plan = plan("lock/fenced", 1, 6_000, &[]);
        plan.windows = vec![Window {
            id: 1,
            fault: fault.to_string(),
            target: Target::Node(Node::client(1)),
            payload,
            trigger: Trigger::At { at_ms: 1_000 },
            duration_ms: 500,
            beside: false,
        }];
        let ran = run(plan);
        let window = &ran.results.windows[0];
        assert!(!window.counts && window.why.contains(why), "{fault}: {}", window.why);
        assert_eq!(ran.kinds(), [""; 0], "{fault}");
    }
}
