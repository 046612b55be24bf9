//! Anomalies of gates, each beside its nearest innocent twin.

use crate::expect::{explains_all, guilty, has_reason, innocent, none, proven, proven_by};
use crate::script::run;
use zooquake_history::Record;

fn gate(text: &str) -> Record {
    run("gate", text)
}

const EARLY: &str = "
    c3 invoke raise round=1; c3 ok raise round=1
    c1 invoke wait round=1; c1 ok wait round=1
    c3 invoke lift round=1; c3 ok lift round=1";

#[test]
fn who_passes_a_gate_that_stands_was_released_early() {
    let found = proven_by(&gate(EARLY), "early-release", &[1, 2, 3]);
    explains_all(
        &found,
        &["c1 was sent to wait at the gate of round 1", "c3 had raised it"],
    );
    let table = "
        c3 invoke lift round=1; c3 ok lift round=1 =>
        c3 invoke lift round=1 => c3 invoke lift round=2 # another gate's
        c3 invoke raise round=1 => c3 invoke raise round=1; c3 info raise; c3 invoke raise round=1 # raised again
        c3 ok raise round=1 => c3 ok raise # the request names the round";
    guilty(gate, "early-release", EARLY, table);
    let table = "
        c1 invoke wait round=1; c1 ok => c1 ok # nothing shows when it was sent
        c1 invoke wait round=1 => | c3 ok raise => c1 invoke wait round=1; c3 ok raise # it was sent before the gate stood
        c3 ok raise round=1 => c3 info raise # it may not stand
        c3 ok raise round=1 => c3 fail raise
        c3 ok raise round=1 => c3 note exit
        c3 invoke raise round=1; c3 ok raise round=1 =>
        c1 invoke wait round=1 => c1 invoke wait round=2 | c1 ok wait round=1 => c1 ok wait round=2 # another gate
        c1 ok wait round=1 => | c3 invoke lift round=1 => c3 invoke lift round=1; c1 ok wait round=1
        c1 ok wait => c2 invoke lift round=1; c1 ok wait # whoever lifts it
        c1 ok wait => c2 invoke lift round=one; c1 ok wait # it may be this one
        c3 invoke raise => c2 invoke lift round=1; c2 info lift; c3 invoke raise # it may lift it later";
    innocent(gate, EARLY, table);
}

const STUCK: &str = "
    c3 invoke raise round=1; c3 ok raise round=1
    c1 invoke wait round=1
    c3 invoke lift round=1; c3 ok lift round=1
    run recover
    1 run recovered
    12 run audit";

#[test]
fn who_waits_at_a_gate_that_was_lifted_is_stuck() {
    let found = proven(&gate(STUCK), "stuck-barrier");
    assert_eq!(found.witness, [2, 3, 4, 6, 7]);
    explains_all(
        &found,
        &["c1 was sent to gate 1", "was not let on", "c3 had lifted the gate"],
    );
    let table = "
        c3 invoke raise round=1; c3 ok raise round=1 => # whoever raised it, it was lifted
        c3 ok raise round=1 => c3 fail raise
        c3 ok raise round=1 => c3 note exit | c3 invoke lift round=1; c3 ok lift round=1 => | 1 run recovered => 1 run recovered; \
            c3 invoke lift round=1; c3 ok lift round=1 # its session is over by then
        c3 invoke lift round=1 => c3 invoke lift round=1; c3 info lift; c3 invoke lift round=1
        c3 ok lift round=1 => | 1 run recovered => 1 run recovered; c3 ok lift round=1";
    guilty(gate, "stuck-barrier", STUCK, table);
    let table = "
        c3 ok lift round=1 => c3 info lift # it may stand
        c3 ok lift round=1 => c3 fail lift
        c3 invoke lift round=1; c3 ok lift round=1 => c3 ok lift round=1 # nothing shows when it was sent
        c3 invoke lift round=1; c3 ok lift round=1 => c3 invoke lift round=2; c3 ok lift round=2
        c3 ok raise round=1 => c3 info raise # it may be raised later
        c3 ok raise round=1 => c3 note exit # what it sent may arrive until its session is over
        c3 ok lift round=1 => c3 ok lift round=1; c2 invoke raise round=1; c2 ok raise round=1
        c3 ok lift round=1 => c3 ok lift round=1; c2 invoke raise round=one # it may be this gate
        c3 ok lift round=1 => | 1 run recovered => 3 run recovered; c3 ok lift round=1 # too short
        c1 invoke wait round=1 => c1 invoke wait round=1; c1 note exit # nobody waits
        12 run audit => 10 run audit
        12 run audit => 11 c1 ok wait round=1; 12 run audit
        1 run recovered =>";
    innocent(gate, STUCK, table);
}

#[test]
fn why_nobody_is_convicted_is_a_reason() {
    let reason = |from: &str, to: &str, words: &str| has_reason(&none(&gate(&STUCK.replacen(from, to, 1))), words);
    reason("c3 ok lift round=1", "c3 info lift", "and its gate may stand");
    reason(
        "c3 ok raise round=1",
        "c3 info raise",
        "and a raise of its gate may still be at work",
    );
    reason(
        "12 run audit",
        "10 run audit",
        "with its gate lifted for only 9.000 s of the 10.000 s",
    );
    let hidden = "c3 ok lift round=1; c2 invoke raise round=one";
    reason(
        "c3 ok lift round=1",
        hidden,
        "a raise that names no round that can be read",
    );
    reason(
        "c3 ok lift round=1",
        hidden,
        "the `raise` of c2, which names no round that can be read",
    );
}

const REFUSED: &str = "
    c3 invoke raise round=1; c3 ok raise round=1
    c3 invoke lift round=1; c3 ok lift round=1
    run recover
    1 run recovered
    2 c1 invoke wait round=1; 5 c1 fail wait
    6 c1 invoke wait round=1; 13 c1 fail wait
    14 run audit";

#[test]
fn who_is_refused_again_and_again_is_stuck_too() {
    let found = proven(&gate(REFUSED), "stuck-barrier");
    explains_all(&found, &["was refused again and again"]);
    let table = "
        13 c1 fail => 11 c1 fail # for too short a time
        13 c1 fail wait => 12 c1 ok wait round=1
        5 c1 fail wait => 5 c1 ok wait round=1";
    innocent(gate, REFUSED, table);
}

/// The keeper is refused by nobody's fault but its recipe's.
#[test]
fn a_keeper_that_is_refused_for_the_bound_is_refused_for_ever() {
    for f in ["raise", "lift"] {
        let text = format!(
            "1 run recovered
             2 c3 invoke {f} round=1; 5 c3 fail {f}
             6 c3 invoke {f} round=1; 13 c3 info {f}
             14 run audit"
        );
        let found = proven(&gate(&text), "refused-for-ever");
        explains_all(&found, &["c3 was sent", &format!("`{f}`")]);
        none(&gate(&text.replacen("13 c3 info", "11 c3 info", 1)));
    }
}
