//! When a signal is sent.

use crate::trial::start;
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// A moment in the life of a run.
#[derive(Debug)]
pub enum Moment {
    /// Milliseconds after the program was started.
    Life(u64),
    /// Milliseconds after a phase began.
    Phase(String, u64),
    /// Milliseconds after the window of this number, counted from 0, began to strike.
    Window(usize, u64),
}

impl Moment {
    /// The n-th moment: in turn one that follows the beginning of a window at once, if so many windows are given; one
    /// of a phase, each phase as likely as any other; and one of the whole life.
    pub fn draw(rng: &mut fastrand::Rng, n: usize, life: &RunPhases, ops_ms: u64, windows: Option<usize>) -> Self {
        let phases: Vec<(&str, u64)> = life.phases(ops_ms).collect();
        match (n % 3, windows) {
            (0, Some(windows)) => Self::Window(rng.usize(0..windows), rng.u64(0..20)),
            (0 | 1, _) => {
                let (phase, ms) = phases[rng.usize(0..phases.len())];
                Self::Phase(phase.to_string(), rng.u64(0..=ms))
            }
            _ => Self::Life(rng.u64(0..phases.iter().map(|(_, ms)| ms).sum())),
        }
    }

    /// Waits for the moment; returns whether the run was alive at it.
    pub fn wait(&self, child: &mut Child, history: &mut GrowingHistory) -> bool {
        let started = Instant::now();
        let mut seen = None;
        loop {
            history.read();
            let reached = match self {
                Self::Life(_) => true,
                Self::Phase(phase, _) => phase == BRING_UP || history.phases.contains(phase),
                Self::Window(number, _) => history.windows > *number,
            };
            if reached {
                let since = *seen.get_or_insert_with(|| match self {
                    Self::Life(_) => started,
                    _ => Instant::now(),
                });
                let (Self::Life(ms) | Self::Phase(_, ms) | Self::Window(_, ms)) = self;
                let left = Duration::from_millis(*ms).saturating_sub(since.elapsed());
                if left < PAUSE {
                    std::thread::sleep(left);
                    return child.try_wait().expect("the state of zooquake").is_none();
                }
            }
            if child.try_wait().expect("the state of zooquake").is_some() {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Between two looks at the history.
const PAUSE: Duration = Duration::from_millis(5);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Life(ms) => write!(f, "{ms} ms after the start"),
            Self::Phase(phase, ms) => write!(f, "{ms} ms into {phase}"),
            Self::Window(number, ms) => write!(f, "{ms} ms after window {} began", number + 1),
        }
    }
}

/// The history of the only run in a folder, read while it is written.
#[derive(Debug, Default)]
pub struct GrowingHistory {
    folder: PathBuf,
    file: Option<File>,
    /// What was read of a line that was not whole.
    rest: Vec<u8>,
    /// Those that have begun.
    phases: Vec<String>,
    /// What the nemesis did last.
    fault: Option<String>,
    /// How many windows have begun.
    windows: usize,
}

impl GrowingHistory {
    /// That of the run in the folder, which need not be there yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            ..Self::default()
        }
    }

    /// Reads what has been written since.
    pub fn read(&mut self) {
        if self.file.is_none() {
            self.file = only(&self.folder).and_then(|run| File::open(run.join("history.jsonl")).ok());
        }
        let Some(file) = &mut self.file else { return };
        file.read_to_end(&mut self.rest).expect("reading the history");
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return;
        };
        let rest = self.rest.split_off(end + 1);
        let lines = String::from_utf8(std::mem::replace(&mut self.rest, rest)).expect("a history is text");
        lines.lines().for_each(|line| self.take(line));
    }

    fn take(&mut self, line: &str) {
        // Most lines are of clients.
        if !line.contains(r#""run""#) && !line.contains(r#""nemesis""#) {
            return;
        }
        let event: Value = serde_json::from_str(line).expect("an event");
        if event["process"] == "run" && event["f"] == "phase" {
            self.phases.extend(event["value"].as_str().map(str::to_string));
        } else if event["process"] == "nemesis" {
            let value = &event["value"];
            let phase = value["phase"].as_str().unwrap_or_default();
            let fault = event["f"].as_str().unwrap_or_default();
            self.fault = Some(format!(
                "{fault} {phase} {}",
                value["target"].as_str().unwrap_or_default()
            ));
            self.windows += usize::from(phase == "begin");
        }
    }

    /// The last phase that began.
    pub fn phase(&self) -> &str {
        self.phases.last().map_or(BRING_UP, String::as_str)
    }

    /// The last phase and the last act of the nemesis.
    pub fn last(&self) -> String {
        match &self.fault {
            Some(fault) => format!("{}, after {}", self.phase(), fault.trim_end()),
            None => self.phase().to_string(),
        }
    }
}

/// The only run in a folder, if it has begun.
pub fn only(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut runs = entries.flatten().map(|entry| entry.path());
    runs.find(|path| path.is_dir() && !path.is_symlink())
}

/// Before the history begins.
pub const BRING_UP: &str = "bring-up";

/// The phases of a run, each with its length in milliseconds: from `bring-up`, which begins with the program, to
/// `done`, in which evidence is read, the cluster is cleared away and the history is checked.
#[derive(Debug)]
pub struct RunPhases {
    phases: Vec<(String, u64)>,
}

impl RunPhases {
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
        let mut child = start(folder, ("lock/fenced", "kill"), "9000ms", 1, None);
        let begun = Instant::now();
        let mut history = GrowingHistory::in_folder(folder);
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
