//! The command line, where no ensemble is needed.

use crate::common::{NO_RESULTS, Runs, call, hand_made, refused, text, zooquake};
use serde_json::Value;
use std::path::Path;

#[test]
fn help_shows_examples_and_exit_codes() {
    let output = call(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output);
    assert!(
        text.contains("zooquake run lock/predecessor") && text.contains("254 wrong usage"),
        "{text}"
    );
    assert!(!text.contains("sidecar"), "hidden commands stay hidden: {text}");
}

#[test]
fn every_commands_help_shows_an_example() {
    let of_commands = |arguments: &[&str]| {
        let help = text(&call(&[arguments, &["--help"]].concat()));
        let (_, rest) = help.split_once("Commands:\n").expect("commands");
        let lines = rest.lines().take_while(|line| line.starts_with("  "));
        let names = lines.filter_map(|line| line.split_whitespace().next().map(String::from));
        names.filter(|name| name != "help").collect::<Vec<_>>()
    };
    let mut commands: Vec<Vec<String>> = of_commands(&[]).into_iter().map(|name| vec![name]).collect();
    let measurements = of_commands(&["measure"]).into_iter();
    commands.extend(measurements.map(|name| vec!["measure".to_string(), name]));
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands {
        let help = text(&zooquake().args(&command).arg("--help").output().expect("help"));
        assert!(help.contains(&format!("\n  zooquake {}", command.join(" "))), "{help}");
    }
}

#[test]
fn the_list_says_what_is_promised_and_known() {
    let output = call(&["list", "--json"]);
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> = list["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    for name in ["children", "predecessor", "protected", "fenced", "crate"] {
        assert!(names.contains(&format!("lock/{name}").as_str()), "{names:?}");
    }
    for name in ["fenced", "neighbour"] {
        assert!(names.contains(&format!("rwlock/{name}").as_str()), "{names:?}");
    }
    for name in ["read", "sync-read", "quorum-read"] {
        assert!(names.contains(&format!("register/{name}").as_str()), "{names:?}");
    }
    for name in ["leases", "counted"] {
        assert!(names.contains(&format!("semaphore/{name}").as_str()), "{names:?}");
    }
    for name in ["versioned", "optimistic", "unconditional"] {
        assert!(names.contains(&format!("counter/{name}").as_str()), "{names:?}");
    }
    let variants = list["variants"].as_array().unwrap();
    assert!(
        variants
            .iter()
            .all(|v| !v["promise"].as_str().unwrap().is_empty() && v["accepted"].is_array())
    );
    let fenced = variants.iter().find(|v| v["name"] == "lock/fenced").unwrap();
    assert_eq!(
        fenced["accepted"].as_array().unwrap().len(),
        0,
        "the fenced lock promises everything"
    );
    let of = |name: &str| {
        let checkers = list["checkers"].as_array().unwrap();
        checkers.iter().find(|checkers| checkers["name"] == name).unwrap()["anomalies"].clone()
    };
    assert_eq!(of("own recipe"), serde_json::json!(["client-crash"]));
    let faults: Vec<&str> = list["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        faults,
        [
            "kill",
            "pause",
            "partition",
            "drop-reply",
            "disconnect",
            "expire",
            "wipe"
        ]
    );
}

#[test]
fn a_run_that_lacks_a_file_is_named_with_the_file_and_the_way_out() {
    let runs = Runs::new("lacking");
    let run = runs.path().join("a-run");
    for file in ["history.jsonl", "plan.json"] {
        hand_made(&run);
        let pack = runs.path().join(format!("{file}.tar.gz"));
        std::fs::remove_file(run.join(file)).unwrap();
        let packed = std::process::Command::new("tar")
            .arg("-C")
            .arg(runs.path())
            .arg("-czf")
            .args([pack.as_os_str(), "a-run".as_ref()])
            .status();
        assert!(packed.expect("the tar program").success());
        let lacks = format!("lacks {file}: ");
        refused_by_check(&run, &["a-run", &lacks, "runs/latest"]);
        refused_by_check(&pack, &[".tar.gz", &lacks, "runs/latest"]);
    }
    let torn = runs.path().join("torn.tar.gz");
    let whole = std::fs::read(runs.path().join("plan.json.tar.gz")).unwrap();
    std::fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    refused_by_check(&torn, &["unpacking", "torn.tar.gz", "runs/latest"]);
}

/// `check` of the path is wrong usage, gives no verdict, and says all of this, also as JSON.
#[track_caller]
fn refused_by_check(path: &Path, said: &[&str]) {
    let path = path.to_str().unwrap();
    refused(&["check", path], &[&["no verdict"], said].concat());
    refused(&["check", path, "--json"], &[&["\"verdict\": null"], said].concat());
}

#[test]
fn a_damaged_history_is_checked_up_to_the_damage() {
    let runs = Runs::new("damaged");
    let file = runs.path().join("history.jsonl");
    let good = r#"{"index":0,"time":5,"process":0,"type":"invoke","f":"acquire","value":{"grant":"g1"},"node":"c1"}"#;
    std::fs::write(&file, format!("{good}\n{{\"index\":1,\"ti")).unwrap();
    let output = call(&["check", file.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let checked: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(checked[0]["verdict"], "unknown");
    assert_eq!(checked[0]["stats"]["events"], 1);
    let reasons = checked[0]["reasons"].to_string();
    assert!(reasons.contains("line 2, column"), "{reasons}");
}

#[test]
fn the_report_of_a_folder_of_runs_is_their_index() {
    let runs = Runs::new("index");
    refused(&["report", runs.path().to_str().unwrap()], &["no runs lie in it"]);
    let folders = ["20260301T021500-lock-fenced-7", "20260302T021500-lock-fenced-8"].map(|name| runs.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("history.jsonl"), "").unwrap();
        std::fs::write(folder.join("plan.json"), "{").unwrap();
    }
    std::fs::write(folders[0].join("results.json"), NO_RESULTS).unwrap();
    let output = call(&["report", runs.path().to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let file = runs.path().join("index.html");
    assert_eq!(told["files"], serde_json::json!([file]));
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.contains("2 runs: 1 valid, 1 not checked."), "{page}");
    assert!(page.contains("no results: `zooquake check` makes them") && page.contains("plan.json: EOF while parsing"));
    assert!(
        page.find("20260302T021500") < page.find("20260301T021500"),
        "newest first"
    );
}

#[test]
fn a_reader_that_has_gone_is_no_crash() {
    let mut child = zooquake()
        .arg("list")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starting zooquake");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_reader_may_go_but_a_full_disk_is_told() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status = zooquake()
        .arg("list")
        .stdout(writer)
        .status()
        .expect("starting zooquake");
    assert_eq!(status.code(), Some(0), "nobody reads it");
    if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
        let output = zooquake().arg("list").stdout(full).output().expect("starting zooquake");
        assert_eq!(output.status.code(), Some(255), "{}", text(&output));
        assert!(
            text(&output).contains("writing the results to stdout"),
            "{}",
            text(&output)
        );
    }
}
