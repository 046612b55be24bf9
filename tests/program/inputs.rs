//! What `check` is given: in which forms, without a plan, damaged beside sound, hostile.

use crate::common::jepsen::{FRESH, STALE, check};
use crate::common::{ProgramOutput, Runs, hand_made, output_of, zooquake};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use zooquake_history::Node;

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
        let process: usize = words[0].parse().unwrap();
        let (kind, f, node) = (words[1], words[2], Node::client(process + 1).to_string());
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
fn a_plan_of_a_format_that_is_not_known_cannot_be_read() {
    let runs = Runs::new("later-format");
    hand_made(runs.path());
    let plan = runs.path().join("plan.json");
    let text = fs::read_to_string(&plan).unwrap();
    let mut later: Value = serde_json::from_str(&text).unwrap();
    later["format"] = json!(9);
    fs::write(&plan, later.to_string()).unwrap();
    for input in [runs.path(), &runs.path().join("history.jsonl")] {
        check(input, "").ends(254).with(&["plan.json is of format 9"]);
    }
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
    let output = check(folder.path(), "").ends(254);
    for line in [
        "a-run: no verdict: ",
        "torn.tar.gz: no verdict: ",
        "fresh.log: verdict: valid",
        "stale.edn: verdict: invalid",
    ] {
        assert!(output.stdout.contains(line), "{line}: {output}");
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
fn why_a_plan_cannot_be_read_is_shown_wherever_its_run_is_given() {
    let runs = Runs::new("broken-plan");
    let run = runs.path().join("run");
    hand_made(&run);
    let broken = fs::read_to_string(run.join("plan.json")).unwrap();
    fs::write(run.join("plan.json"), broken.replacen("7", "\"seven\"", 1)).unwrap();
    let why = "plan.json, line 1, column 26: invalid type: string \"seven\"";
    check(&run, "").ends(2).with(&[why]);
    let call = |line: &str| output_of(zooquake(line).arg(&run));
    call("report").ends(0).with(&[why]);
    for line in ["replay", "shrink"] {
        call(line).ends(254).with(&[why]).without(&["format"]);
    }
}

#[test]
fn a_wrong_path_is_wrong_usage() {
    let folder = histories("wrong");
    for line in ["check . gone", "check . --expect gone"] {
        output_of(zooquake(line).current_dir(folder.path())).ends(254);
    }
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let folder = Runs::new("escapes");
    let name = "a\u{1b}[2Jb\nverdict: valid\u{202e}.edn";
    let value = "\"\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\"";
    let stale = STALE.replace(":value 3", &format!(":value {value}"));
    let judged = checked(&folder, name, stale.as_bytes()).ends(1);
    for output in [
        &judged.stdout,
        &check(folder.path(), "--json").stdout,
        &check(&folder.path().join("\u{1b}[1m"), "").stderr,
    ] {
        let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!output.contains(steers), "{output:?}");
        assert!(output.contains("\\u001b["), "{output:?}");
    }
    let mut lines = judged.stdout.lines();
    assert!(!lines.any(|line| line.starts_with("verdict: valid")), "{judged}");
}

/// A run of Jepsen's as it is stored: a stale read, in the three files of its history.
fn stored(folder: &Path, valid: &str) {
    let plain = "0\t:invoke\t:write\t3\n0\t:ok\t:write\t3\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t0\n";
    let log: String = plain
        .lines()
        .map(|line| {
            format!("2019-06-10 10:31:00,100{{GMT}}\tINFO\t[jepsen worker 0] jepsen.util: {line}\n\tat a.trace\n")
        })
        .collect();
    fs::create_dir_all(folder.join("independent/1")).unwrap();
    fs::create_dir_all(folder.join("n1")).unwrap();
    for (name, content) in [
        ("history.edn", STALE),
        ("history.txt", plain),
        ("jepsen.log", &log),
        (
            "results.edn",
            &format!("{{:stats {{:valid? true}},\n :valid? {valid}}}\n"),
        ),
        ("test.edn", "{:name \"x\"}"),
        ("independent/1/history.edn", STALE),
        ("independent/1/results.edn", "{:valid? true}"),
        ("n1/db.log", "INFO starting\n"),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
}

#[test]
fn of_a_run_of_jepsens_the_first_history_that_is_there_is_judged() {
    let store = Runs::new("jepsen-store");
    let run = store.path().join("register/20181129T194100.000Z");
    stored(&run, "false");
    std::os::unix::fs::symlink("20181129T194100.000Z", run.with_file_name("latest")).unwrap();
    std::os::unix::fs::symlink(&run, store.path().join("latest")).unwrap();
    for copies in [
        "note: history.txt and jepsen.log and independent beside it are copies",
        "note: jepsen.log and independent beside it are copies",
        "note: independent beside it is a copy",
    ] {
        let output =
            output_of(zooquake("check --model register").args([store.path(), &store.path().join("latest")])).ends(1);
        let output = output.with(&[copies, "not-linearizable"]);
        assert_eq!(output.stdout.matches("verdict: ").count(), 1, "{output}");
        let first = ["history.edn", "history.txt", "jepsen.log"].map(|name| run.join(name));
        fs::remove_file(first.into_iter().find(|file| file.exists()).unwrap()).unwrap();
    }
    check(&run.join("results.edn"), "")
        .ends(254)
        .with(&["results.edn", "none itself"]);
    check(&run.join("test.edn"), "").ends(254);
}

#[test]
fn a_verdict_is_held_against_what_jepsen_found() {
    let store = Runs::new("jepsen-results");
    let run = store.path().join("register/1");
    let expected = |valid: &str, code| {
        stored(&run, valid);
        check(store.path(), "--model register --expect-results").ends(code)
    };
    expected("false", 0).with(&["1 of 1 verdicts are as expected"]);
    expected("true", 1).with(&["expected valid (register), found invalid", "0 of 1"]);
    expected(":unknown", 1).with(&["expected unknown", "found invalid"]);
    expected("nil", 254).with(&["results.edn: :valid? is nil"]);
    let one = output_of(zooquake("check --expect-results --json").arg(&run)).json();
    assert!(one[0]["error"].to_string().contains("no verdict"), "{one}");
    // What Jepsen has not analysed is compared with nothing.
    let other = store.path().join("register/2");
    stored(&other, "false");
    fs::remove_file(other.join("results.edn")).unwrap();
    expected("false", 0).with(&["there is no results.edn beside it", "1 of 1"]);
    check(&other, "--expect-results").ends(254);
}

#[test]
fn events_of_others_in_json_and_plain_text_are_read() {
    let folder = Runs::new("foreign");
    let event = |process, kind: &str, f: &str, value: Value| {
        json!({"process": process, "type": kind, "f": f, "value": value}).to_string()
    };
    let lines = [
        event(0, "invoke", "write", json!(1)),
        event(0, "ok", "write", json!(1)),
        event(1, "invoke", "read", Value::Null),
        event(1, "ok", "read", json!(2)),
    ];
    let array = format!("[{}]\n", lines.join(",\n"));
    for name in ["array.json", "array.jsonl", "array.txt", "array"] {
        checked(&folder, name, array.as_bytes())
            .ends(1)
            .with(&["not-linearizable"]);
    }
    checked(&folder, "lines.jsonl", lines.join("\n").as_bytes()).ends(1);
    checked(&folder, "lines.json", lines.join("\n").as_bytes()).ends(1);
    fs::write(folder.path().join("package.json"), "{\"name\": \"x\"}").unwrap();
    let all = check(folder.path(), "--json").json();
    assert_eq!(all.as_array().unwrap().len(), 5, "{all}");
    check(&folder.path().join("package.json"), "").ends(254);
    // Beside a plan they are ours.
    fs::write(folder.path().join("plan.json"), "{}").unwrap();
    check(&folder.path().join("lines.jsonl"), "--model register")
        .ends(2)
        .with(&["missing field `index`"]);
    let plain = "0\t:invoke\t:write\t1\n0\t:info\t:write\t1\tconnection: \"lost\n at x\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t1\n";
    checked(&folder, "a.txt", plain.as_bytes()).ends(0);
    let broken = checked(&folder, "b.txt", format!("{plain}oops\n\n{plain}").as_bytes()).ends(2);
    broken.with(&[
        "line 6, column 1: expected an event",
        "the 5 lines after it are not read either",
    ]);
}

#[test]
fn what_cannot_be_converted_or_read_is_a_wrong_input() {
    let folder = histories("unread");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("cut.edn"), &STALE[..STALE.len() - 8]).unwrap();
    output_of(zooquake("convert").args([at("cut.edn"), at("out.jsonl")])).ends(254);
    fs::write(at("torn.edn.gz"), [0x1f, 0x8b, 8]).unwrap();
    output_of(zooquake("convert").args([at("torn.edn.gz"), at("out.jsonl")])).ends(254);
    for line in ["stale.edn array.json", "array.json back.edn", "fresh.log lines.jsonl"] {
        output_of(zooquake(&format!("convert {line}")).current_dir(folder.path())).ends(0);
    }
    assert!(
        fs::read_to_string(at("array.json"))
            .unwrap()
            .starts_with("[{\"index\":0")
    );
    check(&at("back.edn"), "").ends(1);
    fs::write(at("night.jsonl"), "{\"line\":\"campaign\",\"name\":\"x\"}\n").unwrap();
    check(&at("night.jsonl"), "")
        .ends(254)
        .with(&["night.jsonl is no history"]);
    let all = check(folder.path(), "--json").json();
    let named = |name: &str| {
        all.as_array()
            .unwrap()
            .iter()
            .any(|one| one["path"].to_string().contains(name))
    };
    assert!(named("stale.edn") && !named("night.jsonl"), "{all}");
    let pipe = at("pipe.edn");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    check(&pipe, "").ends(254).with(&["pipe.edn", "nothing writes"]);
    let (to, writer) = (pipe.clone(), STALE);
    let writer = std::thread::spawn(move || fs::write(to, writer));
    check(&pipe, "").ends(1);
    writer.join().unwrap().unwrap();
}

#[test]
fn what_unpacks_to_too_much_is_refused_by_name() {
    let folder = Runs::new("bomb");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b'\n'; 1 << 20];
    (0..=512).for_each(|_| gzip.write_all(&zeros).unwrap());
    let bomb = gzip.finish().unwrap();
    checked(&folder, "bomb.edn.gz", &bomb)
        .ends(254)
        .with(&["bomb.edn.gz unpacks to more than 512 MiB"]);
}
