//! Long histories.

use super::fifo;
use crate::expect::{found, one};
use crate::script::run;
use std::time::{Duration, Instant};

#[test]
fn a_hundred_thousand_operations_are_judged_in_little_time() {
    let stored = (0..40_000).map(|item| format!("c1 invoke enqueue item={item}\nc1 ok enqueue item={item}\n"));
    // Backwards, so that all but the last are overtaken.
    let given = (0..40_000)
        .rev()
        .map(|item| format!("c2 invoke dequeue; c2 note taking item={item}; c2 ok dequeue item={item}\n"));
    let many = fifo(&stored.chain(given).collect::<String>());
    let begun = Instant::now();
    found(&many, &vec!["reordered"; 39_999]);
    let round = |at: usize| {
        let c = at % 10 + 1;
        format!(
            "c{c} invoke enter round=1 members=2; c{c} ok enter round=1 czxid={at}
             c{c} invoke leave round=1; c{c} ok leave round=1 removed={at}\n"
        )
    };
    let record = run("double", &(0..50_000).map(round).collect::<String>());
    one(&record, "early-release");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
