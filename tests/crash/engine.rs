//! What the engine has of a run.

use crate::common::output_of;
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

/// The containers of a run, and which of them are damaged.
#[derive(Debug, Default)]
pub struct Containers {
    count: usize,
    /// Frozen by the engine.
    paused: Vec<String>,
    /// With a process that is stopped.
    stopped: Vec<String>,
    /// With rules of a cut in its network.
    cut: Vec<String>,
}

impl Containers {
    /// Those of a run, as they are now.
    pub fn containers_of_run(run: &str) -> Self {
        let label = format!("label=zooquake.run={run}");
        let format = "{{.Names}} {{.State}}";
        let (_, all) = docker(&["ps", "--all", "--filter", &label, "--format", format]);
        let mut found = Self::default();
        for (name, state) in all.lines().filter_map(|line| line.split_once(' ')) {
            found.count += 1;
            match state {
                "paused" => found.paused.push(name.to_string()),
                "running" => found.look_into(name),
                _ => {}
            }
        }
        found
    }

    fn look_into(&mut self, name: &str) {
        let (_, processes) = docker(&["top", name, "-eo", "stat,pid"]);
        if processes.lines().skip(1).any(|process| process.starts_with(['T', 't'])) {
            self.stopped.push(name.to_string());
        }
        if name.ends_with("-sidecar") {
            let (there, rules) = docker(&["exec", name, "iptables-save"]);
            if !there || rules.contains("ZOOQUAKE") {
                self.cut.push(name.to_string());
            }
        }
    }

    /// How the rule is broken that nothing stays frozen or cut off.
    pub fn damage(&self) -> Vec<String> {
        let kinds = [
            ("paused", &self.paused),
            ("stopped", &self.stopped),
            ("cut off", &self.cut),
        ];
        let damaged = kinds.into_iter().filter(|(_, names)| !names.is_empty());
        damaged
            .map(|(what, names)| format!("{what}: {}", names.join(" ")))
            .collect()
    }
}

impl fmt::Display for Containers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            count,
            paused,
            stopped,
            cut,
        } = self;
        let [paused, stopped, cut] = [paused, stopped, cut].map(Vec::len);
        write!(
            f,
            "{count} containers, {paused} paused, {stopped} stopped, {cut} cut off"
        )
    }
}

/// Whether `docker` succeeded, and what it printed.
fn docker(arguments: &[&str]) -> (bool, String) {
    let output = output_of(Command::new("docker").args(arguments));
    (output.code == Some(0), output.stdout)
}

/// Waits until the watcher of a run has ended. Returns how long that took; `None` if it goes on after the limit.
pub fn watcher_ended(run: &str, limit: Duration) -> Option<Duration> {
    let begun = Instant::now();
    while watched(run) {
        if begun.elapsed() > limit {
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(begun.elapsed())
}

/// Whether a process of this machine watches over the run.
fn watched(run: &str) -> bool {
    let arguments = format!("\0watch\0{run}\0");
    let processes = std::fs::read_dir("/proc").expect("the processes").flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(&arguments))
}
