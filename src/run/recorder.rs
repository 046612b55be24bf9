//! The recorder: the only writer of a history, appending each event as it happens.

use super::watchdog::{Clocks, Watchdog};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use zooquake_checkers::{Event, EventType, Process};

/// Appends events to `history.jsonl`; every line is handed to the kernel at once, so that it survives our own death.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
    next: usize,
    begun: Instant,
    /// `None` while no loop turns.
    watchdog: Option<Watchdog>,
    stalls: Stalls,
}

/// The stalls recorded so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stalls {
    /// How many.
    pub count: usize,
    /// How long the last one was.
    pub last: Duration,
    /// How much time all of them took from deadlines.
    pub lost: Duration,
}

impl Stalls {
    /// A deadline that was set when these had been recorded, moved by what the stalls up to `now` have taken from it.
    pub fn moved(self, deadline: Instant, now: Self) -> Instant {
        deadline + now.lost.saturating_sub(self.lost)
    }
}

/// What an event says; the recorder adds index and time.
#[derive(Debug)]
pub struct Entry {
    /// Who.
    pub process: Process,
    /// Type.
    pub kind: EventType,
    /// Operation.
    pub f: String,
    /// Value.
    pub value: Value,
    /// Error, if any.
    pub error: Option<String>,
    /// Client, if it is one's.
    pub node: Option<String>,
}

impl Entry {
    /// An event on a lane that is no operation.
    pub fn lane(name: &str, f: &str, value: Value) -> Self {
        Self {
            process: Process::Name(name.to_string()),
            kind: EventType::Info,
            f: f.to_string(),
            value,
            error: None,
            node: name.starts_with('c').then(|| name.to_string()),
        }
    }
}

impl Recorder {
    /// Begins a history; its clock starts now.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create_new(path).with_context(|| format!("creating {}", path.display()))?;
        Ok(Self {
            file,
            path: path.to_path_buf(),
            next: 0,
            begun: Instant::now(),
            watchdog: None,
            stalls: Stalls::default(),
        })
    }

    /// From now on the loop that records turns again and again; when it does not for `least` or more, that is a stall.
    pub fn watch(&mut self, least: Duration) {
        self.watchdog = Some(Watchdog::new(least, Clocks::read()));
    }

    /// The loop rests now, for `rest` at most.
    pub fn rests(&mut self, rest: Duration) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.rests(Clocks::read(), rest);
        }
    }

    /// The loop turns: records the stall that ends with this, if there was one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn turns(&mut self) -> Result<()> {
        let Some(stall) = self.watchdog.as_mut().and_then(|dog| dog.turns(Clocks::read())) else {
            return Ok(());
        };
        self.stalls = Stalls {
            count: self.stalls.count + 1,
            last: stall.lasted,
            lost: self.stalls.lost + stall.monotonic,
        };
        let value = json!({ "ms": stall.lasted.as_millis() as u64 });
        self.append(Entry::lane("run", "stall", value))?;
        Ok(())
    }

    /// The stalls recorded so far.
    pub fn stalls(&self) -> Stalls {
        self.stalls
    }

    /// The moment from which the history counts.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Events recorded so far.
    pub fn len(&self) -> usize {
        self.next
    }

    /// Appends an event and returns its index. A stall that ends with this is recorded before it.
    ///
    /// # Errors
    /// If it cannot be written: a history with a hole proves nothing, so the run must end.
    pub fn record(&mut self, entry: Entry) -> Result<usize> {
        self.turns()?;
        self.append(entry)
    }

    fn append(&mut self, entry: Entry) -> Result<usize> {
        let Entry {
            process,
            kind,
            f,
            value,
            error,
            node,
        } = entry;
        let (index, time) = (self.next, self.begun.elapsed().as_nanos() as u64);
        let event = Event {
            index,
            time,
            process,
            kind,
            f,
            value,
            error,
            node,
        };
        let mut line = serde_json::to_vec(&event).context("writing an event as JSON")?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .with_context(|| format!("writing to {}", self.path.display()))?;
        self.next += 1;
        Ok(index)
    }

    /// Records what the wall clock shows, so that the servers' logs, which are written by it, can be put beside the events.
    ///
    /// # Errors
    /// If it shows a time before 1970, or the event cannot be written.
    pub fn read_clock(&mut self) -> Result<()> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let unix = since.context("the wall clock shows a time before 1970")?;
        let value = json!({ "unix_us": unix.as_micros() as u64 });
        self.record(Entry::lane("run", "clock", value))?;
        Ok(())
    }

    /// Waits until all events are on disk.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync(&self) -> Result<()> {
        self.file
            .sync_data()
            .with_context(|| format!("syncing {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_lost_in_stalls_is_not_taken_from_a_deadline() {
        let lost = |seconds| Stalls {
            lost: Duration::from_secs(seconds),
            ..Stalls::default()
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(lost(7).moved(deadline, lost(7)), deadline, "stalls before it was set");
        assert_eq!(lost(7).moved(deadline, lost(97)), deadline + Duration::from_secs(90));
    }
}
