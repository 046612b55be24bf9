//! Long histories, and the same results every time.

use crate::script::{kinds, record};
use crate::world;
use std::fmt::Write;
use zooquake_checkers::{Verdict, check};

/// A lock that ten clients share in turn, each taking over when the one before releases.
fn turns(count: usize) -> String {
    let mut text = String::from("run ops\n");
    for turn in 0..count {
        let client = turn % 10 + 1;
        let czxid = turn + 1;
        writeln!(
            text,
            "c{client} acquire g{turn}\nc{client} granted g{turn} czxid={czxid} token={czxid}"
        )
        .expect("a string");
        writeln!(
            text,
            "c{client} write g{turn}\nc{client} confirm\nc{client} holds g{turn}\nc{client} wrote g{turn}"
        )
        .expect("a string");
        writeln!(
            text,
            "c{client} release g{turn}\nc{client} released g{turn} removed={czxid}"
        )
        .expect("a string");
    }
    text
}

#[test]
fn a_hundred_thousand_operations_are_judged() {
    // Four operations a turn: acquire, write, confirm, release.
    let mut text = turns(25_000);
    text.push_str("run recovered\nrun audit\nc1 quiesce\nc2 quiesce\nc1 quiesced\nc2 quiesced\nrun done");
    let long = record(&text);
    assert!(long.history.events.len() > 200_000);
    let results = check(&long);
    assert_eq!(kinds(&results), [""; 0]);
    assert_eq!(results.stats["grants"], 25_000);
    assert_eq!(
        results.verdict,
        Verdict::Unknown,
        "eight clients answered no quiesce: {:?}",
        results.reasons
    );
}

/// It convicts once for each who comes after it, not for each pair, and writes out of order once.
#[test]
fn a_zombie_that_goes_on_for_ever_floods_no_report() {
    let mut text = String::from("c1 acquire z\nc1 granted z czxid=1\n");
    for turn in 0..3000 {
        let (client, czxid) = (turn % 9 + 2, turn + 10);
        writeln!(
            text,
            "c{client} acquire g{turn}\nc{client} granted g{turn} czxid={czxid}"
        )
        .expect("a string");
        writeln!(
            text,
            "c{client} write g{turn}\nc{client} wrote g{turn}\nc1 write z\nc1 wrote z"
        )
        .expect("a string");
        writeln!(text, "c{client} release g{turn}\nc{client} released g{turn}").expect("a string");
    }
    let results = check(&record(&text));
    let count = |kind: &str| kinds(&results).into_iter().filter(|&other| other == kind).count();
    assert_eq!(
        (count("stale-holder"), count("stale-write"), results.anomalies.len()),
        (3000, 1, 3001)
    );
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    for seed in 0..300 {
        let record = world::record(seed);
        let bytes = || serde_json::to_string(&check(&record)).expect("results are data");
        assert_eq!(bytes(), bytes(), "seed {seed}");
    }
}
