//! Values of events are those of `serde_json` in another form.

use fastrand::Rng;
use serde_json::json;
use zooquake_history::{Text, Value};

const TIMES: usize = 20_000;

/// Names of which some come again in the same object.
const NAMES: [&str; 6] = ["grant", "path", "", "ü", "a\"b", "czxid"];

/// A text of JSON.
fn text(rng: &mut Rng, depth: usize) -> String {
    let list = |rng: &mut Rng, one: &dyn Fn(&mut Rng) -> String| {
        let all: Vec<String> = (0..rng.usize(0..5)).map(|_| one(rng)).collect();
        all.join(",")
    };
    match rng.u8(0..if depth == 0 { 6 } else { 8 }) {
        0 => "null".to_owned(),
        1 => rng.bool().to_string(),
        2 => [rng.i64(..).to_string(), rng.u64(..).to_string()][rng.usize(0..2)].clone(),
        3 => json!(rng.f64() * 1e9).to_string(),
        4 | 5 => json!(NAMES[rng.usize(0..6)].repeat(rng.usize(0..30))).to_string(),
        6 => format!("[{}]", list(rng, &|rng| text(rng, depth - 1))),
        _ => {
            let entry = |rng: &mut Rng| format!("{}: {}", json!(NAMES[rng.usize(0..6)]), text(rng, depth - 1));
            format!("{{{}}}", list(rng, &entry))
        }
    }
}

#[test]
fn what_is_read_is_what_serde_json_reads_and_is_written_to_the_same_bytes() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..TIMES {
        let text = text(&mut rng, 3);
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        let ours: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(ours, theirs, "{text}");
        assert_eq!(ours, Value::from(theirs.clone()), "{text}");
        assert_eq!(serde_json::Value::from(&ours), theirs, "{text}");
        assert_eq!(ours.to_string(), theirs.to_string());
        assert_eq!(serde_json::to_string(&ours).unwrap(), theirs.to_string());
        assert_eq!(
            (
                ours.is_null(),
                ours.as_bool(),
                ours.as_i64(),
                ours.as_u64(),
                ours.as_str(),
                ours.is_u64()
            ),
            (
                theirs.is_null(),
                theirs.as_bool(),
                theirs.as_i64(),
                theirs.as_u64(),
                theirs.as_str(),
                theirs.is_u64()
            )
        );
        for name in NAMES {
            assert_eq!(ours[name], theirs[name], "{text}");
            assert_eq!(ours.get(name).is_some(), theirs.get(name).is_some(), "{text}");
        }
        assert_eq!(ours[1], theirs[1], "{text}");
        assert_eq!(ours.as_array().map(<[Value]>::len), theirs.as_array().map(Vec::len));
        let found = ours.as_object().map(|all| all.len());
        assert_eq!(found, theirs.as_object().map(|all| all.len()));
    }
}

#[test]
fn what_serde_json_refuses_is_refused() {
    for text in ["", "{", "[1,]", "{\"a\" 1}", "nul", "1e999", "\"\\x\"", "{1: 2}"] {
        let ours = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
        let theirs = serde_json::from_str::<serde_json::Value>(text).map_err(|error| error.to_string());
        assert_eq!(ours.unwrap_err(), theirs.unwrap_err(), "{text}");
    }
}

#[test]
fn entries_are_set_and_taken_away() {
    let mut value = Value::from(json!({"b": 1, "a": [1, 2]}));
    value["c"] = "x".into();
    value["a"][1] = 3.into();
    value["b"] = Value::Null;
    assert_eq!(value.to_string(), r#"{"a":[1,3],"b":null,"c":"x"}"#);
    let fields = value.as_object_mut().unwrap();
    assert_eq!(fields.remove("b"), Some(Value::Null));
    assert_eq!(fields.remove("b"), None);
    fields.insert("a", false);
    assert!(fields.contains_key("a") && !fields.is_empty());
    assert_eq!(value, json!({"a": false, "c": "x"}));
}

#[test]
fn texts_are_what_they_were_made_of_whichever_were_made_before() {
    let mut rng = Rng::with_seed(9);
    let drawn: Vec<String> = (0..TIMES)
        .map(|_| format!("{}{}", NAMES[rng.usize(0..6)].repeat(rng.usize(0..20)), rng.u16(..)))
        .collect();
    let texts: Vec<Text> = drawn.iter().map(Text::from).collect();
    for (text, drawn) in texts.iter().zip(&drawn) {
        assert_eq!(text, drawn);
        assert_eq!(format!("{text} {text:?}"), format!("{drawn} {drawn:?}"));
    }
    let again = Text::from(drawn[0].as_str());
    assert_eq!((again.clone(), again.as_str()), (texts[0].clone(), drawn[0].as_str()));
    assert!(std::ptr::eq(Text::from("grant").as_str(), Text::from("grant").as_str()));
}
