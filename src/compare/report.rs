//! What came of a comparison: from its record to its report.

use super::drive::{ComparisonLedger, last};
use super::header::ComparisonHeader;
use super::setup::ResolvedSetup;
use zooquake_checkers::sample;
use zooquake_reports::compare::{ComparedSubject, Comparison, SubjectRun};

/// The comparison with the runs that are on record.
///
/// # Errors
/// If a variant does not exist any more: the message for the user.
pub fn comparison(ledger: &ComparisonLedger) -> Result<Comparison, String> {
    let ResolvedSetup { setup, workloads } = ledger.recorded.header.setup.resolve()?;
    let subjects = setup.subjects.iter().zip(&workloads).enumerate();
    let subjects = subjects.map(|(number, (subject, workload))| ComparedSubject {
        label: setup.label(number),
        variant: format!("{}/{}", setup.family, subject.variant),
        promise: workload.promise.clone(),
    });
    let runs = last(ledger).into_values().map(|attempt| SubjectRun {
        subject: attempt.place.subject,
        faults: attempt.place.faults,
        seed: attempt.seed(),
        verdict: attempt.verdict.map(|verdict| verdict.to_string()),
        error: attempt.error.clone(),
        anomalies: attempt.anomalies.clone(),
        not_judged: attempt.not_judged.clone(),
        sample: attempt.sample.clone(),
        run: attempt.run.as_ref().map(|run| format!("runs/{run}")),
    });
    Ok(Comparison {
        family: setup.family.clone(),
        begun: ledger.recorded.header.begun.clone(),
        planned: ledger.recorded.header.turns().len(),
        faults: setup.faults.clone(),
        virtual_time: setup.backend().capabilities.virtual_time,
        runs: runs.collect(),
        settings: settings(&ledger.recorded.header),
        kind: sample::measures(&workloads[0])
            .ok_or_else(|| format!("nothing of the family {} is measured", setup.family))?,
        subjects: subjects.collect(),
    })
}

/// The settings of all its runs, and which part of them these are.
fn settings(header: &ComparisonHeader) -> Vec<(String, String)> {
    let part = header.shard.map(|shard| ("part".to_string(), shard.to_string()));
    part.into_iter().chain(header.setup.settings()).collect()
}
