//! Texts under keys, as porcupine writes their histories.

use super::told;
use crate::expect::{says_first, tells};
use zooquake_checkers::search::{ModelKind, infer};
use zooquake_checkers::{Results, Verdict};
use zooquake_history::{
    History,
    edn::{parse_edn, to_keyed},
    event::parse_jsonl,
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
    tells(&lost.anomalies[0], "get of \"\\\":a\\\"\"");

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
    assert!(to_keyed(&read(&FITS.replacen(":ok", ":fail", 1))).is_err_and(|what| what.starts_with("event 2: ")));
    let write = FITS.replacen(":append", ":write", 1);
    assert!(to_keyed(&read(&write)).is_err_and(|what| what.starts_with("event 0: ")));
}
