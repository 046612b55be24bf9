//! An attempt of a campaign that is a run, as its record keeps it.

use super::ledger::AttemptRecord;
use super::run_outcome::RunOutcome;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zooquake_checkers::sample::Sample;
use zooquake_checkers::{NotJudged, Results, Verdict};
use zooquake_reports::night::AnomalyCount;

/// A place of a campaign whose attempts are runs: its line in the record has it among its own fields.
pub trait CampaignPlace: Clone + PartialEq + Serialize + DeserializeOwned {
    /// What the plan is drawn from at first.
    fn seed(&self) -> u64;
}

/// A run that came to its end, or failed to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(bound = "P: CampaignPlace")]
pub struct CampaignAttempt<P> {
    /// Which place of the campaign.
    #[serde(flatten)]
    pub place: P,
    /// The seed it was run with, if that is not the place's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_seed: Option<u64>,
    /// The verdict; `None` if the harness failed.
    pub verdict: Option<Verdict>,
    /// How the harness failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The anomalies by kind, the worst first.
    #[serde(default)]
    pub anomalies: Vec<AnomalyCount>,
    /// Why the verdict is not `valid`, and remarks.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// What was not judged because its clients cannot report it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<NotJudged>,
    /// Its measures, where the campaign takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Name of the run's folder; `None` if it never had one.
    pub run: Option<String>,
    /// When it began; empty in old records of comparisons.
    #[serde(default)]
    pub begun: String,
    /// Seconds that it took from the first container to the report.
    pub seconds: f64,
    /// The command line that runs the same plan again; empty in old records of comparisons.
    #[serde(default)]
    pub again: String,
    /// The places whose ensembles were up at some time while its own was; none in old records.
    #[serde(default = "Vec::<P>::new", skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<P>,
}

impl<P: CampaignPlace> AttemptRecord for CampaignAttempt<P> {
    fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }
}

impl<P: CampaignPlace> CampaignAttempt<P> {
    /// The seed it was run with.
    pub fn seed(&self) -> u64 {
        self.run_seed.unwrap_or_else(|| self.place.seed())
    }

    /// The attempt at a place with a seed; `None` if it was interrupted.
    pub fn new(place: P, seed: u64, (begun, took): (String, Duration), ran: RunOutcome, again: String) -> Option<Self> {
        let (run, results, error) = match ran {
            RunOutcome::Judged { run, results } => (Some(run), Some(*results), None),
            RunOutcome::Failed { run, error } => (run, None, Some(error)),
            RunOutcome::Interrupted => return None,
        };
        Some(Self {
            run_seed: (seed != place.seed()).then_some(seed),
            place,
            verdict: results.as_ref().map(|results| results.verdict),
            error,
            anomalies: results.as_ref().map(seen).unwrap_or_default(),
            not_judged: results
                .as_ref()
                .map(|results| results.not_judged.clone())
                .unwrap_or_default(),
            reasons: results.map(|results| results.reasons).unwrap_or_default(),
            sample: None,
            run,
            begun,
            seconds: took.as_secs_f64(),
            again,
            beside: Vec::new(),
        })
    }
}

/// The anomalies of a run by kind and by what they follow from: how often, and the story of the first.
pub fn seen(results: &Results) -> Vec<AnomalyCount> {
    let mut all: Vec<AnomalyCount> = Vec::new();
    for anomaly in &results.anomalies {
        let root = results.root(anomaly).map(|root| root.kind.as_str());
        let same = |seen: &&mut AnomalyCount| {
            (seen.kind.as_str(), seen.advisory, seen.accepted, seen.root.as_deref())
                == (anomaly.kind.as_str(), anomaly.advisory, anomaly.accepted, root)
        };
        match all.iter_mut().find(same) {
            Some(seen) => seen.count += 1,
            None => all.push(AnomalyCount {
                kind: anomaly.kind.clone(),
                property: anomaly.property.clone(),
                advisory: anomaly.advisory,
                accepted: anomaly.accepted,
                count: 1,
                why: anomaly.why.clone(),
                cause: anomaly
                    .cause
                    .as_ref()
                    .map(|cause| cause.sentence.clone())
                    .unwrap_or_default(),
                cause_proven: anomaly.cause.as_ref().is_some_and(|cause| cause.proven),
                root: root.map(str::to_owned),
            }),
        }
    }
    // What is new before what is known, both before what is only an observation, and roots before what follows.
    all.sort_by_key(|seen| (seen.advisory, seen.accepted, seen.root.is_some()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::order::Turn;
    use crate::nightly::cell::Cell;
    use zooquake_checkers::Anomaly;

    #[test]
    fn anomalies_of_a_kind_are_counted_and_news_come_first() {
        let anomaly = |kind: &str, advisory, accepted| Anomaly {
            kind: kind.into(),
            property: "mutual exclusion".into(),
            advisory,
            accepted,
            witness: vec![1],
            span: None,
            stuck: None,
            cause: None,
            why: format!("because of {kind}"),
        };
        let known = || anomaly("stale-write", false, true);
        let results = Results {
            anomalies: vec![
                anomaly("stale-holder", true, false),
                known(),
                known(),
                anomaly("double-grant", false, false),
            ],
            ..Results::default()
        };
        let seen: Vec<(String, usize)> = seen(&results).into_iter().map(|seen| (seen.kind, seen.count)).collect();
        let expected = [("double-grant", 1), ("stale-write", 2), ("stale-holder", 1)];
        assert_eq!(seen, expected.map(|(kind, count)| (kind.to_string(), count)));
    }

    #[test]
    fn lines_of_former_records_are_read() {
        let night = r#"{"variant":"lock/fenced","faults":"pause","seed":1,"run_seed":18446744073709551615,"verdict":"unknown",
            "anomalies":[],"reasons":["why"],"run":"r1","begun":"2026-11-20T01:00:00Z","seconds":50.0,"again":"line","sitting":3}"#;
        let attempt: CampaignAttempt<Cell> = serde_json::from_str(night).unwrap();
        assert_eq!(
            (attempt.place.seed, attempt.seed(), attempt.again.as_str()),
            (1, u64::MAX, "line")
        );
        let comparison = r#"{"round":1,"faults":0,"subject":2,"seed":8,"verdict":null,"error":"no engine","run":null,"seconds":1.5}"#;
        let attempt: CampaignAttempt<Turn> = serde_json::from_str(comparison).unwrap();
        assert_eq!((attempt.place.subject, attempt.seed()), (2, 8));
        let again: CampaignAttempt<Turn> = serde_json::from_str(&serde_json::to_string(&attempt).unwrap()).unwrap();
        assert_eq!(again, attempt);
    }
}
