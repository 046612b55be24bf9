//! How long the phases of a run take, so that moments can be drawn from its whole life.

use crate::moment::History;
use crate::trial::start;
use std::path::Path;
use std::time::{Duration, Instant};

/// Before the history begins.
pub const BRING_UP: &str = "bring-up";

/// The phases of a run, each with its length in milliseconds: from `bring-up`, which begins with the program, to `done`,
/// in which evidence is read, the cluster is cleared away and the history is checked.
#[derive(Debug)]
pub struct Life {
    phases: Vec<(String, u64)>,
}

impl Life {
    /// What two cores take.
    pub fn usual() -> Self {
        let phases = [
            (BRING_UP, 5_000),
            ("ops", 9_000),
            ("heal", 500),
            ("recover", 4_000),
            ("final", 1_500),
            ("audit", 500),
            ("done", 3_000),
        ];
        Self {
            phases: phases.map(|(name, ms)| (name.to_string(), ms)).into(),
        }
    }

    /// That of a whole run here.
    pub fn measure(folder: &Path) -> Self {
        let mut child = start(folder, "lock/fenced", "kill", "9000ms", 1);
        let begun = Instant::now();
        let mut history = History::of(folder);
        let mut phases: Vec<(String, u64)> = Vec::new();
        let (mut phase, mut since) = (BRING_UP.to_string(), begun);
        let status = loop {
            history.read();
            let ended = child.try_wait().expect("the state of zooquake");
            if ended.is_some() || history.phase() != phase {
                phases.push((phase, since.elapsed().as_millis() as u64));
                (phase, since) = (history.phase().to_string(), Instant::now());
            }
            match ended {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(0), "a run that nothing happens to is valid");
        println!("{} a whole run: {phases:?} ms", crate::now());
        std::fs::remove_dir_all(folder).expect("removing the folder of the measured run");
        Self { phases }
    }

    /// The phases of a run whose operations take so many milliseconds.
    pub fn phases(&self, ops_ms: u64) -> impl Iterator<Item = (&str, u64)> {
        let length = move |name: &str, ms| if name == "ops" { ops_ms } else { ms };
        self.phases
            .iter()
            .map(move |(name, ms)| (name.as_str(), length(name, *ms)))
    }
}
