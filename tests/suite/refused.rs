//! What the command line refuses before anything begins: wrong usage, and a machine without an engine.

use crate::common::{Runs, hand_made, refused, text, zooquake};

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
    for (more, why) in [
        (&["lock/crate"][..], "built on the client library"),
        (&["ensemble/textbook"], "ZooKeeper's own elections"),
        (&["lock/fenced", "--zookeeper", "trixie"], "no ZooKeeper"),
        (&["lock/fenced", "--keep"], "--keep"),
    ] {
        refused(&[&["run", "--on", "sim"], more].concat(), &[why]);
    }
    refused(&["run", "lock/fenced", "--on", "mars"], &["docker", "sim"]);
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
        "--on",
        "docker",
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
        (&run[..6], &["--time", "4s", "--out", out], &["no window of pause"]),
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
fn without_an_engine_it_says_what_was_tried_and_leaves_nothing() {
    for command in [
        &["run", "lock/fenced", "--on", "docker"][..],
        &["run", "lock/crate"],
        &["run", "ensemble/textbook"],
        &["run", "lock/fenced", "--zookeeper", "trixie"],
        &["run", "lock/fenced", "--keep"],
        &["compare", "lock", "--faults", "none", "--runs", "1"],
        &["nightly"],
    ] {
        let out = Runs::new("no-engine");
        let (code, said) = without_engine(&[command, &["--out", out.path().to_str().unwrap()]].concat());
        assert_eq!(code, Some(255), "{said}");
        assert!(
            said.contains("unix:///nowhere/docker.sock") && said.contains("docker info"),
            "{said}"
        );
        assert_eq!(
            std::fs::read_dir(out.path()).unwrap().count(),
            0,
            "{command:?} never began"
        );
    }
}

#[test]
fn the_name_of_a_variant_runs_nothing_of_a_folder_that_is_called_like_it() {
    let home = tempfile::tempdir().unwrap();
    let folders = ["lock/fenced", "fenced", "mine"];
    for folder in folders {
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let recipe =
            "family = \"lock\"\nname = \"mine\"\nprepare = [\"touch\", \"prepared\"]\ncommand = [\"./recipe\"]\n";
        std::fs::write(folder.join("zooquake.toml"), recipe).unwrap();
    }
    let campaign =
        |variant: &str| format!("variants = [\"{variant}\"]\nfaults = [\"pause\"]\ntime = \"1s\"\nclients = 1\n");
    std::fs::write(home.path().join("built-in.toml"), campaign("lock/fenced")).unwrap();
    std::fs::write(home.path().join("mine.toml"), campaign("mine")).unwrap();
    // All are refused, as the time is too short, but only once the recipe is known.
    let too_short = ["--faults", "pause", "--time", "1s"];
    let refused = |arguments: &[&str], rest: &[&str]| {
        let mut command = zooquake();
        let output = command.args(arguments).args(rest).current_dir(home.path()).output();
        let output = output.expect("starting zooquake");
        assert_eq!(output.status.code(), Some(254), "{arguments:?}: {}", text(&output));
        folders.map(|folder| std::fs::remove_file(home.path().join(folder).join("prepared")).is_ok())
    };
    assert_eq!(refused(&["run", "lock/fenced"], &too_short), [false; 3]);
    assert_eq!(refused(&["run", "mine"], &too_short), [false, false, true]);
    assert_eq!(
        refused(&["compare", "lock", "--variants", "fenced,lock/fenced"], &too_short),
        [false; 3]
    );
    assert_eq!(
        refused(&["compare", "lock", "--variants", "fenced,mine"], &too_short),
        [false, false, true]
    );
    assert_eq!(refused(&["nightly", "built-in.toml"], &[]), [false; 3]);
    assert_eq!(refused(&["nightly", "mine.toml"], &[]), [false, false, true]);
}
