//! Long histories, and the same results every time.

use crate::expect::{none, of_kind};
use crate::script::lock;
use crate::simulated_locks;
use zooquake_checkers::{Verdict, check};

#[test]
fn a_hundred_thousand_operations_are_judged() {
    // Ten clients in turn, each taking over when the one before releases; four operations a turn.
    let turn = |turn: usize| {
        let (c, czxid) = (turn % 10 + 1, turn + 1);
        format!(
            "c{c} acquire g{turn}; c{c} granted g{turn} czxid={czxid} token={czxid}
             c{c} write g{turn}; c{c} confirm; c{c} holds g{turn}; c{c} wrote g{turn}
             c{c} release g{turn}; c{c} released g{turn} removed={czxid}\n"
        )
    };
    let turns: String = (0..25_000).map(turn).collect();
    let end = "run recovered; run audit; c1 quiesce; c2 quiesce; c1 quiesced; c2 quiesced; run done";
    let long = lock(&format!("run ops\n{turns}{end}"));
    assert!(long.history.events.len() > 200_000);
    let results = none(&long);
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
    let turn = |turn: usize| {
        let (c, czxid) = (turn % 9 + 2, turn + 10);
        format!(
            "c{c} acquire g{turn}; c{c} granted g{turn} czxid={czxid}
             c{c} write g{turn}; c{c} wrote g{turn}; c1 write z; c1 wrote z
             c{c} release g{turn}; c{c} released g{turn}\n"
        )
    };
    let turns: String = (0..3000).map(turn).collect();
    let results = check(&lock(&format!("c1 acquire z; c1 granted z czxid=1\n{turns}")));
    let count = |kind: &str| of_kind(&results, kind).len();
    let found = (count("stale-holder"), count("stale-write"), results.anomalies.len());
    assert_eq!(found, (3000, 1, 3001));
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    for seed in 0..300 {
        let record = simulated_locks::record(seed);
        let bytes = || serde_json::to_string(&check(&record)).expect("results are data");
        assert_eq!(bytes(), bytes(), "seed {seed}");
    }
}
