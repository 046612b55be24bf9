//! The command line, where no ensemble is needed.

mod common;

use common::{NO_RESULTS, Runs, call, hand_made, refused, text, zooquake};
use serde_json::Value;

#[test]
fn wrong_usage_names_the_way_out() {
    refused(
        &["run", "lock/predecesor"],
        &["did you mean `lock/predecessor`", "lock/fenced"],
    );
    refused(&["run", "lock"], &["there is no variant `lock`", "lock/children"]);
    refused(
        &["run", "lock/fenced", "--faults", "pauze"],
        &["did you mean `pause`", "kill", "partition"],
    );
    refused(&["run", "lock/fenced", "--servers", "2"], &["1, 3 or 5"]);
    refused(&["run", "lock/fenced", "--timing", "250/4/100"], &["500 to 5000 ms"]);
    refused(&["run", "lock/fenced", "--time", "soon"], &["60s, 2m or 500ms"]);
    refused(&["check", "/nowhere/at/all"], &["/nowhere/at/all"]);
    refused(&["nonsense"], &["nonsense"]);
}

#[test]
fn a_wrong_path_is_wrong_usage_in_every_command() {
    let base = Runs::new("paths");
    let path = |name: &str| base.path().join(name).to_str().unwrap().to_string();
    hand_made(&base.path().join("run"));
    std::fs::create_dir(path("empty")).unwrap();
    std::fs::write(path("file"), "text").unwrap();
    std::fs::write(path("torn.tar.gz"), "no gzip").unwrap();
    std::fs::write(path("history.jsonl"), "").unwrap();
    std::fs::create_dir(path("odd")).unwrap();
    std::fs::write(path("odd/plan.json"), "{}").unwrap();
    // No file that can be read, even for root.
    std::fs::create_dir(path("odd/history.jsonl")).unwrap();
    let [missing, file, torn, empty, run, odd, below] =
        ["missing", "file", "torn.tar.gz", "empty", "run", "odd", "file/below"].map(path);
    let [history, folder] = ["history.jsonl", "folder.jsonl"].map(path);
    std::fs::create_dir(&folder).unwrap();
    let campaign = "a campaign in TOML";
    let out = ["--out", &below];
    for (arguments, wrong, way_out) in [
        (&["replay", &missing][..], &missing, "runs/latest"),
        (&["replay", &file], &file, "runs/latest"),
        (&["replay", &torn], &torn, "runs/latest"),
        (&["replay", &empty], &empty, "runs/latest"),
        (&["replay", &odd], &odd, "runs/latest"),
        (&["replay", &below], &below, "runs/latest"),
        (&["replay", &run, "--out", &file], &file, "--out"),
        (&["report", &missing], &missing, "runs/latest"),
        (&["report", &file], &file, "runs/latest"),
        (&["report", &torn], &torn, "runs/latest"),
        (&["report", &empty], &empty, "no runs lie in it"),
        (&["report", &odd], &odd, "runs/latest"),
        (&["report", &run], &run, "zooquake check"),
        (&["pack", &missing], &missing, "runs/latest"),
        (&["pack", &file], &file, "runs/latest"),
        (&["pack", &empty], &empty, "runs/latest"),
        (&["pack", &odd], &odd, "runs/latest"),
        (&["pack", &run, "--out", &empty], &empty, "--out"),
        (&["pack", &run, "--out", &below], &below, "--out"),
        (&["convert", &missing, "o.edn"], &missing, "IN"),
        (&["convert", &folder, "o.edn"], &folder, "IN"),
        (&["convert", &history, &path("missing/o.edn")], &missing, "OUT"),
        (&["nightly", &missing], &missing, campaign),
        (&["nightly", &empty], &empty, campaign),
        (&["nightly", out[0], out[1]], &file, "--out"),
        (&["nightly", "--out", &empty, "--junit", &empty], &empty, "--junit"),
        (&["nightly", "--out", &empty, "--junit", &below], &file, "--junit"),
        (&["run", "lock/fenced", out[0], out[1]], &file, "--out"),
        (&["run", "lock/fenced", "--out", &file], &file, "--out"),
        (&["compare", "lock", "--out", &file], &file, "--out"),
        (&["measure", "herd", "--out", &file], &file, "--out"),
        (&["measure", "commit", "--out", &file], &file, "--out"),
    ] {
        let wrong = wrong.rsplit('/').next().unwrap();
        refused(arguments, &[wrong, way_out]);
    }
    assert!(!base.path().join("missing").exists(), "nothing was made");
}

/// The exit code and what was said, where no engine answers.
fn without_engine(arguments: &[&str]) -> (Option<i32>, String) {
    let output = zooquake()
        .args(arguments)
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .output();
    let output = output.expect("starting zooquake");
    (output.status.code(), text(&output))
}

#[test]
fn what_cannot_end_valid_is_refused_before_it_begins() {
    let base = Runs::new("short");
    let out = base.path().to_str().unwrap();
    let campaign = base.path().join("short.toml");
    let cells = "variants = [\"lock/fenced\"]\nfaults = [\"none\", \"pause\", \"drop-reply\"]\nseeds = [1, 2]\n";
    let campaign_of = |time: &str| std::fs::write(&campaign, format!("{cells}time = \"{time}\"\n")).unwrap();
    let run = [
        "run",
        "lock/fenced",
        "--faults",
        "pause,kill",
        "--seed",
        "1",
        "--out",
        out,
    ];
    let compare = ["compare", "lock", "--faults", "none,pause", "--runs", "2", "--out", out];
    let nightly = ["nightly", campaign.to_str().unwrap(), "--out", out];
    for (command, short, named) in [
        (
            &run[..],
            &["--time", "4s"][..],
            &["no window of pause", "lock/fenced"][..],
        ),
        (&run[..4], &["--time", "4s", "--out", out], &["no window of pause"]),
        (
            &compare,
            &["--time", "4s"],
            &["predecessor under pause, seed 1", "fenced under pause, seed 2"],
        ),
        (
            &nightly,
            &[],
            &["lock/fenced × pause × seed 1", "lock/fenced × pause × seed 2"],
        ),
    ] {
        campaign_of("4s");
        let with = |more: &[&str]| without_engine(&[command, more].concat());
        let (code, said) = with(short);
        assert_eq!(code, Some(254), "{said}");
        for part in named {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("× none ×") && !said.contains("under none"), "{said}");
        // All the same, and with the time that it names, it gets to where it needs an engine.
        let (code, said_anyway) = with(&[short, &["--anyway"]].concat());
        assert_eq!(code, Some(255), "{said_anyway}");
        let (_, rest) = said
            .split_once("--time ")
            .or(said.split_once("time = \""))
            .expect("a time");
        let time: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        campaign_of(&time);
        let enough = if short.is_empty() {
            Vec::new()
        } else {
            [&["--time", &time], &short[2..]].concat()
        };
        // Compare has begun a record of the shorter one.
        std::fs::remove_file(base.path().join("compare.jsonl")).ok();
        let (code, said) = with(&enough);
        assert_eq!(code, Some(255), "{time}: {said}");
    }
    let (code, said) = without_engine(&["run", "queue/fifo", "--clients", "1", "--faults", "none", "--out", out]);
    assert_eq!(code, Some(254), "{said}");
    assert!(said.contains("--clients 2"), "{said}");
    // What was run is run again, whatever may come of it.
    let short = base.path().join("run");
    hand_made(&short);
    let (code, said) = without_engine(&["replay", short.to_str().unwrap(), "--out", out]);
    assert_eq!(code, Some(255), "{said}");
}

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
    for name in ["read", "sync-read", "quorum-read"] {
        assert!(names.contains(&format!("register/{name}").as_str()), "{names:?}");
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
    let faults: Vec<&str> = list["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        faults,
        ["kill", "pause", "partition", "drop-reply", "disconnect", "wipe"]
    );
}

#[test]
fn without_an_engine_it_says_what_was_tried() {
    let runs = Runs::new("no-engine");
    let output = zooquake()
        .args(["run", "lock/fenced", "--out"])
        .arg(runs.path())
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .output()
        .expect("starting zooquake");
    let text = text(&output);
    assert_eq!(output.status.code(), Some(255), "{text}");
    assert!(
        text.contains("unix:///nowhere/docker.sock") && text.contains("docker info"),
        "{text}"
    );
    assert_eq!(
        std::fs::read_dir(runs.path()).unwrap().count(),
        0,
        "no folder for a run that never began"
    );
}

#[test]
fn a_run_folder_that_lacks_a_file_is_named_with_the_file() {
    let runs = Runs::new("lacking");
    std::fs::write(runs.path().join("plan.json"), "{}").unwrap();
    let output = call(&["check", runs.path().to_str().unwrap()]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains("lacks history.jsonl"), "{said}");
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
