//! Many nights on one page: each failure with its first and last sighting, its rate, and the versions that showed it.

mod page;

use crate::night::CellOutcome;
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::Path;

/// Nights that are looked at together, the oldest first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Nights {
    /// The name of the folder that has them; empty if they were named one by one.
    pub name: String,
    /// They, the oldest first.
    pub nights: Vec<NightLine>,
    /// What failed in any of them: what was seen last comes first.
    pub failures: Vec<RecurringFailure>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct NightLine {
    /// The name of its folder.
    pub name: String,
    /// The name of its campaign.
    pub campaign: String,
    /// The date that its seeds are drawn from.
    pub date: String,
    /// When it began.
    pub begun: String,
    /// The part of the matrix that it ran, such as `1/4`; `None` of a whole.
    pub shard: Option<String>,
    /// The version and the commit of zooquake.
    pub zooquake: String,
    /// The ZooKeeper that was asked for, in words.
    pub zookeeper: String,
    /// The commit whose job in a CI system it was, where that is on record.
    pub checkout: Option<String>,
    /// How many of its cells came to what, without those that came to nothing.
    pub outcomes: Vec<(CellOutcome, usize)>,
    /// Seconds that its runs took, one after the other.
    pub seconds: f64,
    /// Whether everything that could be run was.
    pub closed: bool,
    /// Its own page, from where this one lies; `None` if that is not there.
    pub page: Option<String>,
}

/// Failures with the same signature in any of the nights.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecurringFailure {
    /// The property that broke.
    pub property: String,
    /// Kind of the anomaly, such as `stale-write`.
    pub anomaly: String,
    /// Name of the variant, such as `lock/fenced`.
    pub variant: String,
    /// Kinds of fault separated by commas, or `none`.
    pub faults: String,
    /// Why the last one is one, in words.
    pub why: String,
    /// What the last one comes from, in words; empty if that is not known.
    pub cause: String,
    /// Whether the evidence decides that cause.
    pub cause_proven: bool,
    /// The command line that runs the last one's plan again.
    pub again: String,
    /// What each night of [`Nights::nights`] saw of it; `None` if it judged no run of the variant under the faults.
    pub nights: Vec<Option<FailureSighting>>,
}

/// What one night saw of a failure.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FailureSighting {
    /// Runs of the variant under the faults that came to a verdict.
    pub judged: usize,
    /// Those of them that showed it.
    pub shown: usize,
    /// Seconds that these took together.
    pub seconds: f64,
    /// The seeds of these.
    pub seeds: Vec<u64>,
    /// The report of the first of these, from where the page lies; `None` if that is not there.
    pub report: Option<String>,
}

impl RecurringFailure {
    /// The nights that saw it, each with its index, the oldest first.
    pub fn sightings(&self) -> impl DoubleEndedIterator<Item = (usize, &FailureSighting)> {
        let nights = self.nights.iter().enumerate();
        let looked = nights.filter_map(|(at, night)| Some((at, night.as_ref()?)));
        looked.filter(|(_, night)| night.shown > 0)
    }

    /// The index of the last night that saw it, for the order of failures.
    pub fn last(&self) -> Option<usize> {
        self.sightings().next_back().map(|(at, _)| at)
    }

    /// `3 of 12 runs, in 2 of 4 nights that looked`.
    pub fn rate(&self) -> String {
        let looked = || self.nights.iter().flatten();
        let (shown, judged) = looked().fold((0, 0), |(shown, judged), night| {
            (shown + night.shown, judged + night.judged)
        });
        let nights = self.sightings().count();
        format!(
            "{shown} of {judged} runs, in {nights} of {} nights that looked",
            looked().count()
        )
    }
}

/// Writes the page to a path.
///
/// # Errors
/// If it cannot be written.
pub fn write(nights: &Nights, path: &Path) -> Result<()> {
    crate::publish(path, page::page(nights)).with_context(|| format!("cannot write {}", path.display()))
}
