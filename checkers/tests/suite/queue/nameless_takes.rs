//! Clients that cannot name what they take: each of their dequeues without an answer may have taken any item.

use super::{brute_force, fifo, simulated_queues};
use crate::anomaly_tally::{AnomalyCounts, count, drawn, spread};
use crate::expect::{edited, explains, minimal_beside, none, of_kind, one};
use crate::script::{history, number};
use zooquake_checkers::{Anomaly, Verdict, check};
use zooquake_history::{Event, EventType, Node, Record};

/// The history of a random queue, in which some clients declare in their `hello` that they cannot name what they take.
fn nameless(seed: u64) -> Record {
    let mut record = simulated_queues::items(seed);
    let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
    let clients: Vec<String> = (1..5)
        .filter(|_| random.bool())
        .map(|number| Node::client(number).to_string())
        .collect();
    let hello = |client: &String| format!("0 {client} hello pid=1 cannot=taking\n");
    let mut events = history(&clients.iter().map(hello).collect::<String>()).events;
    // Not all of them keep to it.
    let said =
        |event: &Event| event.f == "taking" && clients.iter().any(|client| event.node.as_deref() == Some(client));
    let rest = record.history.events.into_iter();
    events.extend(rest.filter(|event| !said(event) || random.u8(0..4) == 0));
    number(&mut events);
    record.history.events = events;
    record
}

/// The witness convicts beside all that excuses, and none of it can be left out.
fn minimal(record: &Record, anomaly: &Anomaly) {
    let free = brute_force::free(record);
    let unknown = |event: &Event| event.f == "dequeue" && event.kind == EventType::Info;
    let excuses =
        |event: &&Event| matches!(event.f.as_str(), "hello" | "exit") || free.contains(&event.index) || unknown(event);
    let excuses = record
        .history
        .events
        .iter()
        .filter(excuses)
        .map(|event| event.index)
        .collect();
    minimal_beside(record, anomaly, &excuses, |other| other.kind == anomaly.kind);
}

fn agree(seed: u64, counts: &mut AnomalyCounts) {
    let record = nameless(seed);
    let results = check(&record);
    let found = of_kind(&results, "lost-item");
    let (missing, free) = (brute_force::missing(&record), brute_force::free(&record));
    let certain = brute_force::lost_for_certain(&missing, &free);
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
    }
    count(counts, "lost", !free.is_empty() && certain > 0);
    count(counts, "excused", !free.is_empty() && certain < missing.len());
    let overtaken = brute_force::overtaken(&record);
    assert_eq!(of_kind(&results, "reordered").len(), overtaken.len(), "seed {seed}");
}

#[test]
fn random_histories() {
    let (all, counts) = drawn(agree);
    assert!(counts["excused"] > all / 100, "{counts:?}");
    spread(500, (all, counts));
}

/// Items 1 and 2 are acknowledged, and then gone; a dequeue of c2 ended without an answer.
const GONE: &str = "
    c1 invoke enqueue item=1; c1 ok enqueue item=1
    c1 invoke enqueue item=2; c1 ok enqueue item=2
    c2 invoke dequeue; c2 info dequeue
    c3 ask confirm; c3 answer confirm
    c3 invoke dequeue; c3 ok dequeue item=null
    run drained";

#[test]
fn one_dequeue_excuses_one_item() {
    let nameless = |text: &str| fifo(&format!("c2 note hello cannot=taking; {text}"));
    let lost = one(&nameless(GONE), "lost-item").why;
    let said = "At least 1 of the items 1, 2 is lost: all their enqueues were acknowledged.";
    assert_eq!(lost.split(" No dequeue").next(), Some(said));
    // It could have named what it took.
    assert_eq!(of_kind(&check(&fifo(GONE)), "lost-item").len(), 2);
    none(&nameless(&GONE.replace("item=2", "item=1")));
    // It was sent too late.
    let late = "c2 invoke dequeue; c2 info dequeue => | run drained => c2 invoke dequeue; c2 info dequeue; run drained";
    explains(&one(&nameless(&edited(GONE, late)), "lost-item"), "At least 2");
}

#[test]
fn what_it_excuses_is_not_judged_and_says_so() {
    let first = edited(GONE, "c1 invoke enqueue item=2; c1 ok enqueue item=2 =>");
    let results = none(&fifo(&format!("c2 note hello cannot=taking,beside; {first}")));
    assert_eq!(
        results.not_judged[0].why,
        "no client is known to have received 1 item, and 1 dequeue of clients that cannot name what they take ended \
         without an answer: each may have taken one, so none is taken for lost"
    );
    assert_eq!(results.not_judged[1].check, "reordered");
    assert_ne!(results.verdict, Verdict::Invalid);
}
