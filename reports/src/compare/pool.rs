//! The runs of a subject put together.

use super::statistics::{self, Estimate};
use super::{Comparison, SubjectRun};
use crate::night::AnomalyCount;
use serde::Serialize;
use zooquake_checkers::sample::{Gap, Sample};

/// The quantiles of waits.
pub const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// A comparison with all its estimates.
pub struct MeasuredComparison<'a> {
    /// What was run.
    pub comparison: &'a Comparison,
    /// Each subject under all faults together.
    pub all: Vec<Pool>,
    /// Each subject under each kind of faults.
    pub each: Vec<Vec<Pool>>,
}

/// The runs of a subject together, under some faults or under all.
#[derive(Debug, Default, Serialize)]
pub struct Pool {
    /// Runs with a verdict.
    pub judged: usize,
    /// Runs whose verdict is unknown.
    pub unknown: usize,
    /// Runs in which the harness failed.
    pub failed: usize,
    /// What was found.
    pub anomalies: Vec<AnomalyEstimate>,
    /// Units a second.
    pub rate: Option<Estimate>,
    /// Of the waits, in milliseconds, [`QUANTILES`].
    pub waits: [Option<Estimate>; 3],
    /// How many waits there were.
    pub waited: usize,
    /// Jain's index of the clients' units, the mean over runs.
    pub fairness: Option<Estimate>,
    /// Requests for each unit.
    pub requests: Option<Estimate>,
    /// Watch events for each unit.
    pub watch_events: Option<Estimate>,
    /// Transactions for each unit.
    pub transactions: Option<Estimate>,
    /// Times from a fault to the next unit.
    pub after: FaultAftermath,
}

/// Anomalies of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnomalyEstimate {
    /// Its name.
    pub kind: String,
    /// Whether it is an observation only.
    pub advisory: bool,
    /// Whether the variant declares it.
    pub accepted: bool,
    /// How many there were.
    pub count: usize,
    /// In how many runs.
    pub runs: usize,
}

/// What came after faults, in session timeouts and milliseconds.
#[derive(Debug, Default, Serialize)]
pub struct FaultAftermath {
    /// Milliseconds after each fault that was followed by a unit, ascending.
    pub ms: Vec<f64>,
    /// The same in session timeouts.
    pub timeouts: Vec<f64>,
    /// Session timeouts after those that struck a holder whose term ended, ascending.
    pub struck: Vec<f64>,
    /// Faults after which nothing was done any more.
    pub never: usize,
    /// The median, in milliseconds.
    pub median: Option<Estimate>,
    /// The median after those that struck a holder, in milliseconds.
    pub median_struck: Option<Estimate>,
}

impl<'a> MeasuredComparison<'a> {
    /// Puts all runs together.
    pub fn new(comparison: &'a Comparison) -> Self {
        let subjects = 0..comparison.subjects.len();
        let all = subjects
            .clone()
            .map(|subject| Pool::new(comparison.runs_of(subject, None)));
        let each = |subject: usize| -> Vec<Pool> {
            let faults = 0..comparison.faults.len();
            faults
                .map(|fault| Pool::new(comparison.runs_of(subject, Some(fault))))
                .collect()
        };
        Self {
            comparison,
            all: all.collect(),
            each: subjects.map(each).collect(),
        }
    }
}

impl Pool {
    fn new<'r>(runs: impl Iterator<Item = &'r SubjectRun>) -> Self {
        let runs: Vec<&SubjectRun> = runs.collect();
        let samples: Vec<&Sample> = runs.iter().filter_map(|run| run.sample.as_ref()).collect();
        let waits: Vec<Vec<f64>> = samples.iter().map(|sample| sample.waits_ms.clone()).collect();
        let quantiles = statistics::quantiles(&waits, &QUANTILES);
        let rates: Vec<(f64, f64)> = samples.iter().map(|s| (s.units as f64, s.seconds)).collect();
        let cost = |of: fn(&Sample) -> Option<u64>| {
            let told = samples
                .iter()
                .filter_map(|s| Some((of(s)? as f64, s.units_in_all as f64)));
            statistics::ratio(&told.collect::<Vec<_>>())
        };
        Self {
            judged: runs.iter().filter(|run| run.verdict.is_some()).count(),
            unknown: runs
                .iter()
                .filter(|run| run.verdict.as_deref() == Some("unknown"))
                .count(),
            failed: runs.iter().filter(|run| run.verdict.is_none()).count(),
            anomalies: found(&runs),
            rate: statistics::ratio(&rates),
            waits: std::array::from_fn(|n| quantiles.get(n).copied().flatten()),
            waited: waits.iter().map(Vec::len).sum(),
            fairness: fairness(&samples),
            requests: cost(|s| s.requests),
            watch_events: cost(|s| s.watch_events),
            transactions: cost(|s| s.transactions),
            after: FaultAftermath::new(&samples),
        }
    }

    /// What was found and is no mere observation.
    pub fn damage(&self) -> impl Iterator<Item = &AnomalyEstimate> {
        self.anomalies.iter().filter(|found| !found.advisory)
    }
}

fn found(runs: &[&SubjectRun]) -> Vec<AnomalyEstimate> {
    let mut all: Vec<AnomalyEstimate> = Vec::new();
    for run in runs {
        for (at, seen) in run.anomalies.iter().enumerate() {
            let alike = |other: &AnomalyCount| (&other.kind, other.advisory) == (&seen.kind, seen.advisory);
            let same = |found: &&mut AnomalyEstimate| (&found.kind, found.advisory) == (&seen.kind, seen.advisory);
            // Those of a kind that are accepted and those that are not stand apart.
            let another_run = !run.anomalies[..at].iter().any(alike);
            match all.iter_mut().find(same) {
                Some(found) => {
                    found.count += seen.count;
                    found.runs += usize::from(another_run);
                    found.accepted &= seen.accepted;
                }
                None => all.push(AnomalyEstimate {
                    kind: seen.kind.clone(),
                    advisory: seen.advisory,
                    accepted: seen.accepted,
                    count: seen.count,
                    runs: 1,
                }),
            }
        }
    }
    all.sort_by(|a, b| (a.advisory, &a.kind).cmp(&(b.advisory, &b.kind)));
    all
}

fn fairness(samples: &[&Sample]) -> Option<Estimate> {
    let index = |sample: &&Sample| {
        let shares: Vec<f64> = sample.by_client.values().map(|units| *units as f64).collect();
        statistics::jain(&shares).map(|index| (index, 1.0))
    };
    let all: Vec<(f64, f64)> = samples.iter().filter_map(index).collect();
    statistics::ratio(&all)
}

impl FaultAftermath {
    fn new(samples: &[&Sample]) -> Self {
        let ms = |only: fn(&Gap) -> bool| -> Vec<Vec<f64>> {
            let of = |sample: &&Sample| {
                let gaps = sample.gaps.iter().filter(|gap| only(gap));
                gaps.filter_map(|gap| gap.ms).collect()
            };
            samples.iter().map(of).collect()
        };
        let (all, struck) = (ms(|_| true), ms(|gap| gap.struck));
        let gaps = || samples.iter().flat_map(|sample| &sample.gaps);
        let of_struck = gaps().filter(|gap| gap.struck);
        let median = |groups: &[Vec<f64>]| statistics::quantiles(groups, &[0.5]).pop().flatten();
        Self {
            median: median(&all),
            median_struck: median(&struck),
            ms: sorted(all.concat()),
            timeouts: sorted(gaps().filter_map(|gap| gap.session_timeouts).collect()),
            struck: sorted(of_struck.filter_map(|gap| gap.session_timeouts).collect()),
            never: gaps().filter(|gap| gap.ms.is_none()).count(),
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}
