//! When a signal is sent.

use crate::life::{BRING_UP, Life};
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
    /// The n-th moment: in turn one that follows the beginning of a window at once, if so many windows are given; one of a
    /// phase, each phase as likely as any other; and one of the whole life.
    pub fn draw(rng: &mut fastrand::Rng, n: usize, life: &Life, ops_ms: u64, windows: Option<usize>) -> Self {
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

    /// Waits for the moment; tells whether the run lived to see it.
    pub fn wait(&self, child: &mut Child, history: &mut History) -> bool {
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
#[derive(Debug)]
pub struct History {
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

impl History {
    /// That of the run in the folder, which need not be there yet.
    pub fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            file: None,
            rest: Vec::new(),
            phases: Vec::new(),
            fault: None,
            windows: 0,
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
