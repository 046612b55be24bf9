//! Plans and schedules in files of the user's, by the real program, on simulated ensembles.

use crate::common::{ProgramOutput, Runs, document, output_of, without_engine};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The output of a run with this schedule, where no engine answers.
fn scheduled(runs: &Runs, line: &str, schedule: &str) -> ProgramOutput {
    let file = runs.path().join("faults.toml");
    fs::write(&file, schedule).expect("a schedule");
    output_of(
        without_engine(line)
            .arg("--schedule")
            .arg(file)
            .arg("--out")
            .arg(runs.path().join("runs")),
    )
}

/// The events of a history.
fn events(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("history.jsonl")).expect("a history");
    let event = |line: &str| serde_json::from_str(line).expect("an event");
    text.lines().map(event).collect()
}

/// The place in a history at which a window came into a phase; `None` if it did not.
fn place(events: &[Value], window: usize, phase: &str) -> Option<usize> {
    events.iter().position(|event| {
        let value = &event["value"];
        event["process"] == "nemesis" && value["window"] == json!(window) && value["phase"] == phase
    })
}

#[test]
fn a_plan_in_a_file_is_played_as_it_stands() {
    let (drawn, played, changed) = (Runs::new("drawn"), Runs::new("played"), Runs::new("changed"));
    let line = "run lock/protected --on sim --faults kill,pause --time 20s --seed 7 --out";
    output_of(without_engine(line).arg(drawn.path()));
    let plan = drawn.only().join("plan.json");
    let play = |runs: &Runs| output_of(without_engine("run --out").arg(runs.path()).arg("--plan").arg(&plan));
    play(&played).with(&["verdict: "]);
    let history = |runs: &Runs| fs::read(runs.only().join("history.jsonl")).unwrap();
    assert!(
        history(&played) == history(&drawn),
        "the same plan has the same history"
    );
    let mut own = document(&drawn.only(), "plan.json");
    own["windows"][0]["trigger"] = json!({ "at": { "at_ms": 3_000 } });
    own["windows"][0]["target"] = json!({ "node": "c2" });
    fs::write(&plan, own.to_string()).unwrap();
    play(&changed).with(&["verdict: "]);
    let began = String::from_utf8(history(&changed)).unwrap();
    let own = own["windows"][0]["fault"].as_str().unwrap();
    let struck = began.lines().any(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let value = &event["value"];
        event["f"] == own && value["phase"] == "begin" && value["window"] == 1 && value["target"] == "c2"
    });
    assert!(struck, "{began}");
    output_of(without_engine("run lock/fenced --plan").arg(&plan))
        .ends(254)
        .with(&["has the workload lock/protected", "leave lock/fenced out"]);
}

#[test]
fn windows_strike_as_their_file_says_and_overlap() {
    let runs = Runs::new("overlap");
    let schedule = "[[window]]\nfault = \"pause\"\nvictim = \"holder\"\nat = \"5s\"\nfor = \"4s\"\n\n\
                    [[window]]\nfault = \"kill\"\nvictim = \"leader\"\nat = \"6s\"\nfor = \"1s\"\n\n\
                    [[window]]\nfault = \"disconnect\"\nwhen = \"working\"\nafter = \"100ms\"\nat = \"13s\"\nfor = \"500ms\"\n\n\
                    [[window]]\nfault = \"stall\"\nvictim = \"c2\"\nafter_operations = 60\nfor = \"300ms\"\n";
    let output = scheduled(&runs, "run lock/fenced --on sim --time 20s --seed 7", schedule);
    output.with(&["verdict: "]);
    let run = runs.path().join("runs/latest");
    let plan = document(&run, "plan.json");
    assert_eq!(plan["faults"], json!(["pause", "kill", "disconnect", "stall"]));
    let events = events(&run);
    let by_fault = |fault: &str| {
        let windows = plan["windows"].as_array().expect("windows");
        let window = windows
            .iter()
            .find(|window| window["fault"] == fault)
            .expect("its window");
        window["id"].as_u64().expect("a number") as usize
    };
    for fault in ["pause", "kill", "disconnect", "stall"] {
        let on = place(&events, by_fault(fault), "on").unwrap_or_else(|| panic!("no {fault}: {plan}"));
        assert_eq!(events[on]["value"]["verified"], true, "{fault}");
        let off = place(&events, by_fault(fault), "off").expect("its end");
        assert_eq!(events[off]["value"]["verified"], true, "{fault}");
    }
    let (pause, kill) = (by_fault("pause"), by_fault("kill"));
    let at = |window, phase| place(&events, window, phase).expect("a phase");
    assert!(
        at(pause, "on") < at(kill, "begin") && at(kill, "off") < at(pause, "heal"),
        "the leader is killed and starts again while the holder is frozen"
    );
    let ms = |at: usize| events[at]["time"].as_u64().expect("a time") / 1_000_000;
    let begun = events
        .iter()
        .position(|event| event["f"] == "phase" && event["value"] == "ops");
    let since = |window| ms(at(window, "begin")) - ms(begun.expect("operations"));
    assert!((6_000..6_010).contains(&since(kill)), "{}", since(kill));
    assert!((5_000..5_500).contains(&since(pause)), "{}", since(pause));
    let answered = events[..at(by_fault("stall"), "begin")].iter();
    let answered = answered
        .filter(|event| event["process"].is_u64() && event["type"] != "invoke")
        .count();
    assert_eq!(answered, 60);
    // What is not valid prints no line that would draw other windows.
    let again = output_of(without_engine("check").arg(&run));
    assert_eq!(again.code.map(|code| code < 3), Some(true), "{again}");
    output_of(without_engine("replay --out").arg(runs.path().join("again")).arg(&run))
        .with(&["the history came back byte for byte"]);
}

#[test]
fn a_node_that_is_struck_is_not_struck_again_by_a_window_that_finds_it_by_its_role() {
    let runs = Runs::new("again");
    let schedule = "[[window]]\nfault = \"pause\"\nvictim = \"n1\"\nat = \"3s\"\nfor = \"6s\"\n\
                    [[window]]\nfault = \"pause\"\nvictim = \"n2\"\nat = \"12s\"\nfor = \"4s\"\n\
                    [[window]]\nfault = \"kill\"\nvictim = [\"n1\"]\nafter_operations = 1\nfor = \"8s\"\n";
    scheduled(&runs, "run lock/fenced --on sim --time 20s --seed 7", schedule).with(&["verdict: "]);
    let run = runs.path().join("runs/latest");
    let plan = document(&run, "plan.json");
    let killed = plan["windows"]
        .as_array()
        .expect("windows")
        .iter()
        .position(|window| window["fault"] == "kill");
    let killed = killed.expect("a kill") + 1;
    let events = events(&run);
    let on = place(&events, killed, "on").expect("the kill came first");
    let skipped = events
        .iter()
        .find(|event| event["value"]["phase"] == "skipped")
        .expect("the pause was skipped");
    assert_eq!(skipped["f"], "pause");
    let why = skipped["value"]["detail"].as_str().expect("a reason");
    assert!(why.contains("(kill) was on, and both strike n1"), "{why}");
    assert!(on < place(&events, killed, "heal").expect("its end"));
}

/// The examples of the page, each a whole schedule, with the line before it.
fn examples(page: &str) -> Vec<&str> {
    page.split("```toml\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("\n```")?.0))
        .collect()
}

const PAGE: &str = include_str!("../../docs/schedules.md");

#[test]
fn each_example_of_the_page_strikes_on_a_simulated_ensemble_or_is_planned() {
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for (number, schedule) in examples(PAGE).into_iter().enumerate() {
        let runs = Runs::new(&format!("example-{number}"));
        let first = schedule.lines().next().unwrap_or_default();
        let of = first
            .split_once("such as ")
            .map_or("lock/protected", |(_, variant)| variant.trim());
        let line = format!("run {of} --time 20s --seed 7 --servers 3");
        if schedule.contains("host-") {
            let line = format!("{line} --hosts unix:///nowhere/a.sock,unix:///nowhere/b.sock");
            // It is planned, and no engine answers.
            scheduled(&runs, &line, schedule).ends(255).with(&["/nowhere/a.sock"]);
            shown.extend(["host-kill", "host-pause", "host-partition"].map(String::from));
            continue;
        }
        let output = scheduled(&runs, &format!("{line} --on sim"), schedule);
        assert!(output.has("verdict: "), "{schedule}\n{output}");
        let run = runs.path().join("runs/latest");
        let plan = document(&run, "plan.json");
        let events = events(&run);
        for window in plan["windows"].as_array().expect("windows") {
            let id = window["id"].as_u64().expect("a number") as usize;
            let on = place(&events, id, "on").unwrap_or_else(|| panic!("{schedule}\n{window}\n{output}"));
            assert_eq!(events[on]["value"]["verified"], true, "{schedule}\n{}", events[on]);
            shown.insert(window["fault"].as_str().expect("a fault").to_owned());
        }
    }
    let listed = output_of(&mut without_engine("list --json")).ends(0).json();
    let faults = listed["faults"].as_array().expect("faults").iter();
    let all: BTreeSet<String> = faults
        .map(|fault| fault["name"].as_str().expect("a name").to_owned())
        .collect();
    // Those of networks are windows of a plan.
    let of_networks = ["loss", "duplicate"].map(String::from);
    assert!(
        of_networks
            .iter()
            .all(|fault| PAGE.contains(&format!("\"fault\":\"{fault}\"")))
    );
    let lacking: Vec<&String> = all
        .iter()
        .filter(|fault| !shown.contains(*fault) && !of_networks.contains(fault))
        .collect();
    assert!(lacking.is_empty(), "no example of {lacking:?}");
}

#[test]
fn the_windows_of_a_network_are_those_of_a_plan() {
    let (drawn, played) = (Runs::new("network-drawn"), Runs::new("network-played"));
    output_of(without_engine("run consensus/paxos --seed 1 --faults none --out").arg(drawn.path())).ends(0);
    let mut plan = document(&drawn.only(), "plan.json");
    let shown = PAGE.split("```json\n").nth(1).and_then(|rest| rest.split_once("\n```"));
    let windows: Value = serde_json::from_str(shown.expect("an example").0).expect("windows");
    plan["windows"] = windows["windows"].clone();
    plan["faults"] = windows["faults"].clone();
    let file = drawn.path().join("own.json");
    fs::write(&file, plan.to_string()).expect("a plan");
    let output = output_of(without_engine("run --plan").arg(&file).arg("--out").arg(played.path()));
    assert!(output.has("verdict: "), "{output}");
    let events = events(&played.only());
    for window in 1..=windows["windows"].as_array().map_or(0, Vec::len) {
        assert!(
            place(&events, window, "on")
                .or(place(&events, window, "begin"))
                .is_some(),
            "{window}: {output}"
        );
    }
}

#[test]
fn a_wrong_schedule_is_wrong_usage_that_names_file_and_line() {
    let runs = Runs::new("wrong");
    for (schedule, parts) in [
        (
            "[[window]]\nfault = \"pauze\"\n",
            ["faults.toml\": line 2, `fault`", "did you mean `pause`"],
        ),
        (
            "[[window]]\nfault = \"pause\"\nvictm = \"c1\"\n",
            [
                "line 3",
                "unknown field `victm`, expected one of `fault`, `victim`, `at`, `when`",
            ],
        ),
        (
            "[[window]]\nfault = \"pause\"\nvictim = \"c1\"\nat = \"2s\"\nfor = \"4s\"\n\n\
             [[window]]\nfault = \"kill\"\nvictim = \"c1\"\nat = \"3s\"\nfor = \"1s\"\n",
            ["line 7, `window`: it overlaps with window 1 (pause)", "both strike c1"],
        ),
    ] {
        scheduled(&runs, "run lock/fenced --on sim --time 20s", schedule)
            .ends(254)
            .with(&parts);
    }
    output_of(&mut without_engine("run lock/fenced --schedule /nowhere/faults.toml"))
        .ends(254)
        .with(&["/nowhere/faults.toml", "give a schedule in TOML"]);
}
