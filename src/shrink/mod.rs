//! Shrinking: the smallest plan that still fails the same way on a simulated ensemble.
//!
//! Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) over the windows
//! of faults; then clients, operations and times are taken away greedily, again and again until nothing more can be. A
//! plan fails the same way if its run shows the same anomaly of the same property.

pub mod network;
mod reductions;
pub mod strategy;

use crate::planning::case::Case;
use crate::replay::pin;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zooquake_checkers::Anomaly;
use zooquake_checkers::text::count;
use zooquake_history::operation::control::f;
use zooquake_history::{Event, EventType, MessageRecord, Process, Record, plan::Plan};

/// The anomaly that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedAnomaly {
    /// The property that does not hold.
    pub property: String,
    /// The anomaly, such as `stale-write`.
    pub anomaly: String,
    /// Whether it is an advisory one.
    pub advisory: bool,
}

impl WantedAnomaly {
    /// The wish to keep this anomaly.
    pub fn new(anomaly: &Anomaly) -> Self {
        Self {
            property: anomaly.property.clone(),
            anomaly: anomaly.kind.clone(),
            advisory: anomaly.advisory,
        }
    }

    /// Whether this is it, in whatever run.
    pub fn is(&self, anomaly: &Anomaly) -> bool {
        *self == Self::new(anomaly)
    }
}

/// How large a plan is, as its run shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    pub clients: usize,
    /// Windows of faults.
    pub windows: usize,
    /// Operations that clients were asked for before the faults were healed.
    pub operations: usize,
    /// Of a network, messages that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
}

impl Size {
    /// The size of a run.
    pub fn new(record: &Record) -> Self {
        Self {
            clients: record.plan.cluster.clients,
            windows: record.plan.windows.len(),
            operations: asked(record).count(),
            messages: record.messages.as_ref().map(|all| arrived(all)),
        }
    }
}

/// `2 clients, 1 window, 7 operations`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = [
            count(self.clients, "client"),
            count(self.windows, "window"),
            count(self.operations, "operation"),
        ];
        let messages = self.messages.map(|messages| count(messages, "message"));
        f.write_str(&sizes.into_iter().chain(messages).collect::<Vec<_>>().join(", "))
    }
}

fn arrived(messages: &[MessageRecord]) -> usize {
    messages.iter().filter(|message| message.received.is_some()).count()
}

/// The requests to clients before the faults were healed.
fn asked(record: &Record) -> impl Iterator<Item = &Event> {
    let events = record.history.events.iter();
    let before = events.take_while(|event| event.entered() != Some("heal"));
    before.filter(|event| {
        event.kind == EventType::Invoke && matches!(event.process, Process::Number(_)) && event.f != f::CONFIRM
    })
}

/// Where cases are played.
pub trait CasePlayer {
    /// How often a smaller plan is played in vain before it counts as one that does not fail, less one: what it leaves
    /// open comes out otherwise each time.
    const AGAIN: u64;

    /// The case as it is played the n-th time, counted from 0.
    fn nth(&self, case: &Case, number: u64) -> Case;

    /// Plays a case. `None` if it did not come to its end, which is printed.
    ///
    /// # Errors
    /// If no plan can be played.
    fn play(&mut self, case: &Case) -> Result<Option<PlayedCase>>;

    /// Removes what a run has left that is not to be kept.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn discard(&mut self, played: &PlayedCase) -> Result<()>;
}

/// A case that was played.
#[derive(Debug, Clone)]
pub struct PlayedCase {
    pub case: Case,
    /// What its run recorded.
    pub record: Record,
    /// The folder of the run, if it has one.
    pub run: Option<PathBuf>,
}

/// Shrinks a plan.
pub struct Shrinker<'a, S: CasePlayer> {
    wanted: WantedAnomaly,
    stage: S,
    /// When no other plan is tried.
    until: Instant,
    stop: &'a AtomicBool,
    /// The smallest plan that has failed.
    best: Option<PlayedCase>,
    /// How many runs were tried.
    pub tried: u64,
}

impl<'a, S: CasePlayer> Shrinker<'a, S> {
    /// One that keeps this anomaly.
    pub fn new(wanted: WantedAnomaly, stage: S, until: Instant, stop: &'a AtomicBool) -> Self {
        Self {
            wanted,
            stage,
            until,
            stop,
            best: None,
            tried: 0,
        }
    }

    /// Looks for a failure of this case, which is played once and so many times more; whether there is one.
    ///
    /// # Errors
    /// If it cannot be played.
    pub fn find(&mut self, case: &Case, again: u64) -> Result<bool> {
        for number in 0..=again {
            if self.over() {
                return Ok(false);
            }
            self.tried += 1;
            let Some(played) = self.stage.play(&self.stage.nth(case, number))? else {
                continue;
            };
            let results = zooquake_checkers::check(&played.record);
            if results.anomalies.iter().any(|anomaly| self.wanted.is(anomaly)) {
                if let Some(before) = self.best.replace(played) {
                    self.stage.discard(&before)?;
                }
                return Ok(true);
            }
            self.stage.discard(&played)?;
        }
        Ok(false)
    }

    /// Makes the plan that was found as small as it gets in time, and gives it with how many runs were tried. `None` if
    /// none was found.
    ///
    /// # Errors
    /// If a plan cannot be played.
    pub fn shrink(mut self) -> Result<(Option<PlayedCase>, u64)> {
        let mut before = None;
        while let Some(best) = &self.best {
            if self.over() || before.as_ref() == Some(best.case.plan()) {
                break;
            }
            before = Some(best.case.plan().clone());
            self.by_moments()?;
            self.windows()?;
            for smaller in reductions::REDUCTIONS {
                self.greedily(*smaller)?;
            }
        }
        Ok((self.best, self.tried))
    }

    fn over(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || Instant::now() >= self.until
    }

    fn by_moments(&mut self) -> Result<()> {
        let Some(PlayedCase { case, record, .. }) = &self.best else {
            return Ok(());
        };
        let results = zooquake_checkers::check(record);
        let anomaly = results.anomalies.iter().find(|anomaly| self.wanted.is(anomaly));
        let pinned = anomaly.map(|anomaly| pin(record, anomaly, "").plan);
        match pinned.and_then(|pinned| reductions::by_moments(case.plan(), &pinned)) {
            Some(candidate) => self.find(&case.replanned(candidate), S::AGAIN).map(drop),
            None => Ok(()),
        }
    }

    fn windows(&mut self) -> Result<()> {
        let Some(case) = self.best.as_ref().map(|best| best.case.clone()) else {
            return Ok(());
        };
        let plan = case.plan();
        reductions::minimize(&plan.windows, |windows| {
            let faults = plan.faults.iter();
            let faults = faults.filter(|kind| windows.iter().any(|window| window.fault == **kind));
            let fewer = Plan {
                faults: faults.cloned().collect(),
                windows: windows.to_vec(),
                ..plan.clone()
            };
            self.find(&case.replanned(fewer), S::AGAIN)
        })?;
        Ok(())
    }

    /// Takes the first smaller plan that still fails, until none does.
    fn greedily(&mut self, smaller: reductions::Reduction) -> Result<()> {
        loop {
            let Some(PlayedCase { case, record, .. }) = &self.best else {
                return Ok(());
            };
            let of = case.clone();
            let mut taken = false;
            for candidate in smaller(case, record) {
                if self.find(&of.replanned(candidate), S::AGAIN)? {
                    taken = true;
                    break;
                }
            }
            if !taken {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
