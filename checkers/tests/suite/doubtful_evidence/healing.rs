//! Windows that were not healed, stalls of the harness, and recoveries that did not last.

use super::{FamilyHistories, LIVENESS, drawn, insert, lines};
use crate::anomaly_tally::count;
use crate::liveness::phase;
use crate::script;
use fastrand::Rng;
use serde_json::{Value, json};
use zooquake_checkers::{Verdict, check};
use zooquake_history::{Event, EventType, Record};

/// What is put into a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoil {
    /// A window that is on, and never off.
    NeverOff,
    /// One whose healing was not verified.
    Unverified,
    /// One that began, and was never seen in effect or skipped.
    OnlyBegun,
    /// One that was healed: this spoils nothing.
    Healed,
    /// The harness stood still after recovery.
    Stall,
    /// It stood still before: this spoils nothing.
    EarlyStall,
    /// Recovery was taken back.
    NotRecovered,
    /// It failed, and was not begun again, and an older engine wrote `recovered` all the same.
    FailedBefore,
    /// It failed, and was begun again: this spoils nothing.
    BegunAgain,
    /// A client did not answer its `quiesce` between `recover` and `recovered`.
    Silent,
}

const ALL: [Spoil; 10] = [
    Spoil::NeverOff,
    Spoil::Unverified,
    Spoil::OnlyBegun,
    Spoil::Healed,
    Spoil::Stall,
    Spoil::EarlyStall,
    Spoil::NotRecovered,
    Spoil::FailedBefore,
    Spoil::BegunAgain,
    Spoil::Silent,
];

fn event(named: &str, f: &str, value: Value) -> Event {
    script::event(0, 0, named, None, EventType::Info, f, value)
}

fn window(phase: &str, verified: bool) -> Event {
    let value = json!({"window": 77, "phase": phase, "target": "n1", "verified": verified});
    event("nemesis", "partition", value)
}

fn spoil(rng: &mut Rng, record: &Record, how: Spoil) -> Option<Record> {
    let mut spoilt = record.clone();
    let recovered = phase(&spoilt.history.events, "recovered")?;
    let audit = phase(&spoilt.history.events, "audit")?;
    // Who was asked to be quiet after the phase `recover` and did not answer is not seen to recover.
    if how == Spoil::BegunAgain && spoilt.history.events[..audit].iter().any(|event| event.f == "quiesce") {
        return None;
    }
    let mut before = |all: Vec<Event>| {
        // The last one first, each before what was put in already.
        let mut at = recovered;
        for event in all.into_iter().rev() {
            insert(&mut spoilt, at, event);
            at = if rng.bool() { at } else { rng.usize(..=at) };
        }
    };
    let run = |name: &str| event("run", "phase", json!(name));
    match how {
        Spoil::NeverOff => before(vec![window("begin", true), window("on", true)]),
        Spoil::Unverified => before(vec![window("on", true), window("off", false)]),
        Spoil::OnlyBegun => before(vec![window("begin", true)]),
        Spoil::Healed => before(vec![window("on", true), window("off", true)]),
        Spoil::EarlyStall => before(vec![event("run", "stall", json!({"ms": 1500}))]),
        Spoil::FailedBefore => before(vec![run("heal"), run("recover"), run("not-recovered")]),
        Spoil::BegunAgain => before(vec![run("heal"), run("recover"), run("not-recovered"), run("recover")]),
        Spoil::Stall => {
            let at = rng.usize(recovered + 1..=audit);
            insert(&mut spoilt, at, event("run", "stall", json!({"ms": 1500})));
        }
        Spoil::NotRecovered => {
            let at = rng.usize(recovered + 1..=audit);
            insert(&mut spoilt, at, run("not-recovered"));
        }
        Spoil::Silent => {
            let asked = script::event(0, 0, "c1", None, EventType::Invoke, "quiesce", json!({}));
            insert(&mut spoilt, recovered, asked);
            insert(&mut spoilt, recovered, run("recover"));
            let dies = |event: &Event| event.f == "exit" && event.node.as_deref() == Some("c1");
            if spoilt.history.events[recovered..].iter().any(dies) {
                return None;
            }
        }
    }
    Some(spoilt)
}

fn unhealed(family: &FamilyHistories) {
    let sorts: &[&str] = match family.waits {
        true => &["valid before", "of liveness before"],
        false => &["valid before"],
    };
    drawn(family, 0x4ea1, sorts, |seed, mut rng, record, counts| {
        let how = ALL[rng.usize(..ALL.len())];
        let Some(spoilt) = spoil(&mut rng, &record, how) else {
            return;
        };
        let (was, is) = (check(&record), check(&spoilt));
        let what = || format!("seed {seed}, {how:?}: {:?}\n{}", is.reasons, lines(&spoilt));
        let lives = |kind: &str| LIVENESS.contains(&kind);
        let (found, wanted) = ((family.found)(&spoilt, &is), (family.wanted)(&record));
        let harmless = matches!(how, Spoil::Healed | Spoil::EarlyStall | Spoil::BegunAgain);
        // A fault explains an abort.
        let safety = |kind: &str| !lives(kind) && kind != "needless-abort";
        for (kind, about) in wanted.iter().filter(|(kind, _)| !kind.starts_with("stale-")) {
            let kept = found.contains(&(kind.clone(), about.clone()));
            // Its later answer may be that to this request.
            let unaudited = how == Spoil::Silent && kind == "orphan-node";
            let required = safety(kind) && !unaudited || harmless && kind != "needless-abort";
            assert!(kept || !required, "{kind} of {about} is gone: {}", what());
        }
        for (kind, about) in &found {
            assert!(
                wanted.contains(&(kind.clone(), about.clone())),
                "{kind} of {about} is new: {}",
                what()
            );
            assert!(harmless || !lives(kind), "{kind}: {}", what());
        }
        let waits = wanted.iter().any(|(kind, _)| lives(kind));
        if !harmless && (how != Spoil::Stall || waits) {
            assert_ne!(is.verdict, Verdict::Valid, "{}", what());
        }
        if how == Spoil::Stall && was.verdict == Verdict::Valid {
            assert_eq!(is.verdict, Verdict::Valid, "all finished: {}", what());
        }
        count(counts, "of liveness before", waits);
        count(counts, "valid before", was.verdict == Verdict::Valid);
        count(counts, "valid", is.verdict == Verdict::Valid);
    });
}

of_families!(unhealed);
