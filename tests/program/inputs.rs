//! What `check` is given: in which forms, without a plan, damaged beside sound, hostile.

use crate::common::jepsen::{FRESH, STALE, check};
use crate::common::{ProgramOutput, Runs, hand_made, said, zooquake};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;

/// A folder of two histories.
fn histories(name: &str) -> Runs {
    let folder = Runs::new(name);
    fs::create_dir_all(folder.path()).unwrap();
    fs::write(folder.path().join("stale.edn"), STALE).unwrap();
    fs::write(folder.path().join("fresh.log"), FRESH).unwrap();
    folder
}

/// A history of ours, a line for each `process type f`, with its value.
fn ours(lines: &[(&str, Value)]) -> String {
    let line = |(index, (words, value)): (usize, &(&str, Value))| {
        let words: Vec<&str> = words.split(' ').collect();
        let process: u64 = words[0].parse().unwrap();
        let (kind, f, node) = (words[1], words[2], format!("c{}", process + 1));
        let event = json!({ "index": index, "time": index, "process": process, "type": kind, "f": f, "value": value, "node": node });
        format!("{event}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

/// Writes a file and checks it.
fn checked(folder: &Runs, name: &str, content: &[u8]) -> ProgramOutput {
    let file = folder.path().join(name);
    fs::write(&file, content).unwrap();
    check(&file, "")
}

#[test]
fn what_was_compressed_or_marked_is_read_whatever_it_is_called() {
    let folder = Runs::new("packed");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(STALE.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    for name in ["stale.edn", "stale.edn.gz"] {
        checked(&folder, name, &packed).ends(1);
    }
    // A file of zstd's may be several frames, one after the other.
    let (first, second) = STALE.split_at(STALE.find('\n').unwrap() + 1);
    let frame = |part: &str| compress_to_vec(part.as_bytes(), CompressionLevel::Fastest);
    checked(&folder, "stale.edn.zst", &[frame(first), frame(second)].concat()).ends(1);
    let all = check(folder.path(), "--json").json();
    assert_eq!(all.as_array().unwrap().len(), 3, "{all}");
    checked(&folder, "fresh.log", format!("\u{feff}{}", &FRESH).as_bytes()).ends(0);
    checked(&folder, "torn.edn.gz", &packed[..packed.len() / 2])
        .ends(254)
        .with(&["unpacking", "give a history file"]);
}

#[test]
fn without_a_report_only_the_results_are_written() {
    let folder = Runs::new("no-report");
    hand_made(folder.path());
    check(folder.path(), "--no-report").ends(2);
    let there = |name: &str| folder.path().join(name).exists();
    assert!(there("results.json") && !there("report.html"));
    check(folder.path(), "");
    assert!(there("report.html"));
}

#[test]
fn what_nothing_judges_is_named_and_never_taken_for_something_else() {
    let folder = Runs::new("named");
    let unknown = |name: &str, content: &str| checked(&folder, name, content.as_bytes()).ends(2);
    let txn = "{:process 0, :type :invoke, :f :txn, :value [[:r 1 nil]]}\n{:process 0, :type :ok, :f :txn, :value [[:r 1 [1]]]}\n";
    unknown("txn.edn", txn).with(&["no checker judges the operations txn"]);
    unknown("bad.edn", "{:process 0, :type :invoke, :f :write, :value 12abc}")
        .with(&["line 1, column 47: \"12abc\" is not a number"])
        .without(&["expected value at"]);
    unknown("queue.edn", "{:process 0 :type :invoke :f :enqueue :value 3}").with(&["operations enqueue"]);
}

#[test]
fn a_history_of_ours_without_a_plan_is_judged_by_what_it_shows() {
    let folder = Runs::new("bare");
    let twice = [
        ("0 invoke enqueue", json!({"item":1})),
        ("0 ok enqueue", json!({"item":1})),
        ("1 invoke dequeue", json!({})),
        ("1 ok dequeue", json!({"item":1})),
        ("2 invoke dequeue", json!({})),
        ("2 ok dequeue", json!({"item":1})),
        ("2 invoke acknowledge", json!({"item":1})),
        ("2 ok acknowledge", json!({"item":1})),
    ];
    let claimed = checked(&folder, "claimed.jsonl", ours(&twice).as_bytes()).ends(2);
    claimed.with(&["plan.json is missing: items are claimed"]);
    let early = [
        ("3 invoke enter", json!({"round":1,"members":1})),
        ("3 ok enter", json!({"round":1})),
        ("0 invoke join", json!({"round":1,"members":1,"member":1})),
    ];
    let barrier = checked(&folder, "barrier.jsonl", ours(&early).as_bytes()).ends(1);
    barrier.with(&["early-release"]);
    let stale = [
        ("0 invoke write", json!({"value":1})),
        ("0 ok write", json!({"value":1})),
        ("1 invoke read", json!({})),
        ("1 ok read", json!({"value":null})),
    ];
    // An old value may be read.
    checked(&folder, "register.jsonl", ours(&stale).as_bytes()).ends(2);
    check(&folder.path().join("register.jsonl"), "--model register").ends(1);
}

#[test]
fn an_input_that_cannot_be_read_keeps_no_other_from_its_verdict() {
    let folder = histories("damaged");
    let run = folder.path().join("a-run");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("plan.json"), "{").unwrap();
    fs::write(folder.path().join("torn.tar.gz"), [0x1f, 0x8b, 8]).unwrap();
    let told = check(folder.path(), "").ends(254);
    for line in [
        "a-run: no verdict: ",
        "torn.tar.gz: no verdict: ",
        "fresh.log: verdict: valid",
        "stale.edn: verdict: invalid",
    ] {
        assert!(told.stdout.contains(line), "{line}: {told}");
    }
    let all = check(folder.path(), "--json").json();
    assert_eq!((all.as_array().unwrap().len(), &all[0]["verdict"]), (4, &Value::Null));
    assert!(all[0]["error"].to_string().contains("lacks history.jsonl"), "{all}");
}

#[test]
fn a_folder_that_cannot_be_written_gets_its_verdict() {
    let folder = Runs::new("unwritable");
    let run = folder.path().join("run");
    // A folder cannot be replaced by a file, not even by root.
    fs::create_dir_all(run.join("results.json/in the way")).unwrap();
    fs::write(run.join("plan.json"), "{").unwrap();
    fs::write(run.join("history.jsonl"), "").unwrap();
    let judged = check(&run, "").ends(2);
    judged.with(&["verdict: unknown", "warning: results.json and the report of"]);
}

#[test]
fn a_wrong_path_is_wrong_usage() {
    let folder = histories("wrong");
    for line in ["check . gone", "check . --expect gone"] {
        said(zooquake(line).current_dir(folder.path())).ends(254);
    }
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let folder = Runs::new("escapes");
    let name = "a\u{1b}[2Jb\nverdict: valid\u{202e}.edn";
    let value = "\"\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\"";
    let stale = STALE.replace(":value 3", &format!(":value {value}"));
    let judged = checked(&folder, name, stale.as_bytes()).ends(1);
    for said in [
        &judged.stdout,
        &check(folder.path(), "--json").stdout,
        &check(&folder.path().join("\u{1b}[1m"), "").stderr,
    ] {
        let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!said.contains(steers), "{said:?}");
        assert!(said.contains("\\u001b["), "{said:?}");
    }
    let mut lines = judged.stdout.lines();
    assert!(!lines.any(|line| line.starts_with("verdict: valid")), "{judged}");
}
