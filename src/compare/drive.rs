//! Running what is left to run of a comparison.

use super::ledger::{Entry, Ledger};
use super::order::{Turn, turns};
use crate::nightly::attempt::seen;
use crate::run::ran::{End, FAILURES, Ran};
use anyhow::Result;
use std::time::{Duration, Instant};
use zooquake_checkers::Verdict;
use zooquake_checkers::sample::Sample;

/// What a run takes beside its operations and faults while nothing is known of this machine.
const BESIDE: Duration = Duration::from_secs(30);

/// Runs plans, and measures what came of them.
pub trait Runner {
    /// Runs a turn.
    ///
    /// # Errors
    /// If not even a failure can be told.
    fn run(&mut self, turn: Turn) -> impl Future<Output = Result<Ran>>;

    /// The measures of a run, by the name of its folder.
    ///
    /// # Errors
    /// If what it recorded cannot be read.
    fn measure(&self, run: &str) -> Result<Sample>;

    /// Whether the user wants it to stop.
    fn stopped(&self) -> bool;
}

/// The turns that no entry has a verdict for, in order.
pub fn left(ledger: &Ledger) -> Vec<Turn> {
    let done = ledger.last();
    let mut turns = turns(&ledger.header.setup);
    turns.retain(|turn| done.get(turn).is_none_or(|entry| entry.verdict.is_none()));
    turns
}

/// Runs the turns that are left, in order.
///
/// # Errors
/// If the record cannot be written, or the runner fails beyond telling.
pub async fn drive(ledger: &mut Ledger, runner: &mut impl Runner) -> Result<End> {
    let left = left(ledger);
    let all = turns(&ledger.header.setup).len();
    let mut failures = 0;
    for (number, turn) in left.iter().enumerate() {
        if runner.stopped() {
            return Ok(End::Interrupted);
        }
        let setup = &ledger.header.setup;
        let place = format!("[{}/{all}]", all - left.len() + number + 1);
        let what = format!(
            "{} under {}, seed {}",
            setup.label(turn.subject),
            setup.faults[turn.faults],
            setup.seeds[turn.round]
        );
        eprintln!(
            "{place} {what}; about {} left",
            minutes(expected(ledger) * (left.len() - number) as u32)
        );
        let clock = Instant::now();
        let ran = runner.run(*turn).await?;
        let Some(entry) = entry(ledger, *turn, clock.elapsed(), ran, runner)? else {
            return Ok(End::Interrupted);
        };
        eprintln!("{place} {what}: {}", outcome(&entry));
        failures = if entry.verdict.is_none() { failures + 1 } else { 0 };
        ledger.record(entry)?;
        if failures == FAILURES {
            eprintln!("the harness failed {FAILURES} times one after another: the comparison ends here");
            return Ok(End::GivenUp);
        }
    }
    Ok(End::Through)
}

/// What the record says of a run; `None` if it was stopped before it proved anything.
fn entry(ledger: &Ledger, turn: Turn, took: Duration, ran: Ran, runner: &impl Runner) -> Result<Option<Entry>> {
    let mut entry = Entry {
        turn,
        seed: ledger.header.setup.seeds[turn.round],
        verdict: None,
        error: None,
        anomalies: Vec::new(),
        sample: None,
        run: None,
        seconds: took.as_secs_f64(),
    };
    match ran {
        // Half a run would be measured as if it were a whole one.
        _ if runner.stopped() => return Ok(None),
        Ran::Interrupted => return Ok(None),
        Ran::Judged { run, results } => {
            entry.sample = Some(runner.measure(&run)?);
            entry.verdict = Some(results.verdict);
            entry.anomalies = seen(&results);
            entry.run = Some(run);
        }
        Ran::Failed { run, error } => (entry.run, entry.error) = (run, Some(error)),
    }
    Ok(Some(entry))
}

fn outcome(entry: &Entry) -> String {
    let kinds: Vec<&str> = entry
        .anomalies
        .iter()
        .filter(|seen| !seen.advisory)
        .map(|seen| seen.kind.as_str())
        .collect();
    match (&entry.verdict, &entry.error) {
        (Some(Verdict::Invalid), _) => format!("invalid ({})", kinds.join(", ")),
        (Some(verdict), _) => verdict.to_string(),
        (None, error) => format!("the harness failed: {}", error.as_deref().unwrap_or("nobody knows how")),
    }
}

/// How long a run takes, as far as is known.
fn expected(ledger: &Ledger) -> Duration {
    let judged = ledger.entries.iter().filter(|entry| entry.verdict.is_some());
    let seconds: Vec<f64> = judged.map(|entry| entry.seconds).collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    Duration::try_from_secs_f64(mean).unwrap_or(Duration::from_millis(ledger.header.setup.time_ms) + BESIDE)
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
    use super::super::ledger::tests::{folder, header};
    use super::*;
    use zooquake_checkers::Results;

    /// Answers from a script, and counts.
    struct Script {
        ran: Vec<Turn>,
        failing: Vec<usize>,
        stop_after: usize,
    }

    impl Script {
        fn new(failing: &[usize], stop_after: usize) -> Self {
            Self {
                ran: vec![],
                failing: failing.to_vec(),
                stop_after,
            }
        }
    }

    impl Runner for Script {
        async fn run(&mut self, turn: Turn) -> Result<Ran> {
            self.ran.push(turn);
            if self.stopped() {
                return Ok(Ran::Interrupted);
            }
            Ok(match self.failing.contains(&self.ran.len()) {
                true => Ran::Failed {
                    run: None,
                    error: "no engine".into(),
                },
                false => Ran::Judged {
                    run: format!("run-{}", self.ran.len()),
                    results: Box::new(Results::default()),
                },
            })
        }

        fn measure(&self, _run: &str) -> Result<Sample> {
            Ok(Sample {
                units: 1,
                ..Sample::default()
            })
        }

        fn stopped(&self) -> bool {
            self.ran.len() > self.stop_after
        }
    }

    #[tokio::test]
    async fn what_was_stopped_goes_on_where_it_was() {
        let folder = folder("drive");
        let mut ledger = Ledger::open(&folder, header()).unwrap();
        let mut first = Script::new(&[], 2);
        assert_eq!(drive(&mut ledger, &mut first).await.unwrap(), End::Interrupted);
        assert_eq!(ledger.entries.len(), 2, "the third was stopped");
        drop(ledger);
        let mut ledger = Ledger::open(&folder, header()).unwrap();
        let mut second = Script::new(&[], usize::MAX);
        assert_eq!(drive(&mut ledger, &mut second).await.unwrap(), End::Through);
        assert_eq!(second.ran, turns(&header().setup)[2..], "nothing is done twice");
        assert_eq!(ledger.last().len(), 4);
        assert!(left(&ledger).is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_failure_is_recorded_and_taken_again_the_next_time() {
        let folder = folder("failing");
        let mut ledger = Ledger::open(&folder, header()).unwrap();
        let mut first = Script::new(&[2], usize::MAX);
        assert_eq!(drive(&mut ledger, &mut first).await.unwrap(), End::Through);
        assert_eq!(first.ran.len(), 4, "the others are run");
        let failed = first.ran[1];
        assert_eq!(ledger.last()[&failed].error.as_deref(), Some("no engine"));
        let mut second = Script::new(&[], usize::MAX);
        drive(&mut ledger, &mut second).await.unwrap();
        assert_eq!(second.ran, [failed]);
        assert_eq!(ledger.last()[&failed].verdict, Some(Verdict::Unknown));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_harness_that_keeps_failing_is_given_up() {
        let folder = folder("given-up");
        let mut ledger = Ledger::open(&folder, header()).unwrap();
        let mut script = Script::new(&[1, 2, 3, 4], usize::MAX);
        assert_eq!(drive(&mut ledger, &mut script).await.unwrap(), End::GivenUp);
        assert_eq!(ledger.entries.len(), 3);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
