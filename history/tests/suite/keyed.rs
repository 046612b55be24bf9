//! Independent keys, written beside the value.

use serde_json::json;
use zooquake_history::Value;
use zooquake_history::edn::parse_edn;
use zooquake_history::event::parse_jsonl;

/// The values of a history in JSON lines, after the fields that each line needs.
fn values(lines: &[&str]) -> Vec<Value> {
    let line = |(index, rest): (usize, &&str)| {
        format!("{{\"index\":{index},\"time\":{index},\"process\":0,\"type\":\"info\",\"f\":\"get\",{rest}}}\n")
    };
    let text: String = lines.iter().enumerate().map(line).collect();
    let (history, damage) = parse_jsonl(text.as_bytes());
    assert_eq!(damage, None, "{text}");
    history.events.into_iter().map(|event| event.value).collect()
}

#[test]
fn a_key_beside_a_value_is_one_of_a_pair() {
    let pairs = values(&[
        r#""key":"x","value":"a""#,
        r#""value":null,"key":3"#,
        r#""key":"x""#,
        r#""key":null,"value":1"#,
    ]);
    let wanted = [
        json!(["x", "a"]),
        json!([3, null]),
        json!(["x", null]),
        json!([null, 1]),
    ];
    assert_eq!(pairs, wanted.map(Value::from));
    let edn =
        "{:process 0 :type :info :f :get :key \"x\" :value \"a\"}{:process 0 :type :info :f :get :key nil :value 1}";
    let (history, damage) = parse_edn(edn.as_bytes());
    assert_eq!(damage, None);
    let same: Vec<&Value> = history.events.iter().map(|event| &event.value).collect();
    assert_eq!(same, [&pairs[0], &pairs[3]], "as in EDN");
}

#[test]
fn a_key_within_a_value_is_part_of_it() {
    let within = values(&[
        r#""value":{"key":"x"}"#,
        r#""value":"\"key\"""#,
        r#""error":"\"key\"","value":7"#,
    ]);
    let wanted = [json!({"key": "x"}), json!("\"key\""), json!(7)];
    assert_eq!(within, wanted.map(Value::from));
}
