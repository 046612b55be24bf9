//! The engine of campaigns: place after place, or several at once, until each has what it needs, the time is spent, or
//! somebody stops it.

use super::ledger::{AttemptRecord, CampaignHeader, CampaignLedger};
use crate::run::slot::{Slot, SlotObserver};
use crate::run::stage::{self, Stage};
use anyhow::{Context, Result};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// What bounds the drive of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct DriveLimits {
    /// For how long attempts are begun.
    pub budget: TimeBudget,
    /// How many attempts go on at once, at least 1.
    pub jobs: usize,
}

impl DriveLimits {
    /// One attempt after the other, however long that takes.
    pub fn one_by_one() -> Self {
        Self {
            budget: TimeBudget::new(None),
            jobs: 1,
        }
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

    /// Does a job in this slot; `None` if it was stopped before it proved anything. When the slot is given back, the
    /// next job may begin.
    ///
    /// # Errors
    /// If the campaign cannot go on; an attempt at which the harness failed is no error.
    fn attempt(&self, job: Self::Job, slot: Slot) -> impl Future<Output = Result<Option<Self::Attempt>>>;

    /// Sets the places whose slots were held at some time while the attempt held its own.
    fn set_beside(attempt: &mut Self::Attempt, places: Vec<Self::Place>);

    /// What came of an attempt, in words.
    fn outcome(attempt: &Self::Attempt) -> String;

    /// Whether the harness failed at it.
    fn failed(attempt: &Self::Attempt) -> bool;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// Attempts the places in their order, as many at once as the limits allow. What goes on when the campaign ends early
/// comes to its own end first, and is recorded.
///
/// # Errors
/// If the record cannot be written, or [`Campaign::attempt`] returns an error.
pub async fn drive<C: Campaign>(
    campaign: &C,
    places: &[C::Place],
    ledger: &mut CampaignLedger<C::Header, C::Attempt>,
    limits: DriveLimits,
) -> Result<CampaignEnd> {
    let slots = Arc::new(Semaphore::new(limits.jobs));
    // Runs of which several go on at once are silent, and have no stages of their own.
    let _stage = (limits.jobs > 1).then(|| Stage::begin(stage::SEVERAL));
    let mut drive = Drive {
        campaign,
        places,
        limits,
        jobs: BTreeMap::new(),
        without_time: BTreeSet::new(),
        failures: 0,
        end: None,
    };
    let mut attempts = FuturesUnordered::new();
    let mut broken = None;
    loop {
        // As many attempts as hold slots may be cleared away and judged beside them.
        let room = attempts.len() < 2 * limits.jobs;
        let next = if room { drive.next(ledger) } else { None };
        if next.is_none() && attempts.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            Some((number, attempt)) = attempts.next() => {
                if let Err(error) = drive.record(number, attempt, ledger) {
                    drive.end = Some(CampaignEnd::GivenUp);
                    broken.get_or_insert(error);
                }
            }
            Ok(permit) = Arc::clone(&slots).acquire_owned(), if next.is_some() => {
                if let Some((number, job)) = next && !campaign.stopped() {
                    let slot = drive.begin(number, &job, permit, ledger);
                    attempts.push(campaign.attempt(job, slot).map(move |attempt| (number, attempt)));
                }
            }
        }
    }
    match broken {
        Some(error) => Err(error),
        None => Ok(drive.end.unwrap_or(CampaignEnd::Through)),
    }
}

/// A campaign that is driven; places go by their numbers from 0.
struct Drive<'a, C: Campaign> {
    campaign: &'a C,
    places: &'a [C::Place],
    limits: DriveLimits,
    /// The jobs that were begun and are not recorded.
    jobs: BTreeMap<usize, BegunJob>,
    /// Places at which nothing more is begun, because it would take too long.
    without_time: BTreeSet<usize>,
    /// How often the harness has failed since it last did not.
    failures: usize,
    /// Why nothing more is begun; `None` while something may be.
    end: Option<CampaignEnd>,
}

/// A job that was begun.
struct BegunJob {
    /// Its line in the progress.
    line: String,
    slot: SlotObserver,
    /// The places whose slots were held while it held its own.
    beside: BTreeSet<usize>,
}

impl<C: Campaign> Drive<'_, C> {
    /// The first job that may be begun; `None` if there is none, for now or at all.
    fn next(&mut self, ledger: &CampaignLedger<C::Header, C::Attempt>) -> Option<(usize, C::Job)> {
        for (number, place) in self.places.iter().enumerate() {
            if self.end.is_some() {
                return None;
            }
            if self.jobs.contains_key(&number) || self.without_time.contains(&number) {
                continue;
            }
            let Some(job) = self.campaign.next(place, ledger) else {
                continue;
            };
            let expected = self.campaign.expected(&job, ledger);
            if self.campaign.stopped() {
                self.end = Some(CampaignEnd::Interrupted);
            } else if self.limits.budget.fits(expected) {
                return Some((number, job));
            } else {
                eprintln!("no time for {job}: it takes about {} s", expected.as_secs());
                self.without_time.insert(number);
            }
        }
        None
    }

    /// Begins a job: prints it, and returns its slot.
    fn begin(
        &mut self,
        number: usize,
        job: &C::Job,
        permit: OwnedSemaphorePermit,
        ledger: &CampaignLedger<C::Header, C::Attempt>,
    ) -> Slot {
        let left = self.places.iter().enumerate().filter(|(number, place)| {
            !self.without_time.contains(number) && self.campaign.next(place, ledger).is_some()
        });
        let left = u32::try_from(left.count().div_ceil(self.limits.jobs)).unwrap_or(u32::MAX);
        let left = minutes(self.campaign.expected(job, ledger).saturating_mul(left));
        let line = format!("[{}/{}] {job}", number + 1, self.places.len());
        progress!("{line}; about {left} left");
        let mut beside = BTreeSet::new();
        for (other, begun) in self.jobs.iter_mut().filter(|(_, begun)| begun.slot.is_held()) {
            begun.beside.insert(number);
            beside.insert(*other);
        }
        let (slot, observer) = Slot::observed(permit);
        let begun = BegunJob {
            line,
            slot: observer,
            beside,
        };
        self.jobs.insert(number, begun);
        slot
    }

    /// Records an attempt that is over; `None` is one that was stopped, an error ends the campaign.
    fn record(
        &mut self,
        number: usize,
        attempt: Result<Option<C::Attempt>>,
        ledger: &mut CampaignLedger<C::Header, C::Attempt>,
    ) -> Result<()> {
        let begun = self.jobs.remove(&number).context("a job that was not begun is over")?;
        let Some(mut attempt) = attempt? else {
            self.end = Some(CampaignEnd::Interrupted);
            return Ok(());
        };
        let beside = begun.beside.into_iter().map(|other| self.places[other].clone());
        C::set_beside(&mut attempt, beside.collect());
        progress!("{}: {}", begun.line, C::outcome(&attempt));
        self.failures = if C::failed(&attempt) { self.failures + 1 } else { 0 };
        ledger.record(attempt)?;
        if self.failures == FAILURES && self.end.is_none() {
            let campaign = C::Header::WHAT;
            eprintln!("the harness failed {FAILURES} times one after another: the {campaign} ends here");
            self.end = Some(CampaignEnd::GivenUp);
        }
        Ok(())
    }
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
