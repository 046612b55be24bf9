//! The strikes that a history has as begun, and not as seen: each may yet be carried out by the engine.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use zooquake_history::operation::nemesis::{PHASE, SCENE, STEP, VERIFIED, WINDOW};

/// Whether a history has such a strike. One that cannot be read may have any; one that is not there has none, because
/// nothing strikes before it.
pub fn unseen(history: &Path) -> bool {
    match File::open(history) {
        Ok(file) => read(BufReader::new(file)),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

fn read(history: impl BufRead) -> bool {
    let mut open = BTreeSet::new();
    for line in history.split(b'\n') {
        let Ok(line) = line else { return true };
        // Most lines are of clients. What was not written to its end has not been acted on.
        let event = match [&b"nemesis"[..], b"scene"].iter().any(|name| contains(&line, name)) {
            true => serde_json::from_slice(&line).unwrap_or_default(),
            false => Value::Null,
        };
        if !matches!(event["process"].as_str(), Some("nemesis" | "scene")) {
            continue;
        }
        let value = &event["value"];
        let scene = SCENE.read_from(value).map(str::to_owned);
        let strike = (WINDOW.read_from(value), scene, STEP.read_from(value));
        let verified = VERIFIED.read_from(value) == Some(true);
        match PHASE.read_from(value) {
            Some("begin") => drop(open.insert(strike)),
            // An engine that failed to answer may carry the strike out nevertheless.
            Some("on") if !verified => {}
            Some("on" | "skipped" | "done") => drop(open.remove(&strike)),
            _ => {}
        }
    }
    !open.is_empty()
}

fn contains(line: &[u8], name: &[u8]) -> bool {
    line.windows(name.len()).any(|part| part == name)
}

#[cfg(test)]
mod tests {
    use super::{read, unseen};
    use std::path::Path;

    fn window(number: usize, phase: &str) -> String {
        format!(r#"{{"process":"nemesis","f":"pause","value":{{"window":{number},"phase":{phase}}}}}"#) + "\n"
    }

    fn step(number: usize, phase: &str) -> String {
        format!(r#"{{"process":"scene","f":"cut","value":{{"scene":"s","step":{number},"phase":"{phase}"}}}}"#) + "\n"
    }

    #[test]
    fn a_strike_is_unseen_from_its_begin_until_its_effect_was_seen() {
        let (begin, on) = (r#""begin""#, r#""on","verified":true"#);
        let unseen = |lines: &[String]| read(lines.concat().as_bytes());
        assert!(!unseen(&[]));
        assert!(unseen(&[window(1, begin)]));
        assert!(!unseen(&[window(1, begin), window(1, on)]));
        assert!(unseen(&[window(1, begin), window(1, on), window(2, begin)]));
        assert!(!unseen(&[window(1, begin), window(1, r#""skipped""#)]));
        assert!(
            unseen(&[
                window(1, begin),
                window(1, r#""on","verified":false"#),
                window(1, r#""off""#)
            ]),
            "the engine did not answer, and may pause it yet"
        );
        assert!(unseen(&[step(1, "begin")]) && !unseen(&[step(1, "begin"), step(1, "done")]));
        assert!(unseen(&[step(1, "begin"), step(1, "done"), step(2, "begin")]));
    }

    #[test]
    fn lines_of_clients_and_half_lines_are_no_strikes() {
        let client = r#"{"process":"c1","f":"nemesis","value":{"window":1,"phase":"begin"}}"#;
        let half = &window(1, r#""begin""#)[..40];
        assert!(!read(format!("{client}\n{half}").as_bytes()));
        assert!(!unseen(Path::new("/nowhere/history.jsonl")));
    }
}
