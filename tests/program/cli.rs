//! The command line, where no ensemble is needed.

use crate::common::{NO_RESULTS, Runs, call, ended, hand_made, output_of, zooquake};
use std::path::Path;
use std::process::Stdio;

#[test]
fn help_shows_examples_and_exit_codes() {
    let help = call("--help").ends(0);
    let help = help.with(&["zooquake run lock/predecessor", "254 wrong usage"]);
    // Hidden commands stay hidden.
    help.without(&["sidecar"]);
}

#[test]
fn every_commands_help_shows_an_example() {
    let of_commands = |line: &str| {
        let help = call(line);
        let (_, rest) = help.stdout.split_once("Commands:\n").expect("commands");
        let lines = rest.lines().take_while(|line| line.starts_with("  "));
        let names = lines.filter_map(|line| line.split_whitespace().next().map(String::from));
        names.filter(|name| name != "help").collect::<Vec<_>>()
    };
    let mut commands = of_commands("--help");
    let measurements = of_commands("measure --help").into_iter();
    commands.extend(measurements.map(|name| format!("measure {name}")));
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands {
        call(&format!("{command} --help")).with(&[&format!("\n  zooquake {command}")]);
    }
}

#[test]
fn shells_complete_commands_and_man_has_a_page_of_each() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = call(&format!("completions {shell}")).ends(0);
        script.with(&["zooquake", "nightly", "budget"]);
    }
    let runs = Runs::new("man");
    let pages = runs.path().join("man1");
    output_of(zooquake("man").arg(&pages)).ends(0).with(&["zooquake.1"]);
    let read = |page: &str| std::fs::read_to_string(pages.join(page)).expect(page);
    assert!(
        read("zooquake.1").contains("zooquake\\-run(1)"),
        "{}",
        read("zooquake.1")
    );
    assert!(read("zooquake-run.1").contains("lock/predecessor"));
    assert!(
        !pages.join("zooquake-sidecar.1").exists(),
        "hidden commands stay hidden"
    );
    std::fs::write(runs.path().join("file"), "").unwrap();
    let refused = output_of(zooquake("man").arg(runs.path().join("file/man1"))).ends(255);
    refused.with(&["writing manual pages into", "file/man1"]);
}

/// What bash completes for the last of these words.
fn completed_by_bash(words: &[&str]) -> Vec<String> {
    let script = call("completions bash").ends(0).stdout;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (all, at) = (quoted.join(" "), words.len() - 1);
    let line = format!(
        "{script}\nCOMP_WORDS=({all}); COMP_CWORD={at}\n_zooquake_lists zooquake '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[at],
        words[at - 1]
    );
    let completed = output_of(std::process::Command::new("bash").args(["--norc", "-c", &line])).ends(0);
    completed.stdout.lines().map(String::from).collect()
}

#[test]
fn shells_complete_variants_faults_and_models() {
    for (words, expected) in [
        (&["zooquake", "run", "lock/f"][..], &["lock/fenced"][..]),
        (
            &["zooquake", "run", "lock/fenced", "--faults", "pa"],
            &["pause", "partition"],
        ),
        (&["zooquake", "run", "lock/fenced", "--faults", "n"], &["none"]),
        (&["zooquake", "explore", "queue/"], &["queue/fifo", "queue/claimed"]),
        (&["zooquake", "check", "--model", "fifo"], &["fifo-queue"]),
        (&["zooquake", "generate", "--model", "fifo"], &["fifo-queue"]),
        (&["zooquake", "compare", "elec"], &["election"]),
        (&["zooquake", "run", "lock/fenced", "--zookeeper", "tr"], &["trixie"]),
        (&["zooquake", "selftest", "L12"], &["L12"]),
        (
            &["zooquake", "run", "lock/fenced", "--faults", "kill,pa"],
            &["kill,pause", "kill,partition"],
        ),
        (
            &["zooquake", "compare", "lock", "--faults", "none,kill+pau"],
            &["none,kill+pause"],
        ),
        (&["zooquake", "new", "lock", "mine", "--language", "p"], &["python"]),
        (&["zooquake", "new", "qu"], &["queue"]),
    ] {
        assert_eq!(completed_by_bash(words), expected, "{words:?}");
    }
    for shell in ["fish", "zsh"] {
        let script = call(&format!("completions {shell}")).ends(0);
        script.with(&["lock/fenced", "drop-reply", "cas-register", "L12"]);
    }
    let fish = call("completions fish").stdout;
    let of_run = |line: &&str| line.contains("using_subcommand run\" -a") && line.contains("lock/fenced");
    assert_eq!(fish.lines().filter(of_run).count(), 1, "{fish}");
}

#[test]
fn what_people_read_fits_into_eighty_columns() {
    for line in [
        "list",
        "explore lock/predecessor --faults drop-reply --schedules 60 --seed 1 --threads 1",
        "selftest L1 --budget 3s",
    ] {
        let runs = Runs::new("columns");
        let output = output_of(zooquake(line).current_dir(runs.path()));
        let wide: Vec<&str> = output.stdout.lines().filter(|line| line.chars().count() > 80).collect();
        // A path is not broken.
        assert!(
            wide.iter().all(|line| line.split_whitespace().count() == 1),
            "{line}: {wide:?}"
        );
        assert!(output.stdout.lines().count() > 3, "{output}");
    }
    let list = call("list").stdout;
    assert!(list.contains(
        "\n  queue       lost-item, duplicate-delivery, phantom-item, reordered,\n              stuck-queue, "
    ));
}

#[test]
fn the_version_is_that_of_the_package() {
    call("--version").ends(0).with(&[env!("CARGO_PKG_VERSION")]);
}

#[test]
fn the_list_says_what_is_promised_and_known() {
    let list = call("list --json").json();
    let named = |kind: &str| -> Vec<&str> {
        let all = list[kind].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap()).collect()
    };
    let names = named("variants");
    for name in [
        "lock/children lock/predecessor lock/protected lock/fenced lock/crate",
        "rwlock/fenced rwlock/neighbour register/read register/sync-read register/quorum-read",
        "semaphore/leases semaphore/timed semaphore/counted counter/versioned counter/optimistic counter/unconditional",
    ]
    .into_iter()
    .flat_map(str::split_whitespace)
    {
        assert!(names.contains(&name), "{name}: {names:?}");
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
    let faults = "kill pause partition drop-reply hold-reply disconnect expire latency stall move pin lag wipe host-kill host-pause host-partition";
    assert_eq!(named("faults").join(" "), faults);
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

/// `check` of the path is wrong usage, gives no verdict, and prints all of these texts, also as JSON.
#[track_caller]
fn refused_by_check(path: &Path, parts: &[&str]) {
    for (line, none) in [("check", "no verdict"), ("check --json", "\"verdict\": null")] {
        output_of(zooquake(line).arg(path)).ends(254).with(parts).with(&[none]);
    }
}

#[test]
fn a_damaged_history_is_checked_up_to_the_damage() {
    let runs = Runs::new("damaged");
    let file = runs.path().join("history.jsonl");
    let good = r#"{"index":0,"time":5,"process":0,"type":"invoke","f":"acquire","value":{"grant":"g1"},"node":"c1"}"#;
    std::fs::write(&file, format!("{good}\n{{\"index\":1,\"ti")).unwrap();
    let checked = output_of(zooquake("check --json").arg(&file)).ends(2).json();
    assert_eq!(checked[0]["verdict"], "unknown");
    assert_eq!(checked[0]["stats"]["events"], 1);
    let reasons = checked[0]["reasons"].to_string();
    assert!(reasons.contains("line 2, column"), "{reasons}");
}

#[test]
fn the_report_of_a_folder_of_runs_is_their_index() {
    let runs = Runs::new("index");
    let empty = output_of(zooquake("report").arg(runs.path())).ends(254);
    empty.with(&["contains no runs"]);
    let folders = ["20260301T021500-lock-fenced-7", "20260302T021500-lock-fenced-8"].map(|name| runs.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("history.jsonl"), "").unwrap();
        std::fs::write(folder.join("plan.json"), "{").unwrap();
    }
    std::fs::write(folders[0].join("results.json"), NO_RESULTS).unwrap();
    let output = output_of(zooquake("report --json").arg(runs.path())).ends(0).json();
    let file = runs.path().join("index.html");
    assert_eq!(output["files"], serde_json::json!([file]));
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
    let mut command = zooquake("list");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starting zooquake");
    drop(child.stdout.take());
    ended(child).without(&["panicked"]);
}

#[test]
fn a_reader_may_go_but_a_full_disk_is_told() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    // The reading end is closed.
    output_of(zooquake("list").stdout(writer)).ends(0);
    if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
        let output = output_of(zooquake("list").stdout(full)).ends(255);
        output.with(&["writing the results to stdout"]);
    }
}
