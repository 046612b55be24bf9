//! Texts under keys, as porcupine writes their histories.

use super::told;
use crate::expect::{explains, says_first};
use zooquake_checkers::search::{ModelKind, infer};
use zooquake_checkers::{Results, Verdict};
use zooquake_history::{
    History,
    edn::{parse_edn, to_keyed},
    event::parse_jsonl,
    textlog::parse_log,
};

/// A history of a key `x` and one of a key `y`.
const FITS: &str = r#"{:process 0, :type :invoke, :f :append, :key "x", :value ":a"}
{:process 1, :type :invoke, :f :append, :key "x", :value "b"}
{:process 0, :type :ok, :f :append, :key "x", :value ":a"}
{:process 1, :type :ok, :f :append, :key "x", :value "b"}
{:process 0, :type :invoke, :f :get, :key "x", :value nil}
{:process 1, :type :invoke, :f :put, :key "y", :value "1"}
{:process 0, :type :ok, :f :get, :key "x", :value "b:a"}
{:process 1, :type :ok, :f :put, :key "y", :value "1"}
"#;

fn read(text: &str) -> History {
    let (history, damage) = parse_edn(text.as_bytes());
    assert_eq!(damage, None);
    history
}

fn judged(text: &str) -> Results {
    let history = read(text);
    assert_eq!(infer(&history), Some(ModelKind::KV));
    told(&history, ModelKind::KV)
}

#[test]
fn histories_of_porcupine_are_judged_key_by_key() {
    let valid = judged(FITS);
    assert_eq!(valid.verdict, Verdict::Valid, "{:?}", valid.reasons);
    says_first(&valid, &["with 2 keys"]);

    // What was appended second is gone.
    let lost = judged(&FITS.replace("\"b:a\"", "\":a\""));
    assert_eq!(lost.verdict, Verdict::Invalid);
    assert_eq!(lost.anomalies[0].witness, [1, 3, 4, 6], "{}", lost.anomalies[0].why);
    explains(&lost.anomalies[0], "get of \"\\\":a\\\"\"");

    // A value that is no text is unknown.
    let nil = judged(&FITS.replace("\"b:a\"", "nil"));
    assert_eq!(nil.verdict, Verdict::Unknown);
    says_first(&nil, &["the get of event 4 has no text"]);

    // An append without an answer may have happened, or not.
    let mut unanswered = FITS.replace(r#"{:process 1, :type :ok, :f :append, :key "x", :value "b"}"#, "");
    for put in [":type :invoke, :f :put", ":type :ok, :f :put"] {
        unanswered = unanswered.replace(&format!(":process 1, {put}"), &format!(":process 2, {put}"));
    }
    for (found, fits) in [("b:a", true), (":a", true), ("bb", false)] {
        let verdict = if fits { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(judged(&unanswered.replace("b:a", found)).verdict, verdict, "{found}");
    }
}

/// A text under a key is swapped, beside one of another key.
const SWAPPED: &str = r#"{:process 0, :type :invoke, :f :put, :key "x", :value "a"}
{:process 0, :type :ok, :f :put, :key "x", :value "a"}
{:process 1, :type :invoke, :f :put, :key "y", :value "a"}
{:process 1, :type :ok, :f :put, :key "y", :value "a"}
{:process 0, :type :invoke, :f :cas, :key "x", :value ["a" "b"]}
{:process 0, :type :ok, :f :cas, :key "x", :value ["a" "b"]}
{:process 1, :type :invoke, :f :get, :key "x", :value nil}
{:process 1, :type :ok, :f :get, :key "x", :value "b"}
"#;

#[test]
fn texts_under_keys_are_swapped() {
    let with = |edit: &[(&str, &str)], verdict| {
        let text = edit
            .iter()
            .fold(SWAPPED.to_owned(), |text, (from, to)| text.replace(from, to));
        let results = judged(&text);
        assert_eq!(results.verdict, verdict, "{text}: {results:?}");
        results
    };
    let found = |text: &'static str| (r#":value "b"}"#, text);
    with(&[], Verdict::Valid);
    with(&[(r#":value ["a" "b"]"#, r#":value ("a" "b")"#)], Verdict::Valid);
    // It wrote nothing, wrote under the other key, wanted another text.
    let lost = with(&[found(r#":value "a"}"#)], Verdict::Invalid);
    explains(&lost.anomalies[0], "the cas of [\"a\",\"b\"] by process 0");
    with(&[(":get, :key \"x\"", ":get, :key \"y\"")], Verdict::Invalid);
    let wanted = with(&[("[\"a\" \"b\"]", "[\"c\" \"b\"]")], Verdict::Invalid);
    assert_eq!(wanted.anomalies[0].witness, [4, 5], "nobody had put what it found");
    // What failed, or may have happened, proves nothing.
    let ok = r#"{:process 0, :type :ok, :f :cas, :key "x", :value ["a" "b"]}"#;
    for (end, found, verdict) in [
        (":fail", "a", Verdict::Valid),
        (":fail", "b", Verdict::Invalid),
        (":info", "a", Verdict::Valid),
        (":info", "b", Verdict::Valid),
        (":info", "c", Verdict::Invalid),
    ] {
        let text = SWAPPED.replace(ok, &ok.replace(":ok", end));
        let text = text.replace(":value \"b\"}", &format!(":value \"{found}\"}}"));
        assert_eq!(judged(&text).verdict, verdict, "{end} {found}");
    }
    let nil = with(&[("[\"a\" \"b\"]", "[nil \"b\"]")], Verdict::Unknown);
    says_first(&nil, &["the cas of event 4 has no text"]);
    let refused = with(&[(ok, &ok.replace("[\"a\" \"b\"]", "false"))], Verdict::Unknown);
    says_first(&refused, &["what the cas of event 4 did is not known"]);
}

#[test]
fn a_swap_with_its_key_in_the_value_is_the_same_in_a_log() {
    for (found, verdict) in [("b", Verdict::Valid), ("a", Verdict::Invalid)] {
        for swap in ["[\"x\" \"a\" \"b\"]", "[\"x\" [\"a\" \"b\"]]"] {
            let events = [
                "0 :invoke :put [\"x\" \"a\"]",
                "0 :ok :put [\"x\" \"a\"]",
                &format!("0 :invoke :cas {swap}"),
                &format!("0 :ok :cas {swap}"),
                "0 :invoke :get [\"x\" nil]",
                &format!("0 :ok :get [\"x\" \"{found}\"]"),
            ];
            let log: String = events
                .iter()
                .map(|event| format!("INFO  jepsen.util - {event}\n"))
                .collect();
            let (history, damage) = parse_log(log.as_bytes());
            assert_eq!(damage, None);
            assert_eq!(infer(&history), Some(ModelKind::KV));
            let results = told(&history, ModelKind::KV);
            assert_eq!(results.verdict, verdict, "{swap} {found}: {results:?}");
            // In porcupine's text the key stands beside the pair.
            let text = to_keyed(&history).expect("the notation has words for it");
            assert!(text.contains(":f :cas, :key \"x\", :value [\"a\" \"b\"]"), "{text}");
            assert_eq!(judged(&text).verdict, verdict, "{text}");
        }
    }
}

#[test]
fn a_key_beside_a_value_is_read_from_json_lines_too() {
    let lines = |found: &str| {
        let line =
            |(index, rest): (usize, &str)| format!("{{\"index\":{index},\"time\":{index},\"process\":0,{rest}}}\n");
        let found = format!(r#""type":"ok","f":"get","key":"y","value":"{found}""#);
        let events = [
            r#""type":"invoke","f":"put","key":"x","value":"a""#,
            r#""type":"ok","f":"put","key":"x","value":"a""#,
            r#""type":"invoke","f":"get","key":"y","value":null"#,
            &found,
        ];
        events.into_iter().enumerate().map(line).collect::<String>()
    };
    for (found, verdict) in [("", Verdict::Valid), ("a", Verdict::Invalid)] {
        let (history, damage) = parse_jsonl(lines(found).as_bytes());
        assert_eq!(damage, None);
        assert_eq!(infer(&history), Some(ModelKind::KV));
        let results = told(&history, ModelKind::KV);
        assert_eq!(results.verdict, verdict, "{found:?}: {results:?}");
    }
}

#[test]
fn histories_of_porcupine_are_written_as_they_were() {
    assert_eq!(to_keyed(&read(FITS)).as_deref(), Ok(FITS));
    assert_eq!(to_keyed(&read(SWAPPED)).as_deref(), Ok(SWAPPED));
    let nil = SWAPPED.replace("[\"a\" \"b\"]", "[nil \"b\"]");
    assert!(to_keyed(&read(&nil)).is_err_and(|what| what.starts_with("event 4: expected a key and two values")));
    assert!(to_keyed(&read(&FITS.replacen(":ok", ":fail", 1))).is_err_and(|what| what.starts_with("event 2: ")));
    let write = FITS.replacen(":append", ":write", 1);
    assert!(to_keyed(&read(&write)).is_err_and(|what| what.starts_with("event 0: ")));
}
