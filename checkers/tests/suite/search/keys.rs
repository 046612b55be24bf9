//! Jepsen's independent keys: each is an object of its own, and is judged as by itself.

use super::brute::fits_some;
use super::drawn::{access, recorded};
use super::foreign::{events, register, verdicts};
use crate::expect::says_first;
use fastrand::Rng;
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
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
