//! Estimates with intervals. The same numbers give the same intervals: what is drawn at random is drawn from a fixed
//! seed.

use serde::Serialize;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 1000;

/// From so many groups on, whole groups are resampled: what happens in one run is alike.
const GROUPS: usize = 5;

/// Most observations of all groups together that a resample draws, so that a page of many takes seconds.
const DRAWS: usize = 4000;

/// A value with the interval that holds the true one in 95 of 100 such experiments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Point estimate from all observations.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Observations that it rests on.
    pub n: usize,
    /// Whether the ends are such an interval; otherwise they are only the least and the greatest that was seen.
    pub sure: bool,
}

impl Estimate {
    /// Whether it comes from a single run, so that nothing is known of how it varies.
    pub fn one_run(&self) -> bool {
        !self.sure && self.n == 1
    }

    /// Whether the intervals have a value in common, so that no difference is seen.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Whether so many observations have the quantile `q`: at least one of them is expected beyond it, and there are five.
pub fn supports(n: usize, q: f64) -> bool {
    n >= 5 && n as f64 * (1.0 - q) >= 1.0 - 1e-9
}

/// The smallest value that the share `q` of the sorted values do not exceed.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * q - 1e-9).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Quantiles of all groups together, each `None` if there are too few observations for it, with percentile bootstrap
/// intervals (Efron 1979): of [`GROUPS`] groups or more whole groups are resampled, of fewer single observations.
pub fn quantiles(groups: &[Vec<f64>], wanted: &[f64]) -> Vec<Option<Estimate>> {
    let mut sorted: Vec<f64> = groups.concat();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut random = Random(0x5eed);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); wanted.len()];
    if wanted.iter().any(|q| supports(n, *q)) {
        for _ in 0..RESAMPLES {
            let mut resample = resample(groups, &sorted, &mut random);
            resample.sort_by(f64::total_cmp);
            for (values, q) in drawn.iter_mut().zip(wanted) {
                values.extend(quantile(&resample, *q));
            }
        }
    }
    let estimate = |(values, q): (&mut Vec<f64>, &f64)| {
        let value = quantile(&sorted, *q).filter(|_| supports(n, *q))?;
        let (low, high) = ends(values)?;
        Some(Estimate {
            value,
            low,
            high,
            n,
            sure: true,
        })
    };
    drawn.iter_mut().zip(wanted).map(estimate).collect()
}

fn resample(groups: &[Vec<f64>], all: &[f64], random: &mut Random) -> Vec<f64> {
    if groups.len() < GROUPS {
        return (0..all.len().min(DRAWS))
            .map(|_| all[random.below(all.len())])
            .collect();
    }
    let mut resample = Vec::new();
    for _ in groups {
        let group = &groups[random.below(groups.len())];
        if group.is_empty() {
            continue;
        }
        let share = (DRAWS / groups.len()).max(1);
        match group.len() <= share {
            true => resample.extend_from_slice(group),
            false => resample.extend((0..share).map(|_| group[random.below(group.len())])),
        }
    }
    resample
}

/// The ratio of two sums over runs, such as grants a second, with a percentile bootstrap interval over runs; of fewer
/// than [`GROUPS`] runs the interval is the range that single runs had.
pub fn ratio(runs: &[(f64, f64)]) -> Option<Estimate> {
    let of = |runs: &mut dyn Iterator<Item = (f64, f64)>| {
        let (above, below) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
        (below > 0.0).then_some(above / below)
    };
    let value = of(&mut runs.iter().copied())?;
    let n = runs.len();
    let mut random = Random(0x5eed);
    let (low, high) = if n < GROUPS {
        let single = || runs.iter().filter_map(|run| of(&mut std::iter::once(*run)));
        (single().reduce(f64::min)?, single().reduce(f64::max)?)
    } else {
        let draw = |_| of(&mut (0..n).map(|_| runs[random.below(n)]));
        let mut drawn: Vec<f64> = (0..RESAMPLES).filter_map(draw).collect();
        ends(&mut drawn)?
    };
    Some(Estimate {
        value,
        low,
        high,
        n,
        sure: n >= GROUPS,
    })
}

/// The middle 95 of 100 values.
fn ends(values: &mut [f64]) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    Some((quantile(values, 0.025)?, quantile(values, 0.975)?))
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984): 1 if all have the same share, 1/n if one has everything; `None` if
/// nobody has anything.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % n.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_has_its_known_values() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[9.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn a_quantile_needs_an_observation_beyond_it() {
        assert!(supports(100, 0.99) && !supports(99, 0.99));
        assert!(supports(20, 0.95) && !supports(19, 0.95));
        assert!(supports(5, 0.5) && !supports(4, 0.5));
        let to = |n: usize| vec![(1..=n).map(|x| x as f64).collect::<Vec<f64>>()];
        let found = quantiles(&to(99), &[0.5, 0.95, 0.99]);
        assert_eq!(found[0].map(|e| e.value), Some(50.0));
        assert_eq!(found[1].map(|e| e.value), Some(95.0));
        assert_eq!(found[2], None);
        assert_eq!(quantiles(&to(100), &[0.99])[0].map(|e| e.value), Some(99.0));
        assert_eq!(quantiles(&[], &[0.5]), [None]);
    }

    /// Of 1 to 100 the median's interval by order statistics is from the 40th to the 61st (binomial, 95 of 100).
    #[test]
    fn the_median_has_the_interval_of_the_textbook() {
        let groups = [(1..=100).map(f64::from).collect::<Vec<f64>>()];
        let found = quantiles(&groups, &[0.5])[0].expect("a median");
        assert!((38.0..=43.0).contains(&found.low), "{found:?}");
        assert!((58.0..=63.0).contains(&found.high), "{found:?}");
        assert_eq!(Some(found), quantiles(&groups, &[0.5])[0], "the same again");
    }

    #[test]
    fn whole_runs_are_resampled_where_there_are_enough() {
        // Within each run all is alike: single observations would give far too narrow an interval.
        let groups: Vec<Vec<f64>> = (1..=5).map(|run| vec![f64::from(run); 200]).collect();
        let found = quantiles(&groups, &[0.5])[0].expect("a median");
        assert!(found.low <= 2.0 && found.high >= 4.0, "{found:?}");
    }

    #[test]
    fn a_ratio_is_that_of_the_sums() {
        let few = ratio(&[(10.0, 10.0), (30.0, 10.0)]).expect("a ratio");
        assert!(!few.sure, "two runs give a range, no interval");
        assert_eq!((few.value, few.low, few.high, few.n), (2.0, 1.0, 3.0, 2));
        let many = ratio(&[(10.0, 10.0); 6]).expect("a ratio");
        assert_eq!((many.value, many.low, many.high), (1.0, 1.0, 1.0));
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&[(1.0, 0.0)]), None);
    }
}
