//! Shrinking: the smallest plan that still fails the same way on a simulated ensemble.
//!
//! Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) over the windows of faults;
//! then clients, operations and times are taken away greedily, again and again until nothing more can be. A plan fails the
//! same way if its run shows the same anomaly of the same property.

mod delta;
mod smaller;

use crate::run::simulated;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use zooquake_checkers::plan::{On, Plan};
use zooquake_checkers::text::count;
use zooquake_checkers::{Anomaly, Event, EventType, Process, Record};

/// A smaller plan is tried with so many seeds: its own one draws other moments for what is left.
const SEEDS: u64 = 3;

/// The anomaly that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The property that does not hold.
    pub property: String,
    /// The anomaly, such as `stale-write`.
    pub anomaly: String,
}

impl Wanted {
    /// The wish to keep this anomaly.
    pub fn of(anomaly: &Anomaly) -> Self {
        Self {
            property: anomaly.property.clone(),
            anomaly: anomaly.kind.clone(),
        }
    }

    fn is(&self, anomaly: &Anomaly) -> bool {
        !anomaly.advisory && (&self.property, &self.anomaly) == (&anomaly.property, &anomaly.kind)
    }
}

/// How large a plan is, as its run shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Clients.
    pub clients: usize,
    /// Windows of faults.
    pub windows: usize,
    /// Operations that clients were asked for before the faults were healed.
    pub operations: usize,
}

impl Size {
    /// The size of a run.
    pub fn of(record: &Record) -> Self {
        Self {
            clients: record.plan.cluster.clients,
            windows: record.plan.windows.len(),
            operations: asked(record).count(),
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
        f.write_str(&sizes.join(", "))
    }
}

/// The requests to clients before the faults were healed.
fn asked(record: &Record) -> impl Iterator<Item = &Event> {
    let events = record.history.events.iter();
    let before = events.take_while(|event| event.entered() != Some("heal"));
    before.filter(|event| {
        event.kind == EventType::Invoke && matches!(event.process, Process::Number(_)) && event.f != "confirm"
    })
}

/// Shrinks a plan.
pub struct Shrinker<'a> {
    wanted: Wanted,
    /// When no other plan is tried.
    until: Instant,
    stop: &'a AtomicBool,
    /// The smallest plan that has failed, and what its run recorded.
    best: Option<(Plan, Record)>,
    /// How many runs were tried.
    pub tried: u64,
}

impl<'a> Shrinker<'a> {
    /// One that keeps this anomaly.
    pub fn new(wanted: Wanted, until: Instant, stop: &'a AtomicBool) -> Self {
        Self {
            wanted,
            until,
            stop,
            best: None,
            tried: 0,
        }
    }

    /// Looks for a failure of this plan on a simulated ensemble, with its own seed first and then with so many others; whether
    /// there is one.
    ///
    /// # Errors
    /// If a run cannot be simulated.
    pub fn find(&mut self, plan: &Plan, seeds: u64) -> Result<bool> {
        for number in 0..=seeds {
            if self.over() {
                return Ok(false);
            }
            let plan = Plan {
                on: On::Sim,
                seed: plan.seed.wrapping_add(number),
                ..plan.clone()
            };
            self.tried += 1;
            let record = simulated::record(&plan)?;
            if zooquake_checkers::check(&record)
                .anomalies
                .iter()
                .any(|anomaly| self.wanted.is(anomaly))
            {
                self.best = Some((plan, record));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the plan that was found as small as it gets in time; with what its run recorded. `None` if none was found.
    ///
    /// # Errors
    /// If a run cannot be simulated.
    pub fn shrink(mut self) -> Result<(Option<(Plan, Record)>, u64)> {
        let mut before = None;
        while let Some((plan, _)) = self.best.clone() {
            if self.over() || before.as_ref() == Some(&plan) {
                break;
            }
            before = Some(plan);
            self.windows()?;
            for smaller in smaller::STEPS {
                self.greedily(*smaller)?;
            }
        }
        Ok((self.best, self.tried))
    }

    fn over(&self) -> bool {
        self.stop.load(Ordering::SeqCst) || Instant::now() >= self.until
    }

    fn windows(&mut self) -> Result<()> {
        let Some((plan, _)) = self.best.clone() else {
            return Ok(());
        };
        delta::minimize(&plan.windows, |windows| {
            let faults = plan.faults.iter();
            let faults = faults.filter(|kind| windows.iter().any(|window| window.fault == **kind));
            let fewer = Plan {
                faults: faults.cloned().collect(),
                windows: windows.to_vec(),
                ..plan.clone()
            };
            self.find(&fewer, SEEDS)
        })?;
        Ok(())
    }

    /// Takes the first smaller plan that still fails, until none does.
    fn greedily(&mut self, smaller: smaller::Step) -> Result<()> {
        loop {
            let Some((plan, record)) = &self.best else {
                return Ok(());
            };
            let mut taken = false;
            for candidate in smaller(plan, record) {
                if self.find(&candidate, SEEDS)? {
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
