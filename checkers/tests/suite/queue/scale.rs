//! Long histories.

use super::told::{kinds, record};
use std::fmt::Write;
use std::time::{Duration, Instant};
use zooquake_checkers::check;

#[test]
fn a_hundred_thousand_operations_are_judged_in_little_time() {
    let mut text = String::new();
    for item in 0..40_000 {
        writeln!(text, "c1 invoke enqueue item={item}\nc1 ok enqueue item={item}").expect("a string");
    }
    // Backwards, so that all but the last are overtaken.
    for item in (0..40_000).rev() {
        writeln!(
            text,
            "c2 invoke dequeue\nc2 note taking item={item}\nc2 ok dequeue item={item}"
        )
        .expect("a string");
    }
    let many = record("fifo", &text);
    let begun = Instant::now();
    assert_eq!(kinds(&check(&many)), vec!["reordered"; 39_999]);
    let mut text = String::new();
    for at in 0..50_000 {
        let client = at % 10 + 1;
        writeln!(
            text,
            "c{client} invoke enter round=1 members=2\nc{client} ok enter round=1 czxid={at}"
        )
        .expect("a string");
        writeln!(
            text,
            "c{client} invoke leave round=1\nc{client} ok leave round=1 removed={at}"
        )
        .expect("a string");
    }
    let one_round = record("double", &text);
    assert_eq!(kinds(&check(&one_round)), ["early-release"]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
