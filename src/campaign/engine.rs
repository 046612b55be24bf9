//! The engine of campaigns: place after place, until each has what it needs, the time is spent, or somebody stops it.

use super::ledger::{AttemptRecord, CampaignHeader, CampaignLedger};
use anyhow::Result;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// A campaign ends after so many failures of the harness one after another: the next attempt would fail as well.
pub const FAILURES: usize = 3;

/// Why a campaign is not going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignEnd {
    /// Everything for which there was time was attempted.
    Through,
    /// The user stopped it.
    Interrupted,
    /// The harness failed too often.
    GivenUp,
}

/// A limit of time, counted from the start of the program.
#[derive(Debug, Clone, Copy)]
pub struct TimeBudget {
    /// How long; `None` for no limit.
    pub limit: Option<Duration>,
    /// Since when.
    pub begun: Instant,
}

impl TimeBudget {
    /// A budget that begins now.
    pub fn new(limit: Option<Duration>) -> Self {
        Self {
            limit,
            begun: Instant::now(),
        }
    }

    /// Whether an attempt of this expected length ends in time.
    pub fn fits(&self, expected: Duration) -> bool {
        self.limit
            .is_none_or(|limit| self.begun.elapsed().saturating_add(expected) <= limit)
    }
}

/// One sort of campaign.
pub trait Campaign {
    /// What its record begins with.
    type Header: CampaignHeader;
    /// What its record has of each attempt.
    type Attempt: AttemptRecord;
    /// What is attempted, until it has what it needs.
    type Place: Clone;
    /// What a place needs next.
    type Job: Display;

    /// What a place needs next, by the record; `None` if nothing, or nothing more before the campaign is taken up
    /// again.
    fn next(&self, place: &Self::Place, ledger: &CampaignLedger<Self::Header, Self::Attempt>) -> Option<Self::Job>;

    /// How long a job is expected to take.
    fn expected(&self, job: &Self::Job, ledger: &CampaignLedger<Self::Header, Self::Attempt>) -> Duration;

    /// Does a job; `None` if it was stopped before it proved anything.
    ///
    /// # Errors
    /// If the campaign cannot go on; an attempt at which the harness failed is no error.
    fn attempt(&mut self, job: Self::Job) -> impl Future<Output = Result<Option<Self::Attempt>>>;

    /// What came of an attempt, in words.
    fn outcome(attempt: &Self::Attempt) -> String;

    /// Whether the harness failed at it.
    fn failed(attempt: &Self::Attempt) -> bool;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// Attempts the places in their order.
///
/// # Errors
/// If the record cannot be written, or [`Campaign::attempt`] returns an error.
pub async fn drive<C: Campaign>(
    campaign: &mut C,
    places: &[C::Place],
    ledger: &mut CampaignLedger<C::Header, C::Attempt>,
    budget: TimeBudget,
) -> Result<CampaignEnd> {
    let mut failures = 0;
    for (number, place) in places.iter().enumerate() {
        while let Some(job) = campaign.next(place, ledger) {
            if campaign.stopped() {
                return Ok(CampaignEnd::Interrupted);
            }
            let expected = campaign.expected(&job, ledger);
            if !budget.fits(expected) {
                eprintln!("no time for {job}: it takes about {} s", expected.as_secs());
                break;
            }
            let left = places[number..]
                .iter()
                .filter(|place| campaign.next(place, ledger).is_some());
            let left = minutes(expected.saturating_mul(u32::try_from(left.count()).unwrap_or(u32::MAX)));
            let what = format!("[{}/{}] {job}", number + 1, places.len());
            progress!("{what}; about {left} left");
            let Some(attempt) = campaign.attempt(job).await? else {
                return Ok(CampaignEnd::Interrupted);
            };
            progress!("{what}: {}", C::outcome(&attempt));
            failures = if C::failed(&attempt) { failures + 1 } else { 0 };
            ledger.record(attempt)?;
            if failures == FAILURES {
                let campaign = C::Header::WHAT;
                eprintln!("the harness failed {FAILURES} times one after another: the {campaign} ends here");
                return Ok(CampaignEnd::GivenUp);
            }
        }
    }
    Ok(CampaignEnd::Through)
}

/// `12 min`, `40 s`.
fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_everything_fits() {
        let fits = |limit: Option<u64>| TimeBudget::new(limit.map(Duration::from_secs)).fits(Duration::from_secs(100));
        assert!(fits(None) && fits(Some(200)) && !fits(Some(99)));
    }

    #[test]
    fn what_is_left_is_told_in_round_numbers() {
        let told = |seconds| minutes(Duration::from_secs(seconds));
        assert_eq!(
            [told(40), told(99), told(100), told(7_200)],
            ["40 s", "99 s", "2 min", "120 min"]
        );
    }
}
