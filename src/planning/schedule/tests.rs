use super::*;
use crate::planning::spec::RunSpec;
use serde_json::{Value, json};

fn plan(line: &str) -> Plan {
    let line = format!("{line} --seed 7 --faults none");
    RunSpec::from_args(line.split(' ')).unwrap().plan().unwrap()
}

fn lock() -> Plan {
    plan("lock/fenced --time 30s")
}

/// The windows that a text makes of itself in a run of a lock, as JSON without their numbers.
fn windows(text: &str) -> Vec<Value> {
    let plan = with_windows(lock(), text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let mut windows = json!(plan.windows);
    let windows = windows.as_array_mut().unwrap();
    for (number, window) in (1..).zip(windows.iter_mut()) {
        let window = window.as_object_mut().unwrap();
        assert_eq!(window.remove("id"), Some(json!(number)));
        assert_eq!(window.remove("beside"), Some(json!(true)));
    }
    windows.clone()
}

#[test]
fn a_window_begins_at_a_moment_in_a_state_or_after_operations() {
    for (text, trigger) in [
        (r#"victim = "n1"; at = "5s""#, json!({"at": {"at_ms": 5_000}})),
        (
            r#"when = "working"; after = "200ms""#,
            json!({"state": {"state": "working", "from_ms": 0, "after_ms": 200}}),
        ),
        (
            r#"victim = "c2"; when = "acquiring"; at = "4s""#,
            json!({"state": {"state": "acquiring", "client": "c2", "from_ms": 4_000, "after_ms": 0}}),
        ),
        (
            r#"victim = "leader"; when = { answered = "acquire" }; client = "c3""#,
            json!({"state": {"state": {"answered": "acquire"}, "client": "c3", "from_ms": 0, "after_ms": 0}}),
        ),
        (
            r#"victim = "holder"; at = "1m -50s""#.replace("1m -50s", "10s").as_str(),
            json!({"state": {"state": "holding", "from_ms": 10_000, "after_ms": 0}}),
        ),
        (
            r#"victim = "waiter""#,
            json!({"state": {"state": "waiting", "from_ms": 0, "after_ms": 0}}),
        ),
        (
            r#"victim = "c2"; when = { asked = "release" }; nth = 3; after = "5ms""#,
            json!({"op": {"client": "c2", "f": "release", "nth": 3, "work_ms": 0, "after_ms": 5, "by_ms": 27_000}}),
        ),
        (
            r#"victim = "leader"; after_operations = 20"#,
            json!({"count": {"operations": 20, "by_ms": 27_000}}),
        ),
    ] {
        let text = format!(
            "[[window]]\nfault = \"pause\"\nfor = \"3s\"\n{}",
            text.replace("; ", "\n")
        );
        let found = windows(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0]["trigger"], trigger, "{text}");
        assert_eq!(
            (&found[0]["fault"], &found[0]["duration_ms"]),
            (&json!("pause"), &json!(3_000))
        );
    }
}

#[test]
fn a_window_strikes_whom_it_names() {
    for (text, target) in [
        (r#"fault = "kill"; victim = "c5""#, json!({"node": "c5"})),
        (r#"fault = "kill"; victim = "n3""#, json!({"node": "n3"})),
        (
            r#"fault = "pause"; victim = ["n1", "n2"]"#,
            json!({"servers": ["n1", "n2"]}),
        ),
        (r#"fault = "kill"; victim = "leader""#, json!("leader")),
        (r#"fault = "pause"; victim = "follower""#, json!("follower")),
        (
            r#"fault = "partition"; victim = "holder-server""#,
            json!("holder-server"),
        ),
        (r#"fault = "pause"; victim = "holder""#, json!("client")),
        (r#"fault = "wipe""#, json!({"servers": ["n1", "n2"]})),
        (r#"fault = "lag"; lag = { delay_percent = 50 }"#, json!("follower")),
    ] {
        let found = windows(&format!(
            "[[window]]\nat = \"2s\"\nfor = \"1s\"\n{}",
            text.replace("; ", "\n")
        ));
        assert_eq!(found[0]["target"], target, "{text}");
    }
}

#[test]
fn a_window_comes_as_often_as_there_is_time_for_or_as_it_says() {
    let moments = |text: &str| -> Vec<u64> {
        let found = windows(&format!(
            "[[window]]\nfault = \"pause\"\nvictim = \"n1\"\nfor = \"3s\"\n{text}"
        ));
        let moments = found.iter().map(|window| window["trigger"]["at"]["at_ms"].as_u64());
        moments.map(|at| at.unwrap()).collect()
    };
    assert_eq!(moments("at = \"5s\"\nevery = \"10s\""), [5_000, 15_000, 25_000]);
    assert_eq!(moments("at = \"5s\"\nevery = \"10s\"\ntimes = 2"), [5_000, 15_000]);
    assert_eq!(moments("at = \"500ms\""), [500]);
}

#[test]
fn windows_stand_in_the_order_in_which_they_begin_and_give_the_plan_its_faults() {
    let text = "[[window]]\nfault = \"kill\"\nvictim = \"leader\"\nat = \"6s\"\nfor = \"1s\"\n\
                [[window]]\nfault = \"pause\"\nvictim = \"holder\"\nat = \"5s\"\nfor = \"3s\"\nevery = \"10s\"\ntimes = 2\n";
    let plan = with_windows(lock(), text).unwrap();
    let found: Vec<(usize, &str)> = plan
        .windows
        .iter()
        .map(|window| (window.id, window.fault.as_str()))
        .collect();
    assert_eq!(found, [(1, "pause"), (2, "kill"), (3, "pause")]);
    assert_eq!(plan.faults, ["kill", "pause"]);
    assert_eq!(
        plan.clients,
        lock().clients,
        "what clients do depends on the seed alone"
    );
}

#[test]
fn payloads_are_those_of_plans_and_have_defaults_where_a_fault_can_do_without() {
    for (text, payload) in [
        (r#"fault = "partition""#, json!({"cut": "isolate"})),
        (r#"fault = "partition"; cut = "mute""#, json!({"cut": "mute"})),
        (r#"fault = "disconnect""#, json!({"wire": "close"})),
        (r#"fault = "disconnect"; wire = "reset""#, json!({"wire": "reset"})),
        (
            r#"fault = "drop-reply"; wire = { drop-request = { op = "create", nth = 3 } }"#,
            json!({"wire": {"drop-request": {"op": "create", "nth": 3}}}),
        ),
        (
            r#"fault = "latency"; latency = { ms = 80, jitter_ms = 24 }"#,
            json!({"latency": {"ms": 80, "jitter_ms": 24}}),
        ),
        (r#"fault = "pin"; to = "follower""#, json!({"to": "follower"})),
        (
            r#"fault = "pin"; to = { server = "n3" }"#,
            json!({"to": {"server": "n3"}}),
        ),
    ] {
        let text = format!(
            "[[window]]\nvictim = \"c2\"\nat = \"2s\"\nfor = \"1s\"\n{}",
            text.replace("; ", "\n")
        );
        let (key, value) = payload.as_object().unwrap().iter().next().unwrap();
        assert_eq!(&windows(&text)[0][key], value, "{text}");
    }
}

/// Why a text is no schedule for a plan.
fn refused(plan: Plan, text: &str) -> String {
    match with_windows(plan, text) {
        Ok(plan) => panic!("{text}: {:?}", plan.windows),
        Err(why) => why,
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_what_may_stand_there() {
    for (text, parts) in [
        ("", &["missing field `window`"][..]),
        ("window = []", &["no window"]),
        (
            "[[window]]\nfault = \"pauze\"\nvictim = \"c1\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 2, `fault`", "did you mean `pause`"],
        ),
        (
            "[[window]]\nfault = \"loss\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 2, `fault`", "consensus protocols"],
        ),
        (
            "[[window]]\nfault = \"host-kill\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 2, `fault`", "--hosts"],
        ),
        (
            "[[window]]\nfault = \"pause\"\nvictm = \"c1\"",
            &["line 3", "unknown field `victm`", "`victim`"],
        ),
        (
            "[[window]]\nfault = \"pause\"\nvictim = \"c9\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 3, `victim`", "no victim `c9`", "c5", "holder"],
        ),
        (
            "[[window]]\nfault = \"pause\"\nvictim = \"holdr\"\nat = \"2s\"\nfor = \"1s\"",
            &["did you mean `holder`?"],
        ),
        (
            "[[window]]\nfault = \"stall\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 3, `victim`", "a `stall` strikes a client"],
        ),
        (
            "[[window]]\nfault = \"lag\"\nvictim = \"leader\"\nat = \"2s\"\nfor = \"1s\"\nlag = { delay_percent = 50 }",
            &["line 3, `victim`", "a server that follows"],
        ),
        (
            "[[window]]\nfault = \"wipe\"\nvictim = [\"n1\"]\nat = \"2s\"\nfor = \"1s\"",
            &["line 3, `victim`", "more than half"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nat = \"2s\"\nfor = \"1s\"",
            &["line 1, `window`", "give its `victim`"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"",
            &["line 1, `window`", "give `for`"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nfor = \"1s\"",
            &["`at`, `when` or `after_operations`"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"client\"\nat = \"2s\"\nfor = \"1s\"",
            &["give `when`, such as \"working\""],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"soon\"\nfor = \"1s\"",
            &["line 4, `at`", "5s, 1m30s or 200ms"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"1s\"\nafter = \"1s\"",
            &["line 6, `after`", "give `when` too"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nwhen = \"workin\"\nfor = \"1s\"",
            &["line 3", "unknown variant `workin`", "`working`"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nwhen = { asked = \"dequeue\" }\nfor = \"1s\"",
            &["line 3, `when`", "no operation of a lock `dequeue`", "acquire"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"holder\"\nwhen = \"working\"\nfor = \"1s\"",
            &["line 4, `when`", "a `holder` is in a state by itself"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nwhen = \"working\"\nnth = 2\nfor = \"1s\"",
            &["line 4, `nth`", "asked"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"holder\"\nafter_operations = 9\nfor = \"1s\"",
            &["line 4, `after_operations`", "name a client"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nafter_operations = 9\nat = \"1s\"\nfor = \"1s\"",
            &["line 5, `at`", "leave the one or the other out"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"1s\"\ncut = \"mute\"",
            &["line 6, `cut`", "a `kill` strikes in one way only"],
        ),
        (
            "[[window]]\nfault = \"drop-reply\"\nvictim = \"c1\"\nat = \"2s\"",
            &["line 1, `window`", "has a `wire`", "drop-reply = { op ="],
        ),
        (
            "[[window]]\nfault = \"drop-reply\"\nvictim = \"c1\"\nat = \"2s\"\nwire = \"close\"",
            &["line 5, `wire`", "what is lost"],
        ),
        (
            "[[window]]\nfault = \"latency\"\nvictim = \"c1\"\nat = \"2s\"\nfor = \"1s\"\nlatency = { ms = 9, jitter_ms = 10 }",
            &["line 6, `latency`", "the jitter no more"],
        ),
        (
            "[[window]]\nfault = \"lag\"\nat = \"2s\"\nfor = \"1s\"\nlag = { delay_percent = 100 }",
            &["line 5, `lag`", "1 to 99 %"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"29s\"\nfor = \"2s\"",
            &["line 1, `window`", "over after 31 s", "--time 31s"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"2s\"\nevery = \"2s\"",
            &["line 6, `every`", "before it is over"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"2s\"\ntimes = 3",
            &["line 6, `times`", "`every`"],
        ),
        (
            "[[window]]\nfault = \"kill\"\nvictim = \"n1\"\nat = \"2s\"\nfor = \"2s\"\nevery = \"10s\"\ntimes = 4",
            &["line 7, `times`", "3 fit into 30 s"],
        ),
    ] {
        let why = refused(lock(), text);
        assert!(parts.iter().all(|part| why.contains(part)), "{text}: {why}");
    }
}

#[test]
fn a_schedule_has_no_more_windows_than_a_run_could_strike() {
    let each = "[[window]]\nfault = \"expire\"\nvictim = \"c1\"\nat = \"1s\"\n";
    let why = refused(lock(), &each.repeat(1_001));
    assert!(why.contains("more than 1000 windows"), "{why}");
    let why = refused(lock(), &format!("{each}every = \"1ms\"\n"));
    assert!(
        why.contains("line 5, `every`") && why.contains("1000 are the most"),
        "{why}"
    );
}

#[test]
fn windows_that_cannot_be_on_at_once_are_refused_and_others_may_overlap() {
    let two = |one: &str, other: &str| {
        let window = |text: &str| format!("[[window]]\n{}\n", text.replace("; ", "\n"));
        format!("{}{}", window(one), window(other))
    };
    let pause = r#"fault = "pause"; victim = "c1"; at = "5s"; for = "3s""#;
    for (other, why) in [
        (
            r#"fault = "kill"; victim = "c1"; at = "7s"; for = "1s""#,
            "both strike c1",
        ),
        (r#"fault = "wipe"; at = "7s"; for = "1s""#, "kills every server"),
    ] {
        let why = (refused(lock(), &two(pause, other)), why);
        assert!(
            why.0.contains("line 6, `window`: it overlaps with window 1 (pause)") && why.0.contains(why.1),
            "{why:?}"
        );
    }
    for other in [
        r#"fault = "kill"; victim = "leader"; at = "6s"; for = "1s""#,
        r#"fault = "kill"; victim = "c1"; at = "9s"; for = "1s""#,
        r#"fault = "pause"; victim = "holder"; at = "6s"; for = "1s""#,
    ] {
        assert_eq!(windows(&two(pause, other)).len(), 2, "{other}");
    }
}

#[test]
fn a_family_that_grants_nothing_is_struck_in_its_operations() {
    let queue = || plan("queue/claimed --time 30s");
    let text = |when: &str| format!("[[window]]\nfault = \"kill\"\nfor = \"1s\"\n{when}\n");
    for when in ["when = \"working\"", "victim = \"holder\""] {
        let why = refused(queue(), &text(when));
        assert!(
            why.contains("line 4") && why.contains("grants nothing") && why.contains("dequeue"),
            "{why}"
        );
    }
    let named = with_windows(queue(), &text("when = { asked = \"dequeue\" }")).unwrap();
    assert_eq!(named.windows[0].target, Target::Client);
}

#[test]
fn hosts_have_names_where_a_run_has_several() {
    let hosts = plan("lock/fenced --time 30s --hosts unix:///a,unix:///b");
    let text =
        |victim: &str| format!("[[window]]\nfault = \"host-kill\"\nvictim = \"{victim}\"\nat = \"2s\"\nfor = \"1s\"");
    let planned = with_windows(hosts.clone(), &text("h2")).unwrap();
    assert_eq!(planned.windows[0].target, Target::Host(Host::new(2)));
    assert!(refused(hosts.clone(), &text("h3")).contains("did you mean `h"));
    assert!(refused(hosts, &text("n1")).contains("strikes a host of several"));
}

#[test]
fn a_schedule_takes_the_place_of_faults_that_are_drawn_and_is_for_recipes() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        &file,
        "[[window]]\nfault = \"pause\"\nvictim = \"c1\"\nat = \"2s\"\nfor = \"1s\"\n",
    )
    .unwrap();
    let spec = |line: &str| RunSpec {
        schedule: Some(file.path().into()),
        ..RunSpec::from_args(line.split(' ')).unwrap()
    };
    let plan = spec("lock/fenced --seed 7 --time 20s").plan().unwrap();
    assert_eq!(
        (plan.windows.len(), plan.faults.as_slice()),
        (1, &["pause".to_string()][..])
    );
    for (line, part) in [
        ("lock/fenced --faults kill", "leave --faults out"),
        ("consensus/paxos", "leave --schedule"),
        ("ensemble/textbook", "leave --schedule"),
        ("lock/fenced --time 2s", "give --time 3s or longer"),
    ] {
        let why = spec(line).plan().unwrap_err();
        let name = file.path().display().to_string();
        assert!(why.contains(part) && why.contains(&name), "{line}: {why}");
    }
}
