//! Runs on simulated ensembles, by the real program, where no Docker engine answers.

use crate::common::{ProgramOutput, Runs, document, output_of, without_engine};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The output of the program for a command line and a path, where no engine answers.
fn call(line: &str, path: &Path) -> ProgramOutput {
    output_of(without_engine(line).arg(path))
}

fn read(run: &Path, name: &str) -> Vec<u8> {
    fs::read(run.join(name)).unwrap_or_else(|error| panic!("{name} of {}: {error}", run.display()))
}

#[test]
fn a_run_whose_engine_does_not_answer_is_not_simulated_unasked() {
    let runs = Runs::new("unasked");
    call("run lock/protected --time 12s --faults none --out", runs.path())
        .ends(255)
        .with(&["--on sim", "no Docker engine answers at unix:///nowhere/docker.sock"])
        .without(&["verdict"]);
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0, "nothing ran");
}

#[test]
fn the_report_of_a_network_has_a_picture_of_its_messages() {
    let runs = Runs::new("network");
    call("run consensus/paxos --faults none --seed 1 --out", runs.path()).ends(0);
    let run = runs.only();
    let rendered = call("report --json", &run).ends(0).json();
    let files: Vec<&str> = rendered["files"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for name in ["report.html", "timeline.png", "latency.png", "rate.png", "messages.png"] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{name}: {files:?}");
        assert!(!read(&run, name).is_empty(), "{name}");
    }
}

#[test]
fn a_simulated_run_says_so_wherever_it_is_read() {
    let (runs, again) = (Runs::new("simulated"), Runs::new("simulated-again"));
    let line = "run lock/protected --on sim --faults pause --time 12s --seed=7 --out";
    let output = call(line, runs.path());
    assert!(output.stdout.contains("on a simulated ensemble"), "{output}");
    let run = runs.only();
    assert_eq!(document(&run, "plan.json")["on"], "sim");
    let results = document(&run, "results.json");
    assert_eq!(results["on"], "sim");
    let mut verdicts = ["valid", "invalid", "unknown"].iter();
    let code = verdicts.position(|verdict| results["verdict"] == *verdict);
    let code = code.expect("a verdict") as i32;
    output.ends(code);
    let page = String::from_utf8(read(&run, "report.html")).unwrap();
    let first_screen = page.split_once("</header>").unwrap().0;
    assert!(first_screen.contains("The ensemble was simulated") && !first_screen.contains("servers of ZooKeeper"));
    // Checked again, to the same bytes.
    let before = read(&run, "results.json");
    call("check", &run).ends(code);
    assert_eq!(read(&run, "results.json"), before);
    // Run again, from a pack of it, to the same history.
    let pack = runs.path().join("run.zooquake.tar.gz");
    output_of(without_engine("pack --out").args([&pack, &run])).ends(0);
    output_of(without_engine("replay --out").arg(again.path()).arg(&pack))
        .ends(code)
        .with(&["the history came back byte for byte"]);
    assert!(read(&again.only(), "history.jsonl") == read(&run, "history.jsonl"));
    // Beside the original nothing differs but the name.
    let beside = String::from_utf8(read(&again.only(), "difference.html")).unwrap();
    assert!(
        beside.contains("<td>replay_of</td>") && !beside.contains("<td>seed</td>"),
        "{beside}"
    );
    output_of(without_engine("report").args([&again.only(), &run]))
        .ends(0)
        .with(&["difference.html"]);
    // What insists on a real ensemble does not get a simulated one.
    output_of(without_engine("replay --on docker --out").arg(again.path()).arg(&run)).ends(255);
}

#[test]
fn several_simulated_runs_have_seeds_of_their_own() {
    let runs = Runs::new("seeds");
    let line = "run lock/protected --on sim --faults pause --time 12s --seed 7 --times 3 --json --out";
    let output = call(line, runs.path()).json();
    let seeds = output["runs"].as_array().expect("runs").iter().map(|run| {
        let folder = run["run"].as_str().expect("a folder");
        document(Path::new(folder), "plan.json")["seed"].as_u64()
    });
    assert_eq!(seeds.collect::<Vec<_>>(), [Some(7), Some(8), Some(9)]);
}

#[test]
fn a_quiet_run_prints_its_results_alone_and_a_verbose_one_each_phase() {
    let runs = Runs::new("quiet");
    let line = "run lock/fenced --on sim --faults none --time 2s --seed 1";
    let output = call(&format!("{line} --quiet --out"), runs.path()).ends(0);
    assert_eq!(output.stderr, "", "{output}");
    // A pipe gets no colours.
    assert!(
        output.stdout.starts_with("verdict: valid, on a simulated ensemble\n"),
        "{output}"
    );
    let usual = call(&format!("{line} --out"), runs.path()).ends(0);
    let will = "3 servers, 5 clients, 2 s without faults\n";
    usual.with(&["simulated: lock/fenced in ", will]).without(&["phase "]);
    let verbose = call(&format!("-v {line} --out"), runs.path()).ends(0);
    verbose.with(&["phase recover after ", "starting process 1 of client c5"]);
    call(&format!("-q -v {line} --out"), runs.path())
        .ends(254)
        .with(&["--quiet"]);
}

#[test]
fn the_report_of_a_register_leads_to_its_order_and_that_of_a_lock_to_none() {
    for (variant, has_order) in [("register/quorum-read", true), ("lock/fenced", false)] {
        let runs = Runs::new("order");
        let line = format!("run {variant} --on sim --faults none --time 2s --seed 1 --quiet --out");
        call(&line, runs.path()).ends(0);
        let run = runs.only();
        let page = String::from_utf8(read(&run, "report.html")).unwrap();
        assert_eq!(page.contains("href=\"order.html\""), has_order, "{variant}");
        assert_eq!(run.join("order.html").exists(), has_order, "{variant}");
    }
}

#[test]
fn nights_and_comparisons_are_simulated_where_that_is_asked_for() {
    let runs = Runs::new("simulated-campaigns");
    let folder = runs.path();
    let cells = "variants = [\"lock/fenced\"]\nfaults = [\"none\"]\nseeds = [1, 2]\ntime = \"2s\"\non = \"sim\"\n";
    fs::write(folder.join("small.toml"), cells).unwrap();
    let call = |line: &str| output_of(without_engine(line).current_dir(folder));
    call("nightly small.toml --out night").ends(0);
    let made = fs::read_dir(folder.join("night/runs")).unwrap().flatten();
    assert_eq!(made.count(), 3, "two and `latest`");
    let page = String::from_utf8(read(folder, "night/index.html")).unwrap();
    assert!(page.contains("the ensembles were simulated"));
    call("nightly small.toml --out night --on docker").ends(255);
    call("compare lock --variants protected,fenced --faults none --times 1 --time 2s --on sim --out compared").ends(0);
    let table = String::from_utf8(read(folder, "compared/compare.md")).unwrap();
    assert!(table.contains("simulated ensembles"), "{table}");
}

#[test]
fn what_is_explored_is_told_once_written_as_a_run_and_shrunk() {
    let runs = Runs::new("explored");
    let line =
        "explore lock/predecessor --faults drop-reply --schedules 40 --seed 100 --clients 3 --ops 6 --json --out";
    // Known failures only.
    let output = call(line, runs.path()).ends(0).json();
    assert_eq!(output["schedules"], 40);
    let mut failures = output["failures"].as_array().unwrap().iter();
    let lost = failures.find(|failure| failure["anomaly"] == "lost-wakeup").unwrap();
    assert_eq!(lost["known"], true);
    let run = Path::new(lost["run"].as_str().unwrap());
    call("check", run).ends(1);
    let shrunk = Path::new(lost["shrunk"]["run"].as_str().unwrap());
    let has = |run: &Path| {
        let results = document(run, "results.json");
        let anomalies = results["anomalies"].as_array().unwrap().clone();
        anomalies.iter().any(|anomaly| anomaly["kind"] == "lost-wakeup")
    };
    assert!(has(run) && has(shrunk));
    assert!(lost["shrunk"]["operations"].as_u64() <= Some(12), "{lost}");
    // Shrunk by itself, from the run of the schedule that failed.
    let output = output_of(without_engine("shrink --json --out").arg(runs.path()).arg(run));
    let output = output.ends(0).json();
    assert_eq!(output["kept"], true);
    let size = |when: &str| output[when]["operations"].as_u64().unwrap();
    assert!(size("after") < size("before"), "{output}");
}

#[test]
fn what_needs_a_real_ensemble_says_so_before_it_begins() {
    let runs = Runs::new("confirmed-nowhere");
    let call = |line: &str| output_of(without_engine(&format!("{line} --out .")).current_dir(runs.path()));
    let explore = "explore lock/predecessor --faults drop-reply --schedules 4 --seed 1";
    call(&format!("{explore} --confirm")).ends(255).without(&["exploring"]);
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0, "nothing was explored");
    // A simulated run is shrunk where it ran, and on real ensembles only if that is asked for.
    call(explore).ends(0);
    let output = call("shrink latest --json").json();
    assert_eq!(
        (&output["on"], &output["kept"]),
        (&Value::from("sim"), &Value::from(true))
    );
    call("shrink latest --json --on docker").ends(255);
}

#[test]
fn a_correct_lock_is_silent_and_has_nothing_to_shrink() {
    let runs = Runs::new("explored-silent");
    let call = |line: &str| output_of(without_engine(line).current_dir(runs.path()));
    let output = call("explore lock/fenced --schedules 30 --seed 1 --out .").ends(0);
    output.with(&["30 schedules", "was missed with"]);
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0, "nothing failed");
    call("run lock/fenced --on sim --faults none --time 2s --out .").ends(0);
    for (line, why) in [
        ("shrink latest", "no anomaly"),
        ("explore lock/crate", "client library"),
        ("explore lock/fenced --shard 2/4", "--seed"),
    ] {
        call(line).ends(254).with(&[why]);
    }
}

/// A valid run of a lock.
fn valid_run(runs: &Runs) -> PathBuf {
    call(
        "run lock/fenced --on sim --faults none --time 5s --seed 1 --out",
        runs.path(),
    )
    .ends(0);
    runs.only()
}

#[test]
fn a_run_without_a_file_that_its_plan_names_is_not_valid() {
    let runs = Runs::new("named-files");
    let run = valid_run(&runs);
    let plan = document(&run, "plan.json");
    let named: Vec<&str> = plan["record"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(plan["format"], 2);
    assert_eq!(
        named,
        [
            "provenance.json",
            "tree.json",
            "txnlog.jsonl",
            "txnlogs.json",
            "servers.jsonl"
        ]
    );
    for (file, code) in named.into_iter().zip([0, 2, 2, 2, 2]) {
        let content = read(&run, file);
        fs::remove_file(run.join(file)).unwrap();
        call("check", &run)
            .ends(code)
            .with(&[&format!("{file} is missing, which the plan names")]);
        fs::write(run.join(file), content).unwrap();
    }
    call("check", &run).ends(0).without(&["is missing"]);
    // Half of the samples, of a run that is judged from a pack, too.
    let samples = String::from_utf8(read(&run, "servers.jsonl")).unwrap();
    let lines: Vec<&str> = samples.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    for (half, end) in [(second, "beginning"), (first, "end")] {
        fs::write(run.join("servers.jsonl"), half.join("\n") + "\n").unwrap();
        call("check", &run)
            .ends(2)
            .with(&[&format!("servers.jsonl lacks samples at its {end}")]);
    }
    fs::remove_file(run.join("servers.jsonl")).unwrap();
    let pack = runs.path().join("run.zooquake.tar.gz");
    output_of(without_engine("pack --out").args([&pack, &run])).ends(0);
    call("check", &pack)
        .ends(2)
        .with(&["servers.jsonl is missing, which the plan names"]);
}

#[test]
fn a_run_of_format_1_is_judged_without_its_files_and_replayed_in_the_present_format() {
    let (runs, again) = (Runs::new("former-format"), Runs::new("former-format-again"));
    let run = valid_run(&runs);
    let mut plan = document(&run, "plan.json");
    plan["format"] = 1.into();
    plan.as_object_mut().unwrap().remove("record");
    fs::write(run.join("plan.json"), plan.to_string()).unwrap();
    fs::remove_file(run.join("servers.jsonl")).unwrap();
    call("check", &run).ends(0).without(&["is missing"]);
    output_of(without_engine("replay --out").arg(again.path()).arg(&run)).ends(0);
    let replayed = document(&again.only(), "plan.json");
    assert_eq!(replayed["format"], 2);
    assert!(replayed["record"].as_array().unwrap().contains(&"servers.jsonl".into()));
    assert!(read(&again.only(), "history.jsonl") == read(&run, "history.jsonl"));
}
