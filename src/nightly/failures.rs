//! Failures by signature: property, anomaly, variant and faults. The same signature is one failure, with a count.

use super::cell::CellAttempt;
use super::previous_nights::NightRecord;
use zooquake_reports::night::{AnomalyCount, CellOutcome, NightFailure};

/// The failures of tonight: those that no earlier night saw first, the commonest first.
pub fn all(tonight: &NightRecord, earlier: &[NightRecord]) -> Vec<NightFailure> {
    let mut failures: Vec<NightFailure> = Vec::new();
    for cell in &tonight.cells {
        let attempts = tonight.attempts_at(cell);
        if super::cell::outcome(&attempts) != CellOutcome::New {
            continue;
        }
        let Some(attempt) = attempts.iter().rfind(|attempt| attempt.verdict.is_some()) else {
            continue;
        };
        for seen in attempt.anomalies.iter().filter(|seen| seen.is_new()) {
            let same = |failure: &&mut NightFailure| {
                (&failure.property, &failure.anomaly) == (&seen.property, &seen.kind)
                    && cell.same_place(&failure.variant, &failure.faults)
            };
            match failures.iter_mut().find(same) {
                Some(failure) => {
                    failure.seeds.push(attempt.seed());
                    failure.runs.push(run(attempt));
                }
                None => failures.push(first(attempt, seen, earlier)),
            }
        }
    }
    failures.sort_by_key(|failure| (!failure.is_new_tonight(), std::cmp::Reverse(failure.seeds.len())));
    failures
}

fn run(attempt: &CellAttempt) -> String {
    attempt
        .run
        .as_ref()
        .map(|run| format!("runs/{run}"))
        .unwrap_or_default()
}

fn first(attempt: &CellAttempt, seen: &AnomalyCount, earlier: &[NightRecord]) -> NightFailure {
    let (since, earlier) = since(attempt, seen, earlier);
    NightFailure {
        property: seen.property.clone(),
        anomaly: seen.kind.clone(),
        variant: attempt.place.variant.clone(),
        faults: attempt.place.faults.clone(),
        seeds: vec![attempt.seed()],
        why: seen.why.clone(),
        cause: seen.cause.clone(),
        cause_proven: seen.cause_proven,
        followers: seen.followers(&attempt.anomalies),
        since,
        earlier,
        runs: vec![run(attempt)],
        again: attempt.again.clone(),
    }
}

/// When an anomaly was seen first, in words, and how many earlier nights saw it.
fn since(attempt: &CellAttempt, seen: &AnomalyCount, earlier: &[NightRecord]) -> (String, usize) {
    let place = |night: &NightRecord| night.judged(&attempt.place.variant, &attempt.place.faults).count() > 0;
    let showed = |night: &&NightRecord| {
        night.judged(&attempt.place.variant, &attempt.place.faults).any(|run| {
            run.anomalies
                .iter()
                .any(|other| other.is_new() && other.kind == seen.kind)
        })
    };
    let looked = earlier.iter().filter(|night| place(night)).count();
    let with: Vec<&NightRecord> = earlier.iter().filter(showed).collect();
    let words = match (with.first(), looked) {
        (None, 0) => "no earlier night has looked".to_string(),
        (None, nights) => format!("first seen tonight, after {nights} nights without"),
        (Some(first), nights) => format!(
            "first seen on {}, in {} of {nights} earlier nights",
            first.date,
            with.len()
        ),
    };
    (words, with.len())
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::{attempt, cell, ended};
    use super::super::previous_nights::tests::night;
    use super::*;
    use zooquake_checkers::Verdict;

    fn broken(seed: u64, kind: &str) -> CellAttempt {
        ended(kind, "pause", seed)
    }

    fn tonight(attempts: Vec<CellAttempt>) -> NightRecord {
        let mut past = night("2026-11-20", attempts);
        past.cells = (1..=3).map(|seed| cell("pause", seed)).collect();
        past
    }

    #[test]
    fn the_same_signature_is_one_failure() {
        let both = attempt(
            &cell("pause", 3),
            Some(Verdict::Invalid),
            &[
                ("double-grant", false, false),
                ("lost-wakeup", false, false),
                ("stale-write", false, true),
            ],
        );
        let tonight = tonight(vec![broken(1, "double-grant"), broken(2, "double-grant"), both]);
        let failures = all(&tonight, &[]);
        let told: Vec<_> = failures
            .iter()
            .map(|f| (f.anomaly.as_str(), f.seeds.as_slice()))
            .collect();
        assert_eq!(
            told,
            [("double-grant", [1, 2, 3].as_slice()), ("lost-wakeup", [3].as_slice())]
        );
        assert_eq!(failures[0].runs, ["runs/run-1", "runs/run-2", "runs/run-3"]);
    }

    #[test]
    fn it_has_the_cause_of_the_first_and_what_follows_from_it() {
        let mut caused = broken(1, "orphan-node");
        let follower = ended("lost-wakeup", "pause", 1).anomalies.remove(0);
        caused.anomalies[0].cause = "Window 1 lost the reply.".into();
        caused.anomalies[0].cause_proven = true;
        caused.anomalies.push(AnomalyCount {
            count: 5,
            root: Some("orphan-node".into()),
            ..follower
        });
        let failures = all(&tonight(vec![caused, broken(2, "orphan-node")]), &[]);
        let [failure] = failures.as_slice() else {
            panic!("{failures:?}")
        };
        assert_eq!(failure.cause, "Window 1 lost the reply.");
        assert!(failure.cause_proven);
        assert_eq!(failure.followers, "lost-wakeup × 5");
    }

    #[test]
    fn it_says_since_when() {
        let valid = || ended("valid", "pause", 1);
        let tonight = tonight(vec![broken(1, "double-grant")]);
        let since = |earlier: &[NightRecord]| {
            let failure = all(&tonight, earlier).remove(0);
            (failure.since, failure.earlier)
        };
        assert_eq!(since(&[]), ("no earlier night has looked".to_string(), 0));
        let quiet = [night("2026-11-18", vec![valid()]), night("2026-11-19", vec![valid()])];
        assert_eq!(
            since(&quiet),
            ("first seen tonight, after 2 nights without".to_string(), 0)
        );
        let loud = [
            night("2026-11-18", vec![broken(1, "double-grant")]),
            night("2026-11-19", vec![valid()]),
        ];
        assert_eq!(
            since(&loud),
            ("first seen on 2026-11-18, in 1 of 2 earlier nights".to_string(), 1)
        );
        let [mut of_its_date, other] = loud;
        of_its_date.date = "2026-11-01".to_string();
        let (words, _) = since(&[of_its_date, other]);
        assert!(words.starts_with("first seen on 2026-11-01,"), "{words}");
    }
}
