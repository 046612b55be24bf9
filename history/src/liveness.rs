//! The bound of liveness: how long after recovery an operation may stay unfinished before that convicts the recipe. The
//! engine gives the last operations that long, and the checkers convict by it.

use std::time::Duration;

/// Lower limit of every [`bound`].
pub const LEAST_BOUND: Duration = Duration::from_secs(10);

/// The bound in medians.
const MEDIANS: u32 = 10;

/// The bound of operations whose answered ones took these durations: ten times their median, at least [`LEAST_BOUND`].
/// Sorts them; of an even number the upper one of the two in the middle is the median.
pub fn bound(durations: &mut [Duration]) -> Duration {
    durations.sort_unstable();
    let median = durations.get(durations.len() / 2).copied().unwrap_or_default();
    median.saturating_mul(MEDIANS).max(LEAST_BOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound_ms(durations: &[u64]) -> u128 {
        let mut durations: Vec<Duration> = durations.iter().map(|ms| Duration::from_millis(*ms)).collect();
        bound(&mut durations).as_millis()
    }

    #[test]
    fn the_bound_is_ten_medians_and_at_least_ten_seconds() {
        assert_eq!(bound_ms(&[]), 10_000);
        assert_eq!(bound_ms(&[900, 20, 8_000]), 10_000);
        assert_eq!(bound_ms(&[9_000, 20, 2_000]), 20_000);
        assert_eq!(bound_ms(&[3_000, 1_000]), 30_000);
    }
}
