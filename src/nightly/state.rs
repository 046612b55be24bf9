//! What a cell still needs, and what came of it.

use super::attempt::Attempt;
use super::cell::Cell;
use zooquake_reports::night::Outcome;

/// What is to be done with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Run it with this seed.
    Run(u64),
    /// Nothing: this came of it.
    Done(Outcome),
}

/// How often the harness may fail at a cell before it is given up, until the night is taken up again.
const FAILURES: usize = 2;

/// What a cell needs after these attempts at it, of which the harness failed at so many since the night was last taken up.
///
/// A run that is unknown is made once more with the next seed, and only the second one counts. A run that the harness
/// failed at is no verdict: it is made again, also each time that the night is taken up, since what was broken may have
/// been mended.
pub fn next(cell: &Cell, attempts: &[&Attempt], failures: usize, next_seed: impl Fn(u64) -> u64) -> Next {
    let outcomes = attempts.iter().map(|attempt| attempt.outcome());
    let judged: Vec<Outcome> = outcomes.filter(|outcome| *outcome != Outcome::Failed).collect();
    let given_up = failures >= FAILURES;
    match judged.as_slice() {
        [] if given_up => Next::Done(Outcome::Failed),
        [] => Next::Run(cell.seed),
        [Outcome::Unknown] if !given_up => Next::Run(next_seed(cell.seed)),
        _ => Next::Done(outcome(attempts)),
    }
}

/// What came of a cell, as far as it was run.
pub fn outcome(attempts: &[&Attempt]) -> Outcome {
    let outcomes = || attempts.iter().map(|attempt| attempt.outcome());
    let last_judged = outcomes().rfind(|outcome| *outcome != Outcome::Failed);
    last_judged.or(outcomes().next_back()).unwrap_or(Outcome::Skipped)
}

#[cfg(test)]
mod tests {
    use super::super::attempt::tests::{attempt, cell};
    use super::*;
    use zooquake_checkers::Verdict;

    fn after(attempts: &[Attempt], failures: usize) -> Next {
        let attempts: Vec<&Attempt> = attempts.iter().collect();
        next(&cell("pause", 7), &attempts, failures, |seed| seed + 1)
    }

    fn valid() -> Attempt {
        attempt(&cell("pause", 7), Some(Verdict::Valid), &[])
    }

    fn unknown() -> Attempt {
        attempt(&cell("pause", 7), Some(Verdict::Unknown), &[])
    }

    fn failed() -> Attempt {
        attempt(&cell("pause", 7), None, &[])
    }

    fn broken() -> Attempt {
        attempt(
            &cell("pause", 7),
            Some(Verdict::Invalid),
            &[("double-grant", false, false)],
        )
    }

    #[test]
    fn an_unknown_cell_is_run_again_once_with_the_next_seed() {
        assert_eq!(after(&[], 0), Next::Run(7));
        assert_eq!(after(&[unknown()], 0), Next::Run(8));
        assert_eq!(after(&[unknown(), unknown()], 0), Next::Done(Outcome::Unknown));
        assert_eq!(after(&[unknown(), valid()], 0), Next::Done(Outcome::Expected));
        assert_eq!(after(&[unknown(), broken()], 0), Next::Done(Outcome::New));
    }

    #[test]
    fn a_verdict_ends_it() {
        assert_eq!(after(&[valid()], 0), Next::Done(Outcome::Expected));
        assert_eq!(after(&[broken()], 0), Next::Done(Outcome::New));
        assert_eq!(after(&[failed(), valid()], 0), Next::Done(Outcome::Expected));
    }

    #[test]
    fn the_harness_may_fail_once_until_the_night_is_taken_up_again() {
        assert_eq!(after(&[failed()], 1), Next::Run(7));
        assert_eq!(after(&[failed(), failed()], 2), Next::Done(Outcome::Failed));
        assert_eq!(after(&[failed(), failed()], 0), Next::Run(7));
        assert_eq!(after(&[unknown(), failed(), failed()], 2), Next::Done(Outcome::Unknown));
    }
}
