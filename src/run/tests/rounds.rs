//! How the rounds of a barrier follow on one another.

use super::{plan, run};
use zooquake_history::EventType;

#[test]
fn a_round_begins_when_the_last_member_has_left_the_one_before() {
    const LOAD: u64 = 9_000;
    let ran = run(plan("barrier/double", 1, LOAD, &[]));
    let events = ran.record.history.events.iter();
    let begun = events.filter(|event| event.f == "enter" && event.kind == EventType::Invoke);
    let begun = begun.map(|event| event.time / 1_000_000).filter(|&ms| ms < LOAD);
    let times: Vec<u64> = begun.collect();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    // A member thinks for 2.4 s in one of the rounds, and nobody longer.
    assert!(longest < 3_000, "no member entered for {longest} ms: {times:?}");
}
