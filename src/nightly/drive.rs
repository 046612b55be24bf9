//! What a night attempts: cells, each until it has what it needs.

use super::campaign::Campaign;
use super::cell::{self, Cell, CellAttempt, CellStep};
use super::folder::NightLedger;
use super::header::NightHeader;
use super::previous_nights::NightRecord;
use crate::campaign::engine;
use crate::campaign::ensembles::{self, Runner};
use crate::run::slot::Slot;
use anyhow::{Error, Result};
use std::fmt;
use std::time::Duration;

/// A night that is going on.
#[derive(Debug)]
pub struct Night<'a, R> {
    /// What it runs.
    pub campaign: &'a Campaign,
    /// Earlier nights, from which the length of a run is estimated.
    pub earlier: &'a [NightRecord],
    /// What carries the runs out.
    pub runner: R,
}

/// A run of a cell with a seed.
#[derive(Debug)]
pub struct CellJob {
    cell: Cell,
    seed: u64,
}

impl fmt::Display for CellJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = match self.seed == self.cell.seed {
            true => "",
            false => ", once more with the next seed",
        };
        write!(f, "{}{again}", self.cell)
    }
}

impl<R: Runner> engine::Campaign for Night<'_, R> {
    type Header = NightHeader;
    type Attempt = CellAttempt;
    type Place = Cell;
    type Job = CellJob;

    fn next(&self, cell: &Cell, ledger: &NightLedger) -> Option<CellJob> {
        needed(self.campaign, cell, ledger).map(|seed| CellJob {
            cell: cell.clone(),
            seed,
        })
    }

    fn expected(&self, job: &CellJob, ledger: &NightLedger) -> Duration {
        let guess = self.campaign.backend().first_guess(self.campaign.time());
        let past = self.earlier.iter().flat_map(|past| &past.attempts);
        expected(&job.cell, guess, past.chain(&ledger.recorded.attempts))
    }

    async fn attempt(&self, job: CellJob, slot: Slot) -> Result<Option<CellAttempt>> {
        let case = self.campaign.spec(&job.cell, job.seed).case().map_err(Error::msg)?;
        ensembles::attempt(&self.runner, job.cell, (&case, slot)).await
    }

    fn set_beside(attempt: &mut CellAttempt, cells: Vec<Cell>) {
        attempt.beside = cells;
    }

    fn outcome(attempt: &CellAttempt) -> String {
        attempt.outcome().words().to_string()
    }

    fn failed(attempt: &CellAttempt) -> bool {
        attempt.verdict.is_none()
    }

    fn stopped(&self) -> bool {
        self.runner.stopped()
    }
}

/// The seed that a cell is to be run with next; `None` if it has what it needs.
pub fn needed(campaign: &Campaign, cell: &Cell, ledger: &NightLedger) -> Option<u64> {
    let here = |attempt: &&CellAttempt| attempt.place == *cell;
    let attempts: Vec<&CellAttempt> = ledger.recorded.attempts.iter().filter(here).collect();
    let failed = |attempt: &&CellAttempt| here(attempt) && attempt.verdict.is_none();
    let failures = ledger.since_opened().iter().filter(failed).count();
    match cell::next(cell, &attempts, failures, |seed| {
        campaign.next_seed(seed, ledger.recorded.header.date())
    }) {
        CellStep::Run(seed) => Some(seed),
        CellStep::Done(_) => None,
    }
}

/// How long a run of the cell is expected to take: as long as the longest of its variant and faults so far, else as the
/// longest of its variant, else as the longest of all, else `guess`.
fn expected<'a>(cell: &Cell, guess: Duration, attempts: impl Iterator<Item = &'a CellAttempt> + Clone) -> Duration {
    let longest = |alike: &dyn Fn(&Cell) -> bool| {
        attempts
            .clone()
            .filter(|attempt| attempt.verdict.is_some() && alike(&attempt.place))
            .map(|attempt| attempt.seconds)
            .max_by(f64::total_cmp)
    };
    longest(&|other| other.same_place(&cell.variant, &cell.faults))
        .or_else(|| longest(&|other| other.variant == cell.variant))
        .or_else(|| longest(&|_| true))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .unwrap_or(guess)
}

#[cfg(test)]
mod tests;
