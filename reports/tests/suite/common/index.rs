//! A folder of runs: one of each verdict, one never checked, one whose files are broken.

use super::{Run, results};
use zooquake_reports::index::RunEntry;

fn listed(name: &str, run: Run, seed: u64) -> RunEntry {
    let mut plan = run.record.plan;
    plan.seed = seed;
    RunEntry {
        name: name.into(),
        plan: Some(plan),
        results: Some(run.results),
        report: true,
        trouble: Vec::new(),
    }
}

/// They, in no order.
pub fn runs() -> Vec<RunEntry> {
    let mut news = results::invalid();
    news.results.anomalies[0].accepted = false;
    news.record.plan.faults = vec!["drop-reply".into()];
    news.record.plan.workload.variant = "fenced".into();
    let mut unchecked = listed("20260302T000000-lock-predecessor-9", results::valid(), 9);
    unchecked.results = None;
    unchecked.report = false;
    unchecked.trouble = vec!["no results: `zooquake check` makes them".into()];
    vec![
        listed("20260301T021500-lock-predecessor-7", results::invalid(), 7),
        listed("20260303T100000-lock-fenced-8", news, 8),
        listed("20260301T100000-lock-predecessor-10", results::valid(), 10),
        listed("20260301T120000-lock-predecessor-11", results::unknown(), 11),
        unchecked,
        RunEntry {
            name: "#broken <run>?".into(),
            trouble: vec!["reading plan.json: expected value at line 1".into()],
            ..RunEntry::default()
        },
    ]
}
