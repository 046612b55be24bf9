//! Histories that make no sense.

use crate::world;
use serde_json::json;
use zooquake_checkers::check;

/// Nobody promises that a history makes sense: events may be lost, doubled, out of order, and say anything.
#[test]
fn nonsense_is_judged_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let words = ["ok", "acquire", "g1", "c1", "0x11", "timeout", "recovered", "audit"];
    for seed in 0..3000 {
        let mut record = world::record(seed);
        let events = &mut record.history.events;
        for _ in 0..random.usize(1..8) {
            let (from, to) = (random.usize(..events.len()), random.usize(..events.len()));
            let word = words[random.usize(..words.len())];
            match random.u32(..7) {
                0 => events.swap(from, to),
                1 => drop(events.remove(from)),
                2 => events.insert(to, events[from].clone()),
                3 => events[from].value = json!(word),
                4 => events[from].f = word.to_owned(),
                5 => events[from].kind = events[to].kind,
                _ => events[from].process = events[to].process.clone(),
            }
        }
        for (index, event) in events.iter_mut().enumerate() {
            event.index = index;
        }
        let indexes =
            |witness: &[usize]| witness.is_sorted() && witness.iter().all(|&at| at < record.history.events.len());
        assert!(
            check(&record).anomalies.iter().all(|anomaly| indexes(&anomaly.witness)),
            "seed {seed}"
        );
    }
}
