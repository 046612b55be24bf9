use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use zooquake_history::plan::{Timing, Workload};

/// The plan that `zooquake run` makes of a printed command line.
pub fn run_again(line: &str) -> Plan {
    let words = shlex::split(line).expect("a line that a shell can read");
    assert_eq!(words[1], "run", "{line}");
    let spec = RunSpec::from_args(&words[2..]).unwrap_or_else(|error| panic!("{line}: {error}"));
    spec.plan().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn case_of(plan: &Plan) -> Case {
    Case::new(plan.clone()).unwrap()
}

/// Whether two plans are the same file.
pub fn assert_same(one: &Plan, two: &Plan, what: &str) {
    let text = |plan: &Plan| serde_json::to_string_pretty(plan).unwrap();
    assert_eq!(text(one), text(two), "{what}");
}

fn maybe<T>(rng: &mut fastrand::Rng, value: impl FnOnce(&mut fastrand::Rng) -> T) -> Option<T> {
    rng.bool().then(|| value(rng))
}

fn timing(rng: &mut fastrand::Rng) -> Timing {
    let tick_ms = rng.u64(50..=2_000);
    Timing {
        tick_ms,
        sync_limit: rng.u64(1..=20),
        session_ms: rng.u64(2 * tick_ms..=20 * tick_ms),
        ..Timing::default()
    }
}

/// Any spec of this variant, whether it can be run or not.
fn random(rng: &mut fastrand::Rng, workload: &str) -> RunSpec {
    let kinds = crate::faults::names();
    let list = |rng: &mut fastrand::Rng| match rng.usize(0..=3) {
        0 => "none".to_string(),
        count => rng
            .choose_multiple(kinds.iter(), count)
            .into_iter()
            .cloned()
            .collect::<Vec<_>>()
            .join(","),
    };
    let size = |rng: &mut fastrand::Rng| [1, 3, 5][rng.usize(..3)];
    let texts = ["trixie", "registry.example:5000/zk:3.9", "a b", "--keep", "it's $(x)"];
    let folders = ["runs", "other runs", "-rf", "a\u{1b}[2Jb", "über"];
    let hosts = [
        vec![],
        vec!["unix:///run/a.sock", "ssh://me@b"],
        vec!["unix:///a", "tcp://b:2375", "ssh://c:2222"],
    ];
    let hosts: Vec<String> = hosts[rng.usize(..3)].iter().map(|host| (*host).to_string()).collect();
    let place = maybe(rng, |rng| format!("n1=h{}", rng.usize(1..=2))).filter(|_| !hosts.is_empty());
    RunSpec {
        plan_file: maybe(rng, |rng| folders[rng.usize(..folders.len())].into()),
        schedule: maybe(rng, |rng| folders[rng.usize(..folders.len())].into()),
        faults: maybe(rng, list),
        time: maybe(rng, |rng| Duration::from_millis(rng.u64(1_000..=300_000))),
        seed: maybe(rng, |rng| rng.u64(..)),
        on: maybe(rng, |rng| [On::Docker, On::Sim][rng.usize(..2)]),
        times: rng.u32(1..=10_000),
        servers: maybe(rng, size),
        observers: maybe(rng, |rng| rng.usize(0..=4)),
        clients: maybe(rng, |rng| rng.usize(6..=50)),
        timing: maybe(rng, timing),
        zookeeper: maybe(rng, |rng| texts[rng.usize(..texts.len())].into()),
        drawn_for: maybe(rng, |rng| DrawnFor {
            servers: size(rng),
            timing: timing(rng),
        }),
        place: place.iter().map(|text| text.parse().unwrap()).collect(),
        hosts,
        out: folders[rng.usize(..folders.len())].into(),
        keep: rng.bool(),
        live: rng.bool(),
        anyway: rng.bool(),
        json: rng.bool(),
        ..RunSpec::new(workload)
    }
}

/// The spec that `zooquake run` gets from a shell.
fn by_shell(line: &str) -> RunSpec {
    let script = format!("set -- {line}; printf '%s\\0' \"$@\"");
    let said = std::process::Command::new("sh")
        .arg("-c")
        .arg(script)
        .output()
        .unwrap()
        .stdout;
    let words: Vec<_> = said
        .split(|byte| *byte == 0)
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect();
    // The program, `run`, …, and what is after the last NUL.
    RunSpec::from_args(&words[2..words.len() - 1]).unwrap()
}

#[test]
fn arguments_give_the_spec_that_they_were_written_from() {
    let mut rng = fastrand::Rng::with_seed(1);
    for workload in names::workloads().iter().map(Workload::name) {
        for _ in 0..200 {
            let spec = random(&mut rng, &workload);
            let arguments = spec.to_args();
            let again = RunSpec::from_args(&arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
            assert_eq!(again, spec, "{arguments:?}");
            assert_eq!(spec.read_again().as_ref(), Ok(&spec));
            let line = spec.line().unwrap();
            if rng.u8(..) < 8 {
                assert_eq!(by_shell(&line), spec, "{line}");
            }
        }
    }
}

#[test]
fn what_the_command_line_refuses_is_not_read_again() {
    let bare = || RunSpec::new("lock/fenced");
    let read = |spec: RunSpec| {
        let (by_args, again) = (RunSpec::from_args(spec.to_args()), spec.read_again());
        assert_eq!(by_args.as_ref().ok(), again.as_ref().ok(), "{spec:?}");
        again
    };
    #[rustfmt::skip]
    let refused = [
        RunSpec { workload: "--keep".into(), ..bare() },
        RunSpec { time: Some(Duration::from_millis(1)), ..bare() },
        RunSpec { servers: Some(8), ..bare() },
        RunSpec { observers: Some(5), ..bare() },
        RunSpec { clients: Some(0), ..bare() },
        RunSpec { timing: Some(Timing { tick_ms: 1, ..Timing::default() }), ..bare() },
        RunSpec { zookeeper: Some("3.9".into()), ..bare() },
        RunSpec { drawn_for: Some(DrawnFor { servers: 2, timing: Timing::default() }), ..bare() },
        RunSpec { hosts: vec!["no context".into()], ..bare() },
    ];
    refused
        .into_iter()
        .for_each(|spec| assert!(read(spec.clone()).is_err(), "{spec:?}"));
    let timing = Timing {
        init_limit: Timing::default().init_limit + 1,
        ..Timing::default()
    };
    let other = RunSpec {
        timing: Some(timing),
        clients: Some(CLIENTS),
        ..bare()
    };
    let again = read(other).unwrap();
    assert_eq!((again.timing, again.clients), (Some(Timing::default()), None));
}

#[test]
fn what_is_not_given_is_as_on_the_command_line() {
    for workload in names::workloads().iter().map(Workload::name) {
        assert_eq!(RunSpec::from_args([&workload]).unwrap(), RunSpec::new(&workload));
    }
    let plan = RunSpec::new("lock/fenced").plan().unwrap();
    assert_eq!((plan.time_ms, &plan.faults), (60_000, &crate::faults::usual()));
    assert_eq!((plan.cluster.servers, plan.cluster.clients), (SERVERS, CLIENTS));
    assert_eq!((plan.cluster.timing, plan.drawn_for), (Timing::default(), None));
    let register = RunSpec::new("register/read").plan().unwrap();
    assert_eq!(register.cluster.timing.session_ms, 5_000);
}

#[test]
fn the_spec_of_a_plan_draws_it_again() {
    let mut rng = fastrand::Rng::with_seed(2);
    for workload in names::workloads().iter().map(Workload::name) {
        for _ in 0..10 {
            let spec = RunSpec {
                plan_file: None,
                schedule: None,
                ..random(&mut rng, &workload)
            };
            let plan = match spec.plan() {
                Ok(plan) => plan,
                Err(why) if spec.on == Some(On::Sim) && why.contains("--on docker") => continue,
                Err(why) if why.contains("--drawn-for") || why.contains("textbook") => continue,
                // What is drawn here is for ensembles.
                Err(_) if workload.starts_with("consensus/") => continue,
                Err(why) => panic!("{spec:?}: {why}"),
            };
            assert_same(&RunSpec::from_case(&case_of(&plan)).plan().unwrap(), &plan, &workload);
            assert_same(
                &run_again(&RunSpec::from_case(&case_of(&plan)).line().unwrap()),
                &plan,
                &workload,
            );
            // It is printed, unless the plan's image has no name that could be pulled.
            let named = plan
                .cluster
                .image
                .as_deref()
                .is_none_or(zooquake_backend::images::is_name);
            assert_eq!(
                crate::planning::reproduction::drawn(&case_of(&plan)).is_some(),
                named,
                "{spec:?}"
            );
        }
    }
}

#[test]
fn a_plan_is_drawn_for_another_ensemble_where_that_is_asked_for() {
    let small = RunSpec {
        seed: Some(7),
        ..RunSpec::new("lock/fenced")
    };
    let shape = |servers, timing| DrawnFor { servers, timing };
    let (usual, slow) = (Timing::default(), values::timing("500/4/4000").unwrap());
    let large = RunSpec {
        servers: Some(5),
        timing: Some(slow),
        drawn_for: Some(shape(3, usual)),
        ..small.clone()
    };
    let (one, two) = (small.plan().unwrap(), large.plan().unwrap());
    assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
    assert_eq!((two.cluster.servers, two.cluster.timing), (5, slow));
    let own = RunSpec {
        drawn_for: Some(shape(3, usual)),
        ..small.clone()
    };
    assert_same(&own.plan().unwrap(), &one, "its own shape says nothing");
    let beyond = RunSpec {
        drawn_for: Some(shape(5, usual)),
        ..small
    };
    assert!(beyond.plan().unwrap_err().contains("more servers"));
}

#[test]
fn the_spec_of_a_networks_plan_draws_it_again() {
    for workload in names::workloads().iter().map(Workload::name) {
        for line in [
            "--seed 1",
            "--seed 2 --faults kill,loss --time 3s",
            "--seed 3 --faults none",
        ] {
            let spec = RunSpec::from_args(format!("{workload} {line}").split(' ')).unwrap();
            if workload.starts_with("consensus/") {
                let plan = spec.plan().unwrap();
                assert_eq!(plan.on, On::Network);
                assert_same(&RunSpec::from_case(&case_of(&plan)).plan().unwrap(), &plan, &workload);
                assert_same(
                    &run_again(&RunSpec::from_case(&case_of(&plan)).line().unwrap()),
                    &plan,
                    &workload,
                );
            }
        }
    }
    let refused = |line: &str| RunSpec::from_args(line.split(' ')).unwrap().plan().unwrap_err();
    for (line, part) in [
        ("consensus/paxos --on sim", "leave --on sim out"),
        ("consensus/paxos --servers 2", "3 to 7 nodes"),
        ("consensus/paxos --observers 1", "leave --observers out"),
        ("consensus/zen --clients 2", "leave --clients out"),
        ("consensus/paxos --faults lag", "which has no `lag`"),
        ("consensus/paxos --timing 500/4/4000", "leave --timing out"),
        ("lock/fenced --faults loss", "is a fault of consensus protocols"),
        ("lock/fenced --on network", "needs ZooKeeper"),
        ("lock/fenced --servers 4", "1, 3 or 5 servers"),
        ("lock/fenced --faults host-kill", "give --hosts with two"),
        ("lock/fenced --place n1=h1", "give --hosts too"),
        ("lock/fenced --hosts unix:///a", "2 to 16 hosts"),
        (
            "lock/fenced --on sim --hosts unix:///a,unix:///b",
            "stands on no hosts: give --on docker",
        ),
        ("consensus/paxos --hosts unix:///a,unix:///b", "leave --hosts out"),
    ] {
        assert!(refused(line).contains(part), "{line}: {}", refused(line));
    }
}
