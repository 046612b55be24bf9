//! Clients that cannot name what they take: each of their dequeues without an answer may have taken any item.

use super::{brute, told, world};
use crate::witness::only;
use serde_json::json;
use std::collections::BTreeSet;
use zooquake_checkers::history::{Event, EventType, Process};
use zooquake_checkers::{Anomaly, Record, Results, Verdict, check};

/// The history of a random queue, in which some clients say at first that they cannot name what they take.
fn nameless(seed: u64) -> Record {
    let mut record = world::items(seed);
    let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
    let clients: Vec<String> = (1..5)
        .filter(|_| random.bool())
        .map(|number| format!("c{number}"))
        .collect();
    let hello = |client: &String| Event {
        index: 0,
        time: 0,
        process: Process::Name(client.clone().into()),
        kind: EventType::Info,
        f: "hello".into(),
        value: json!({"pid": 1, "cannot": ["taking"]}).into(),
        error: None,
        node: Some(client.clone().into()),
    };
    let mut events: Vec<Event> = clients.iter().map(hello).collect();
    // Not all of them keep to it.
    let said =
        |event: &Event| event.f == "taking" && clients.iter().any(|client| event.node.as_deref() == Some(client));
    let rest = record
        .history
        .events
        .into_iter()
        .filter(|event| !said(event) || random.u8(0..4) == 0);
    events.extend(rest);
    events
        .iter_mut()
        .enumerate()
        .for_each(|(index, event)| event.index = index);
    record.history.events = events;
    record
}

fn of<'a>(results: &'a Results, kind: &str) -> Vec<&'a Anomaly> {
    results
        .anomalies
        .iter()
        .filter(|anomaly| anomaly.kind == kind)
        .collect()
}

/// The witness convicts beside all that excuses, and none of it can be left out.
fn minimal(record: &Record, anomaly: &Anomaly) {
    let events = &record.history.events;
    let free = brute::free(record);
    let excuses = (0..events.len()).filter(|at| events[*at].f == "hello" || free.contains(at));
    let excuses: BTreeSet<usize> = excuses.collect();
    let exits = (0..events.len()).filter(|&at| events[at].f == "exit" || free.contains(&at) || unknown_end(record, at));
    let excuses: BTreeSet<usize> = excuses.into_iter().chain(exits).collect();
    let convicts = |witness: &BTreeSet<usize>| {
        let small = only(record, &(witness | &excuses));
        check(&small).anomalies.iter().any(|other| other.kind == anomaly.kind)
    };
    let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
    assert!(convicts(&witness), "needs more: {anomaly:#?}");
    for event in &witness {
        let mut less = witness.clone();
        less.remove(event);
        assert!(!convicts(&less), "does not need {event}: {anomaly:#?}");
    }
}

fn unknown_end(record: &Record, at: usize) -> bool {
    let event = &record.history.events[at];
    event.f == "dequeue" && event.kind == EventType::Info
}

fn share(number: u64) {
    let each = crate::histories(40_000).div_ceil(4);
    let (mut lost, mut excused) = (0, 0);
    for seed in number * each..(number + 1) * each {
        let record = nameless(seed);
        let results = check(&record);
        let found = of(&results, "lost-item");
        let (missing, free) = (brute::missing(&record), brute::free(&record));
        let certain = brute::lost_for_certain(&missing, &free);
        if free.is_empty() {
            assert_eq!(found.len(), missing.len(), "seed {seed}");
        } else {
            assert_eq!(found.len(), usize::from(certain > 0), "seed {seed}");
            for anomaly in &found {
                let told = format!("At least {certain} of the items ");
                assert!(anomaly.why.starts_with(&told), "seed {seed}: {certain}, {anomaly:#?}");
                minimal(&record, anomaly);
            }
            let told = results.not_judged.iter().any(|left| left.check == "lost-item");
            assert_eq!(told, !missing.is_empty(), "seed {seed}");
            lost += u64::from(certain > 0);
            excused += u64::from(certain < missing.len());
        }
        let overtaken = brute::overtaken(&record);
        assert_eq!(of(&results, "reordered").len(), overtaken.len(), "seed {seed}");
    }
    assert!(
        lost > each / 500 && excused > each / 100,
        "{lost} and {excused} of {each}"
    );
}

quarters!();

/// Items 1 and 2 are acknowledged, and then gone; a dequeue of c2 ended without an answer.
const GONE: &str = "
    c1 invoke enqueue item=1
    c1 ok enqueue item=1
    c1 invoke enqueue item=2
    c1 ok enqueue item=2
    c2 invoke dequeue
    c2 info dequeue
    c3 ask confirm
    c3 answer confirm
    c3 invoke dequeue
    c3 ok dequeue item=null
    run drained";

#[test]
fn one_dequeue_excuses_one_item() {
    let hello = "c2 note hello cannot=taking";
    let lost = told::only_of(&told::record("fifo", &format!("{hello}\n{GONE}")), "lost-item");
    assert_eq!(
        lost.why.split(" No dequeue").next(),
        Some("At least 1 of the items 1, 2 is lost: all were enqueued, and their clients were told so.")
    );
    assert_eq!(
        told::kinds_of("fifo", GONE),
        ["lost-item", "lost-item"],
        "it could have named what it took"
    );
    let one = GONE.replace("item=2", "item=1");
    told::silent("fifo", &format!("{hello}\n{one}"));
    let late = GONE.replace("    run drained", "c2 invoke dequeue\n c2 info dequeue\n run drained");
    let late = late.replacen("c2 invoke dequeue\n    c2 info dequeue\n", "", 1);
    assert_eq!(
        told::kinds_of("fifo", &format!("{hello}\n{late}")),
        ["lost-item"],
        "it was sent too late"
    );
    assert!(
        check(&told::record("fifo", &format!("{hello}\n{late}"))).anomalies[0]
            .why
            .starts_with("At least 2")
    );
}

#[test]
fn what_it_excuses_is_not_judged_and_says_so() {
    let one = GONE.replace("c1 invoke enqueue item=2\n    c1 ok enqueue item=2\n", "");
    let results = told::silent("fifo", &format!("c2 note hello cannot=taking,beside\n{one}"));
    assert_eq!(
        results.not_judged[0].why,
        "nobody is known to have got 1 item, and 1 dequeue of clients that cannot name what they take ended without an answer: each \
         may have taken one, so none is taken for lost"
    );
    assert_eq!(results.not_judged[1].check, "reordered");
    assert_ne!(results.verdict, Verdict::Invalid);
}
