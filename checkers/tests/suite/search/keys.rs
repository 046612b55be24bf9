//! Jepsen's independent keys: each is an object of its own, and is judged as by itself.

use super::brute::fits_some;
use super::drawn::{access, recorded};
use super::foreign::{events, register, verdicts};
use super::judged::maps;
use super::told;
use crate::expect::says_first;
use fastrand::Rng;
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
use zooquake_history::edn::{parse_edn, to_edn};
use zooquake_history::jsonl::{parse_json, to_line};
use zooquake_history::textlog::{parse_log, parse_txt, to_log};
use zooquake_history::{Damage, History};
use zooquake_linearizability::Op;
use zooquake_linearizability::models::register::RegisterOp;

/// How many random histories are judged.
const KEYED: usize = 10_000;

const WRITTEN: &str = "0 write [0 1] -> [0 1]; 1 write [:x 5] -> [:x 5]";

#[test]
fn independent_keys_are_registers_of_their_own() {
    let keys = &format!("{WRITTEN}; 0 read [0 nil] -> [0 1]; 1 read [:x nil] -> [:x 5]");
    let valid = register(keys);
    assert_eq!(valid.verdict, Verdict::Valid, "{:?}", valid.reasons);
    says_first(&valid, &["with 2 keys"]);
    let invalid = register(&format!("{keys}; 2 write [:x 6] -> [:x 6]; 0 read [:x nil] -> [:x 5]"));
    assert_eq!(invalid.verdict, Verdict::Invalid);
    assert_eq!(invalid.anomalies[0].witness, [8, 9, 10, 11]);
    let why = &invalid.anomalies[0].why;
    assert!(why.starts_with("Key \":x\": "), "{why}");
    let cas = "0 cas [0 [1 2]] -> [0 [1 2]]";
    for (rest, verdict) in [
        (format!("{keys}; {cas}; 0 read [0 nil] -> [0 2]"), Verdict::Valid),
        (format!("{keys}; {cas}; 0 read [0.0 nil] -> [0 1]"), Verdict::Invalid),
        (format!("{WRITTEN}; 0 read [0 nil] -> [:x 5]"), Verdict::Unknown),
        (
            format!("{WRITTEN}; 0 invoke read [0 nil]; 0 info read :timed-out"),
            Verdict::Valid,
        ),
    ] {
        verdicts(ModelKind::REGISTER, &[(&rest, verdict)]);
    }
}

#[test]
fn pairs_that_are_values_are_no_keys() {
    let written = "0 write [0 1] -> [0 1]; 0 write [1 2] -> [1 2]";
    let with = |rest: &str, verdict| verdicts(ModelKind::REGISTER, &[(&format!("{written}; {rest}"), verdict)]);
    with("0 read -> [1 2]", Verdict::Valid);
    with("0 read -> [0 1]", Verdict::Invalid);
    // Without a read the reading is ambiguous; where both readings agree that does not matter.
    with("1 cas [[1 2] [3 4]] -> [[1 2] [3 4]]", Verdict::Valid);
    let unknown = register("0 write [0 1] -> [0 1]; 0 cas [0 [1 2]] -> [0 [1 2]]");
    assert_eq!(unknown.verdict, Verdict::Unknown);
    says_first(&unknown, &["nothing shows whether"]);
}

#[test]
fn mutexes_may_have_keys_too() {
    let both = "0 acquire [:a nil] -> [:a nil]; 1 acquire [:b nil] -> [:b nil]; \
                0 release [:a nil] -> [:a nil]; 1 release [:b nil] -> [:b nil]";
    let same = &both.replace(":b", ":a");
    for kind in [ModelKind::MUTEX, ModelKind::MUTEX_STRICT] {
        verdicts(kind, &[(both, Verdict::Valid), (same, Verdict::Invalid)]);
    }
}

/// Registers under two keys, of which one is swapped from 1 to 2.
const SWAPPED: &str =
    "0 write [0 1] -> [0 1]; 1 write [:x 1] -> [:x 1]; 0 read [0 nil] -> [0 1]; 0 cas [0 1 2] -> [0 1 2]";

#[test]
fn a_key_beside_both_values_of_a_cas_is_one_of_the_keys_that_reads_have() {
    let with = |rest: &str, verdict| verdicts(ModelKind::REGISTER, &[(&format!("{SWAPPED}; {rest}"), verdict)]);
    with("0 read [0 nil] -> [0 2]; 1 read [:x nil] -> [:x 1]", Verdict::Valid);
    with("0 read [0 nil] -> [0 1]", Verdict::Invalid);
    with("1 read [:x nil] -> [:x 2]", Verdict::Invalid);
    // Both notations, an answer in the other one, and a cas of unknown outcome.
    with(
        "0 cas [0 [2 3]] -> [0 2 3]; 0 cas [0 3 4] -> [0 [3 4]]; 0 read [0 nil] -> [0 4]",
        Verdict::Valid,
    );
    with(
        "0 cas [0 [2 3]] -> [0 [2 3]]; 0 read [0 nil] -> [0 2]",
        Verdict::Invalid,
    );
    with(
        "0 invoke cas [0 2 3]; 0 info cas [0 2 3]; 1 read [0 nil] -> [0 3]",
        Verdict::Valid,
    );
    with(
        "0 invoke cas [0 2 3]; 0 fail cas [0 2 3]; 0 read [0 nil] -> [0 2]",
        Verdict::Valid,
    );
    with(
        "0 invoke cas [0 2 3]; 0 info cas :timed-out; 1 read [:x nil] -> [:x 1]",
        Verdict::Valid,
    );
}

#[test]
fn a_cas_that_may_be_of_anything_convicts_nobody() {
    let unknown = |events: &str, why: &str| {
        let results = register(events);
        assert_eq!(results.verdict, Verdict::Unknown, "{events}: {results:?}");
        says_first(&results, &[why]);
    };
    let keys = "0 write [1 1] -> [1 1]; 0 read [1 nil] -> [1 1]";
    unknown(
        &format!("{keys}; 0 cas [1 2] -> [1 2]; 0 read [1 nil] -> [1 1]"),
        "the cas of event 4 names no key, as the read of event 2 does",
    );
    unknown(
        &format!("{keys}; 0 cas [7 1 2] -> [7 1 2]; 0 read [1 nil] -> [1 1]"),
        "the cas of event 4 is of a key that nothing but such a cas names",
    );
    unknown(
        &format!("{keys}; 0 cas [1 1 2 3] -> nil; 0 read [1 nil] -> [1 1]"),
        "the cas of event 4 names no key",
    );
    unknown(
        &format!("{keys}; 0 cas [1 1 2] -> [1 1 3]; 0 read [1 nil] -> [1 1]"),
        "what the cas of event 4 did is not known: it was answered ok at event 5",
    );
    for answer in ["[1 3]", "false"] {
        unknown(
            &format!("0 write 1 -> 1; 0 cas [1 2] -> {answer}; 0 read -> 1"),
            "what the cas of event 2 did is not known",
        );
    }
    for answer in ["{:from 1 :to 3}", "false"] {
        unknown(
            &format!(
                "0 write {{:value 1}} -> {{:value 1}}; 0 cas {{:from 1 :to 2}} -> {answer}; 0 read {{}} -> {{:value 1}}"
            ),
            "what the cas of event 2 did is not known",
        );
    }
    // No read shows that writes are of keys.
    unknown(
        "0 write [0 1] -> [0 1]; 0 cas [0 1 2] -> [0 1 2]; 0 cas [0 1 2] -> [0 1 2]",
        "the cas of event 2 has no pair of values",
    );
    // Nor are the pairs of one register keys.
    verdicts(
        ModelKind::REGISTER,
        &[
            ("0 write 1 -> 1; 0 cas [1 2] -> [1 2]; 0 read -> 2", Verdict::Valid),
            ("0 write 1 -> 1; 0 cas [1 2] -> [1 2]; 0 read -> 1", Verdict::Invalid),
            (
                "0 write [0 1] -> [0 1]; 0 cas [[0 1] [0 2]] -> nil; 0 read -> [0 2]",
                Verdict::Valid,
            ),
        ],
    );
}

#[test]
fn what_names_no_key_beside_others_that_do_convicts_nobody() {
    for (kind, events, why) in [
        (
            ModelKind::REGISTER,
            "0 write 5 -> 5; 0 read [0 nil] -> [0 7]",
            "the write of event 0 names no key, as the read of event 2 does",
        ),
        (
            ModelKind::REGISTER,
            "0 write [0 1] -> [0 1]; 0 read [0 nil] -> [0 1]; 0 read -> [0 2]",
            "the read of event 4 names no key, as the read of event 2 does",
        ),
        (
            ModelKind::MUTEX,
            "0 acquire [:a nil] -> nil; 1 acquire [:b nil] -> nil; 0 release -> nil; 1 release -> nil",
            "the release of event 4 names no key, as the acquire of event 0 does",
        ),
    ] {
        let results = maps(kind, events);
        assert_eq!(results.verdict, Verdict::Unknown, "{events}: {results:?}");
        says_first(&results, &[why]);
    }
}

/// Events in every notation in which histories of others are read.
fn notations(events: &[[&str; 4]]) -> Vec<(&'static str, History)> {
    let lines = |line: &dyn Fn(&[&str; 4]) -> String| events.iter().map(line).collect::<Vec<String>>();
    let edn =
        lines(&|[process, kind, f, value]| format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n"));
    let text = lines(&|[process, kind, f, value]| format!("{process}\t:{kind}\t:{f}\t{value}\n"));
    let log: Vec<String> = text.iter().map(|line| format!("INFO  jepsen.util - {line}")).collect();
    let json = lines(&|[process, kind, f, value]| {
        let value = value.replace("nil", "null").replace(' ', ",");
        format!(r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#)
    });
    let read = [
        ("EDN", parse_edn(edn.concat().as_bytes())),
        ("history.txt", parse_txt(text.concat().as_bytes())),
        ("jepsen.log", parse_log(log.concat().as_bytes())),
        ("an array", parse_json(format!("[{}]", json.join(",")).as_bytes())),
        ("JSON lines", parse_json(json.join("\n").as_bytes())),
    ];
    let sound = |(name, (history, damage)): (&'static str, (History, Option<Damage>))| {
        assert_eq!(damage, None, "{name}");
        assert_eq!(history.events.len(), events.len(), "{name}");
        (name, history)
    };
    read.into_iter().map(sound).collect()
}

#[test]
fn a_key_beside_both_values_is_one_in_every_notation() {
    let events = |found: &'static str| {
        [
            ["0", "invoke", "write", "[7 1]"],
            ["0", "ok", "write", "[7 1]"],
            ["0", "invoke", "cas", "[7 1 2]"],
            ["0", "ok", "cas", "[7 1 2]"],
            ["1", "invoke", "read", "[7 nil]"],
            ["1", "ok", "read", found],
        ]
    };
    for (found, verdict) in [("[7 2]", Verdict::Valid), ("[7 1]", Verdict::Invalid)] {
        for (name, history) in notations(&events(found)) {
            let judged = |history: &History| told(history, ModelKind::REGISTER);
            let results = judged(&history);
            assert_eq!(results.verdict, verdict, "{name} {found}: {results:?}");
            // In another notation it is what it was.
            for (again, damage) in [
                parse_edn(to_edn(&history).as_bytes()),
                parse_log(to_log(&history).as_bytes()),
                parse_json(history.events.iter().map(to_line).collect::<String>().as_bytes()),
            ] {
                assert_eq!(damage, None, "{name}");
                assert_eq!(judged(&again), results, "{name}");
            }
        }
    }
}

/// The events of operations on a key, by position; the keys share no process.
fn keyed(key: usize, ops: &[Op<RegisterOp<u8>>]) -> Vec<(usize, String)> {
    let with = |(position, [process, kind, f, value]): (usize, [String; 4])| {
        (position, format!("{key}{process} {kind} {f} [{key} {value}]"))
    };
    events(ops).into_iter().map(with).collect()
}

#[test]
fn each_key_is_judged_as_by_itself() {
    let mut rng = Rng::with_seed(8);
    let mut bad = 0;
    for _ in 0..KEYED {
        let keys = [0, 1].map(|_| recorded(&mut rng, &|rng| access(rng, 3)));
        let mut all: Vec<(usize, String)> = (0..).zip(&keys).flat_map(|(key, ops)| keyed(key, ops)).collect();
        // A read that is never answered shows that there are keys, and nothing else.
        all.push((usize::MAX, "999 invoke read [0 nil]".to_owned()));
        all.sort_by_key(|(position, _)| *position);
        let lines: Vec<&str> = all.iter().map(|(_, line)| line.as_str()).collect();
        let fits = keys.iter().all(|ops| fits_some(ops));
        let expected = if fits { Verdict::Valid } else { Verdict::Invalid };
        bad += usize::from(expected == Verdict::Invalid);
        assert_eq!(register(&lines.join("; ")).verdict, expected, "{lines:#?}");
    }
    assert!(bad > KEYED / 20 && bad < KEYED / 20 * 19, "{bad} bad");
}
