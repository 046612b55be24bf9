//! `clean`: what it removes, and what it spares.

use crate::common::{
    EnsembleSlot, Runs, SMALL, assert_nothing_left, docker, ended, output_of, owner, recorded, start, tools_image,
    zooquake,
};
use std::process::{Command, Stdio};

#[test]
fn clean_spares_runs_that_go_on_and_goes_on_past_what_it_cannot_remove() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("spared");
    let child = start(&runs, &format!("{SMALL} --faults none --time 12s"));
    recorded(&runs, &["\"f\":\"phase\"", "\"ops\""]);
    let id = runs.id();
    // A dead run that can be removed, and one that cannot: a foreign container has its volume. So has the live run, in
    // whose network another one stands.
    let label = |id: &str| format!("zooquake.run={id}");
    let image = tools_image();
    let mut foreign = ForeignObjects::default();
    foreign.make("network", &["--label", &label("zz-dead"), "zooquake-test-dead"]);
    // It may be that of an earlier run, which the engine could not remove.
    let networks = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
    let network = docker(&["inspect", "--format", networks, &format!("zooquake-{id}-n1")]);
    foreign.start(&["--network", &network, &image], 300);
    for (id, volume) in [("a-stubborn", "zooquake-test-stubborn"), (&id, "zooquake-test-held")] {
        foreign.make("volume", &["--label", &label(id), volume]);
        foreign.start(&["-v", &format!("{volume}:/held"), &image], 300);
    }

    let clean = |line: &str| {
        let elsewhere = Runs::new("elsewhere");
        let mut command = zooquake(&format!("clean {line}"));
        output_of(command.env("TMPDIR", elsewhere.path()).stdin(Stdio::null()))
    };
    let going_on = format!("run {id}: going on");
    clean("--dry-run")
        .ends(0)
        .with(&["run zz-dead: would remove 1 network", &going_on]);
    // A lease that writes nothing and ends: its orchestrator has died, though the lease's stdin ended late.
    let silent = ["--label", &label("silent"), "--label", "zooquake.lease=silent", &image];
    foreign.start(&silent, 5);
    clean("").ends(255).with(&[
        "run silent: removed 1 container",
        "run zz-dead: removed 1 network",
        "run a-stubborn: could not remove volume zooquake-test-stubborn",
        &going_on,
    ]);

    // A run that cannot be cleared away is judged.
    let output = ended(child).ends(0);
    assert!(runs.only().join("results.json").exists(), "{output}");
    output.with(&[&format!("`zooquake clean --run {id}`")]);
    foreign.end();
    let removed = clean(&format!("--run {id}")).ends(0);
    let removed = removed.with(&[&format!("run {id}: removed 1 volume")]);
    removed.without(&["a-stubborn"]);
    clean("--run a-stubborn").ends(0);
    assert_nothing_left();
}

/// The label by which they are this test's.
fn owned() -> String {
    format!("zooquake.owner={}", owner())
}

/// Containers, networks and volumes that are not a run's; a failing test leaves none of them behind.
#[derive(Default)]
struct ForeignObjects {
    containers: Vec<String>,
    others: Vec<(&'static str, String)>,
}

impl ForeignObjects {
    /// Makes a `network` or a `volume`, whose name is the last argument.
    fn make(&mut self, kind: &'static str, arguments: &[&str]) {
        self.others.push((kind, arguments.last().expect("a name").to_string()));
        docker(&[&[kind, "create", "--label", &owned()], arguments].concat());
    }

    /// Starts a container that stays for so many seconds; the image is the last argument.
    fn start(&mut self, arguments: &[&str], seconds: u64) {
        let id = docker(
            &[
                &["run", "-d", "--label", &owned()],
                arguments,
                &["sleep", &seconds.to_string()],
            ]
            .concat(),
        );
        self.containers.push(id);
    }

    /// Removes the containers.
    fn end(&mut self) {
        self.containers.drain(..).for_each(|id| remove(&["rm", "-f", &id]));
    }
}

impl Drop for ForeignObjects {
    fn drop(&mut self) {
        self.end();
        self.others
            .drain(..)
            .for_each(|(kind, name)| remove(&[kind, "rm", &name]));
    }
}

/// Removes something that `clean` may have removed. What stays is found by `assert_nothing_left`.
fn remove(arguments: &[&str]) {
    let _ = Command::new("docker").args(arguments).output();
}
