//! The recorder: the only writer of a history, appending each event as it happens.

use super::store::Events;
use super::watchdog::{Clocks, Watchdog};
use anyhow::Result;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use zooquake_backend::Clock;
use zooquake_engine::{HistoryEntry, Stalls};
use zooquake_history::Event;
use zooquake_history::operation::nemesis;

/// Numbers and stamps the events of a history, and appends them.
pub struct Recorder {
    clock: Arc<dyn Clock>,
    events: Events,
    next: usize,
    begun: Duration,
    /// `None` while no loop turns.
    watchdog: Option<Watchdog>,
    stalls: Stalls,
}

impl Recorder {
    /// Begins a history; its clock starts now. Its first event contains the time of the wall clock, so that the
    /// servers' logs, which are written by that, can be put beside the events.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(events: Events, clock: Arc<dyn Clock>) -> Result<Self> {
        let mut recorder = Self {
            events,
            next: 0,
            begun: clock.now(),
            clock,
            watchdog: None,
            stalls: Stalls::default(),
        };
        let unix_us = recorder.clock.unix().as_micros() as u64;
        recorder.record(HistoryEntry::named(
            "run",
            "clock",
            json!(nemesis::ClockReading { unix_us }),
        ))?;
        Ok(recorder)
    }

    /// From now on the loop that records turns again and again; when it does not for `least` or more, that is a stall.
    pub fn watch(&mut self, least: Duration) {
        self.watchdog = Some(Watchdog::new(least, self.clocks()));
    }

    /// The loop turns no more: what is late from now on is no stall.
    pub fn leave(&mut self) {
        self.watchdog = None;
    }

    /// The loop rests for `rest` at most, from the moment of this turn.
    pub fn rests(&mut self, now: Clocks, rest: Duration) {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.rests(now, rest);
        }
    }

    /// The loop turns: records the stall that ends with this, if there was one. Returns the moment of the turn, which
    /// is that of all that is done in it: between it and a later reading of the clock there may be a stall that is not
    /// recorded yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn turns(&mut self) -> Result<Clocks> {
        let now = self.clocks();
        let Some(stall) = self.watchdog.as_mut().and_then(|dog| dog.turns(now)) else {
            return Ok(now);
        };
        self.stalls = Stalls {
            count: self.stalls.count + 1,
            last: stall.lasted,
            lost: self.stalls.lost + stall.monotonic,
        };
        let value = nemesis::Stall {
            ms: stall.lasted.as_millis() as u64,
        };
        self.append(now, HistoryEntry::named("run", "stall", json!(value)))?;
        Ok(now)
    }

    /// The stalls recorded so far.
    pub fn stalls(&self) -> Stalls {
        self.stalls
    }

    /// The moment from which the history counts.
    pub fn begun(&self) -> Duration {
        self.begun
    }

    fn clocks(&self) -> Clocks {
        Clocks {
            monotonic: self.clock.now(),
            boottime: self.clock.boottime(),
        }
    }

    /// Events recorded so far.
    pub fn len(&self) -> usize {
        self.next
    }

    /// Appends an event and returns its index. A stall that ends with this is recorded before it.
    ///
    /// # Errors
    /// If it cannot be written: a history with a hole proves nothing, so the run must end.
    pub fn record(&mut self, entry: HistoryEntry) -> Result<usize> {
        let now = self.turns()?;
        self.append(now, entry)
    }

    fn append(&mut self, now: Clocks, entry: HistoryEntry) -> Result<usize> {
        let HistoryEntry {
            process,
            kind,
            f,
            value,
            error,
            node,
        } = entry;
        let (index, time) = (self.next, (now.monotonic - self.begun).as_nanos() as u64);
        self.events.append(Event {
            index,
            time,
            process,
            kind,
            f: f.into(),
            value: value.into(),
            error,
            node: node.as_ref().map(Into::into),
        })?;
        self.next += 1;
        Ok(index)
    }

    /// Waits until all events are on disk.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn sync(&self) -> Result<()> {
        self.events.sync()
    }
}
