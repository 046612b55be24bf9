//! What the command line refuses before anything begins: wrong usage, and a machine without an engine.

use crate::common::{Runs, hand_made, output_of, refused, without_engine, zooquake};

#[test]
fn wrong_usage_names_the_way_out() {
    for (line, parts) in [
        (
            "run lock/predecesor",
            &["did you mean `lock/predecessor`", "lock/fenced"][..],
        ),
        (
            "run lock",
            &[
                "there is no variant `lock`, which is a family",
                "lock/predecessor",
                "such as `lock/children`",
            ],
        ),
        (
            "run fenced",
            &["did you mean `lock/fenced` or `rwlock/fenced`?", "queue/fifo"],
        ),
        ("explore fenced", &["did you mean `lock/fenced`"]),
        (
            "run lock/fenced --faults clock-skew",
            &[
                "no fault `clock-skew`; did you mean `",
                "kill, pause, partition, drop-reply, hold-reply, disconnect, expire, latency, stall, move, pin, lag, wipe",
            ],
        ),
        (
            "run lock/fenced --faults kill,none",
            &["`none` stands alone", "`kill,none`", "leave it out"],
        ),
        (
            "compare lock --faults kill+none",
            &["`none` stands alone", "leave it out"],
        ),
        (
            "run lock/fenced --zookeeper 3.9.3",
            &["`3.9.3`", "`zookeeper:3.9.3`", "`bookworm` (3.8.0)", "`trixie` (3.9.3)"],
        ),
        ("images --zookeeper 3.8", &["`zookeeper:3.8`", "bookworm"]),
        ("compare lock --zookeeper trixie,3.8.0", &["`zookeeper:3.8.0`"]),
        (
            "run lock/fenced --seed abc",
            &["'abc'", "a whole number from 0 to 18446744073709551615"],
        ),
        ("selftest --seed=-1", &["'-1'", "a whole number"]),
        (
            "explore ./my-lock",
            &[
                "\"./my-lock\" is a recipe of your own and cannot be explored",
                "run ./my-lock --times 10",
            ],
        ),
        (
            "check /etc/passwd",
            &[
                "/etc/passwd is no history (line 1, column 1",
                "the folder of a run",
                ".jsonl",
                ".edn",
                ".txt",
            ],
        ),
        (
            "run lock/fenced --faults pauze",
            &["did you mean `pause`", "kill", "partition"],
        ),
        ("run lock/fenced --servers 2", &["1, 3 or 5"]),
        ("run lock/fenced --timing 250/4/100", &["500 to 5000 ms"]),
        ("run lock/fenced --time soon", &["60s, 2m or 500ms"]),
        ("run --on sim lock/crate", &["built on the client library"]),
        ("run --on sim ensemble/textbook", &["ZooKeeper's own elections"]),
        ("run --on sim lock/fenced --zookeeper trixie", &["no ZooKeeper"]),
        ("run --on sim lock/fenced --keep", &["--keep"]),
        ("run --on sim lock/fenced --live", &["--live"]),
        ("run lock/fenced --on mars", &["docker", "sim"]),
        ("check /nowhere/at/all", &["/nowhere/at/all"]),
        ("nonsense", &["nonsense"]),
        ("compare locks", &["did you mean `lock`?"]),
        ("compare lock --variants fencd", &["did you mean `lock/fenced`?"]),
        ("compare lock --faults pause+kil", &["did you mean `kill`?"]),
        ("compare lock --variants fenced,fenced", &["there twice"]),
        (
            "compare election --variants epoch,zen",
            &["election/epoch and consensus/zen cannot be compared"],
        ),
        ("compare lock --timings 250/4/100", &["2 to 20 ticks"]),
        ("compare lock --servers 4", &["1, 3 or 5"]),
        (
            "compare election --variants zen",
            &["compare consensus", "explore consensus/zen"],
        ),
        (
            "compare consensus --on docker",
            &["no recipes of ZooKeeper", "leave --on docker out"],
        ),
        ("compare consensus --on sim", &["leave --on sim out"]),
        (
            "compare consensus --faults kill",
            &["lost leaders", "leave --faults out"],
        ),
        ("compare consensus --times 3", &["played once", "leave --times out"]),
        ("compare consensus --time 20s", &["leave --time out"]),
        (
            "compare consensus --zookeeper trixie",
            &["no ZooKeeper", "leave --zookeeper out"],
        ),
        (
            "compare consensus --clients 3",
            &["two proposers", "leave --clients out"],
        ),
        ("compare consensus --servers 2", &["give --servers 3 to 7"]),
        (
            "compare consensus --variants fast-paxo",
            &["did you mean `fast-paxos`?"],
        ),
        (
            "compare consensus --variants zen",
            &["no acceptors", "explore consensus/zen"],
        ),
        (
            "measure herd --variants election/tickets",
            &["did you mean `election/ticket`"],
        ),
        (
            "measure herd --variants commit/atomic",
            &["no election or lock `commit/atomic`"],
        ),
        (
            "measure commit --variants commit/atom",
            &["did you mean `commit/atomic`"],
        ),
        ("measure herd --candidates 1", &["2..=200"]),
    ] {
        refused(line, parts);
    }
}

#[test]
fn a_wrong_path_is_wrong_usage_in_every_command() {
    let base = Runs::new("paths");
    let path = |name: &str| base.path().join(name);
    hand_made(&base.path().join("run"));
    std::fs::create_dir(path("empty")).unwrap();
    std::fs::write(path("file"), "text").unwrap();
    std::fs::write(path("torn.tar.gz"), "no gzip").unwrap();
    std::fs::write(path("history.jsonl"), "").unwrap();
    std::fs::create_dir(path("odd")).unwrap();
    std::fs::write(path("odd/plan.json"), "{}").unwrap();
    // No file that can be read, even for root.
    std::fs::create_dir(path("odd/history.jsonl")).unwrap();
    std::fs::create_dir(path("folder.jsonl")).unwrap();
    let wrong = "name = \"wrong\"\nvariants = [\"lock/fencd\"]\nfaults = [\"none\"]\n";
    std::fs::write(path("wrong.toml"), wrong).unwrap();
    std::fs::write(path("colour.toml"), wrong.replace("fencd", "fenced") + "colour = 3\n").unwrap();
    let campaign = "a campaign in TOML";
    for (line, wrong, way_out) in [
        ("replay missing", "missing", "runs/latest"),
        ("replay file", "file", "runs/latest"),
        ("replay torn.tar.gz", "torn.tar.gz", "runs/latest"),
        ("replay empty", "empty", "runs/latest"),
        ("replay odd", "odd", "runs/latest"),
        ("replay file/below", "below", "runs/latest"),
        ("replay run --out file", "file", "--out"),
        ("report missing", "missing", "runs/latest"),
        ("report file", "file", "runs/latest"),
        ("report torn.tar.gz", "torn.tar.gz", "runs/latest"),
        ("report empty", "empty", "contains no runs"),
        ("report odd", "odd", "runs/latest"),
        ("report run", "run", "zooquake check"),
        ("pack missing", "missing", "runs/latest"),
        ("pack file", "file", "runs/latest"),
        ("pack empty", "empty", "runs/latest"),
        ("pack odd", "odd", "runs/latest"),
        ("pack run --out empty", "empty", "--out"),
        ("pack run --out file/below", "below", "--out"),
        ("convert missing o.edn", "missing", "IN"),
        ("convert folder.jsonl o.edn", "folder.jsonl", "IN"),
        ("convert history.jsonl missing/o.edn", "missing", "OUT"),
        ("nightly missing", "missing", campaign),
        ("nightly empty", "empty", campaign),
        ("nightly wrong.toml --out missing", "wrong.toml", "line 2, `variants`"),
        (
            "nightly wrong.toml --out missing",
            "line 2",
            "did you mean `lock/fenced`?",
        ),
        ("nightly colour.toml --out missing", "colour.toml", "line 4"),
        ("nightly colour.toml --out missing", "line 4", "colour"),
        ("nightly --shard 5/4 --out missing", "5/4", "--shard"),
        ("nightly --out file/below", "file", "--out"),
        ("nightly --out empty --junit empty", "empty", "--junit"),
        ("nightly --out empty --junit file/below", "file", "--junit"),
        ("run lock/fenced --out file/below", "file", "--out"),
        ("run lock/fenced --out file", "file", "--out"),
        ("compare lock --out file", "file", "--out"),
        ("measure herd --out file", "file", "--out"),
        ("measure commit --out file", "file", "--out"),
    ] {
        let refused = output_of(zooquake(line).current_dir(base.path())).ends(254);
        refused.with(&[wrong, way_out]);
    }
    assert!(!base.path().join("missing").exists(), "nothing was made");
}

#[test]
fn what_cannot_end_valid_is_refused_before_it_begins() {
    let base = Runs::new("short");
    let cells = "variants = [\"lock/fenced\"]\nfaults = [\"none\", \"pause\", \"drop-reply\"]\nseeds = [1, 2]\n";
    let campaign_of = |time: &str| {
        std::fs::write(base.path().join("short.toml"), format!("{cells}time = \"{time}\"\n")).unwrap();
    };
    let call = |line: &str| output_of(without_engine(line).current_dir(base.path()));
    let run = "run lock/fenced --on docker --faults pause,kill --out out";
    for (command, named) in [
        (
            format!("{run} --seed 1 --time"),
            &["no window of pause", "lock/fenced"][..],
        ),
        (format!("{run} --time"), &["no window of pause"]),
        (
            "compare lock --faults none,pause --times 2 --out out --time".to_string(),
            &["predecessor under pause, seed 1", "fenced under pause, seed 2"],
        ),
        (
            "nightly short.toml --out out".to_string(),
            &["lock/fenced × pause × seed 1", "lock/fenced × pause × seed 2"],
        ),
    ] {
        // A night's time stands in its campaign.
        let with = |time: &str| {
            campaign_of(time);
            let given = if command.ends_with("--time") { time } else { "" };
            format!("{command} {given}")
        };
        let short = call(&with("3s")).ends(254);
        let short = short.with(named).without(&["× none ×", "under none"]);
        // All the same, and with the time that it names, it gets to where it needs an engine.
        call(&format!("{} --anyway", with("3s"))).ends(255);
        let output = short.to_string();
        let named = output.split_once("--time ").or(output.split_once("time = \""));
        let (_, rest) = named.expect("a time");
        let time: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        call(&with(&time)).ends(255);
    }
    // A fault that finds no place does not keep the others from striking, and the verdict states it.
    let partly = "run lock/fenced --on sim --faults pause,kill --time 6s --seed 1 --json --out out";
    let partly = call(partly)
        .ends(2)
        .with(&["no window of pause fits into 6 s", "--time 12s"])
        .json();
    assert_eq!(partly["reasons"][0], "no window of pause counts (none was planned)");
    assert_eq!(partly["windows"][0]["fault"], "kill");
    assert_eq!(partly["windows"][0]["counts"], true);
    let lone = call("run lock/fenced --on sim --faults kill,lag --servers 1 --time 20s --seed 1 --out out").ends(2);
    lone.with(&["lag needs three that vote", "give another ensemble, or --faults kill"]);
    call("run lock/fenced --on sim --faults lag --servers 1 --out out")
        .ends(254)
        .with(&["give another ensemble"]);
    let lonely = call("run queue/fifo --clients 1 --faults none --out out").ends(254);
    lonely.with(&["--clients 2"]);
    // What was run is run again, whatever may come of it.
    hand_made(&base.path().join("run"));
    call("replay run --out out").ends(255);
}

#[test]
fn without_an_engine_it_says_what_was_tried_and_leaves_nothing() {
    for line in [
        "run lock/fenced --on docker",
        "run lock/crate",
        "run ensemble/textbook",
        "run lock/fenced --zookeeper trixie",
        "run lock/fenced --keep",
        "compare lock --faults none --times 1",
        "nightly",
    ] {
        let out = Runs::new("no-engine");
        let output = output_of(without_engine(line).arg("--out").arg(out.path())).ends(255);
        output.with(&["unix:///nowhere/docker.sock", "docker info"]);
        let left = std::fs::read_dir(out.path()).unwrap().count();
        assert_eq!(left, 0, "{line} never began");
    }
}
