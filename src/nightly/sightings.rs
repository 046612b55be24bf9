//! Failures over many nights: which night saw them, and how often.

use super::cell::{self, CellAttempt};
use super::folder::{self, LedgerContent};
use super::previous_nights::NightRecord;
use std::path::{Component, Path, PathBuf};
use zooquake_reports::night::{AnomalyCount, CellOutcome};
use zooquake_reports::nights::{FailureSighting, NightLine, Nights, RecurringFailure};

/// The failures of nights, the oldest first, each with its folder; `page` is the folder in which the page will lie.
pub fn nights(name: String, nights: &[(PathBuf, LedgerContent)], page: &Path) -> Nights {
    let records: Vec<NightRecord> = nights
        .iter()
        .map(|(path, recorded)| NightRecord::new(folder::name_of(path), recorded))
        .collect();
    let mut failures: Vec<RecurringFailure> = Vec::new();
    for record in &records {
        for attempt in &record.attempts {
            for seen in attempt.anomalies.iter().filter(|seen| seen.is_new()) {
                if !failures.iter().any(|failure| is_shown(failure, attempt, seen)) {
                    failures.push(signature(attempt, seen));
                }
            }
        }
    }
    for failure in &mut failures {
        let places = records.iter().zip(nights);
        let sightings = places.map(|(record, (path, _))| sighting(failure, record, &link(path, page)));
        failure.nights = sightings.collect();
        let attempts = records.iter().flat_map(|record| &record.attempts);
        let mut shown = attempts.filter_map(|attempt| {
            let seen = attempt.anomalies.iter().find(|seen| is_shown(failure, attempt, seen))?;
            Some((attempt, seen))
        });
        if let Some((attempt, seen)) = shown.next_back() {
            (failure.why, failure.cause) = (seen.why.clone(), seen.cause.clone());
            (failure.cause_proven, failure.again) = (seen.cause_proven, attempt.again.clone());
        }
    }
    failures.sort_by_key(|failure| std::cmp::Reverse((failure.last(), failure.sightings().count())));
    let lines = records.iter().zip(nights);
    Nights {
        name,
        nights: lines
            .map(|(record, (path, recorded))| line(record, recorded, path, page))
            .collect(),
        failures,
    }
}

/// Whether an anomaly of an attempt is this failure.
fn is_shown(failure: &RecurringFailure, attempt: &CellAttempt, seen: &AnomalyCount) -> bool {
    seen.is_new()
        && (&failure.property, &failure.anomaly) == (&seen.property, &seen.kind)
        && attempt.place.same_place(&failure.variant, &failure.faults)
}

fn signature(attempt: &CellAttempt, seen: &AnomalyCount) -> RecurringFailure {
    RecurringFailure {
        property: seen.property.clone(),
        anomaly: seen.kind.clone(),
        variant: attempt.place.variant.clone(),
        faults: attempt.place.faults.clone(),
        ..RecurringFailure::default()
    }
}

/// What a night saw of a failure; `None` if it judged no run of its variant under its faults.
fn sighting(failure: &RecurringFailure, night: &NightRecord, link: &Path) -> Option<FailureSighting> {
    let judged = night.judged(&failure.variant, &failure.faults).count();
    let shown: Vec<&CellAttempt> = night
        .judged(&failure.variant, &failure.faults)
        .filter(|attempt| attempt.anomalies.iter().any(|seen| is_shown(failure, attempt, seen)))
        .collect();
    let reports = shown.iter().filter_map(|attempt| attempt.run.as_ref());
    let mut reports = reports.map(|run| link.join("runs").join(run).join("report.html"));
    (judged > 0).then(|| FailureSighting {
        judged,
        shown: shown.len(),
        seconds: shown.iter().map(|attempt| attempt.seconds).sum(),
        seeds: shown.iter().map(|attempt| attempt.seed()).collect(),
        report: reports.next().map(|report| report.display().to_string()),
    })
}

fn line(record: &NightRecord, recorded: &LedgerContent, path: &Path, page: &Path) -> NightLine {
    let header = &recorded.header;
    let outcomes: Vec<CellOutcome> = record
        .cells
        .iter()
        .map(|cell| cell::outcome(&record.attempts_at(cell)))
        .collect();
    let count = |outcome: CellOutcome| outcomes.iter().filter(|other| **other == outcome).count();
    let backend = header.campaign.backend();
    let zookeeper = match (backend.capabilities.images, &header.campaign.cluster.image) {
        (false, _) => format!("none: {}", backend.adjective),
        (true, Some(image)) => image.clone(),
        (true, None) => "zooquake's own".to_string(),
    };
    NightLine {
        name: record.name.clone(),
        campaign: header.campaign.name.clone(),
        date: header.date().to_string(),
        begun: header.begun.clone(),
        shard: header.shard.clone(),
        zooquake: header.program(),
        zookeeper,
        checkout: header.checkout.clone(),
        outcomes: CellOutcome::ALL
            .into_iter()
            .map(|outcome| (outcome, count(outcome)))
            .filter(|(_, count)| *count > 0)
            .collect(),
        seconds: record.attempts.iter().map(|attempt| attempt.seconds).sum(),
        closed: recorded.closed,
        page: path
            .join("index.html")
            .is_file()
            .then(|| link(path, page).join("index.html").display().to_string()),
    }
}

/// A folder as it is seen from the folder of the page.
fn link(path: &Path, page: &Path) -> PathBuf {
    let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (path, page) = (whole(path), whole(page));
    let shared = path
        .components()
        .zip(page.components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = page.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cell::tests::ended;
    use super::super::folder::tests::header;
    use super::super::header::NightHeader;
    use super::*;

    fn night(date: &str, version: &str, ends: &[(&str, u64)]) -> (PathBuf, LedgerContent) {
        let recorded = LedgerContent {
            header: NightHeader {
                zooquake: version.into(),
                ..header(date)
            },
            attempts: ends.iter().map(|(end, seed)| ended(end, "pause", *seed)).collect(),
            closed: true,
        };
        (PathBuf::from(format!("/nights/{date}")), recorded)
    }

    #[test]
    fn a_failure_has_its_first_and_last_sighting_and_its_rate() {
        let all = [
            night("2026-11-16", "0.1.0", &[("valid", 1), ("valid", 2)]),
            night("2026-11-17", "0.1.0", &[("double-grant", 1), ("valid", 2)]),
            night("2026-11-18", "0.2.0", &[]),
            night(
                "2026-11-19",
                "0.2.0",
                &[("double-grant", 1), ("double-grant", 2), ("failed", 3)],
            ),
            night("2026-11-20", "0.2.0", &[("stale-write", 1)]),
        ];
        let found = nights("nights".into(), &all, Path::new("/nights"));
        let [failure] = found.failures.as_slice() else {
            panic!("what is known is none: {found:?}")
        };
        let at: Vec<usize> = failure.sightings().map(|(at, _)| at).collect();
        assert_eq!(at, [1, 3]);
        assert_eq!(failure.rate(), "3 of 7 runs, in 2 of 4 nights that looked");
        assert!(failure.nights[2].is_none(), "it did not look");
        let last = failure.nights[3].as_ref().unwrap();
        assert_eq!(
            (last.judged, last.shown, last.seeds.as_slice()),
            (2, 2, [1, 2].as_slice())
        );
        assert_eq!(last.report.as_deref(), Some("2026-11-19/runs/run-1/report.html"));
        assert_eq!(failure.again, "zooquake run lock/predecessor --seed 2");
        let versions: Vec<&str> = found.nights.iter().map(|night| night.zooquake.as_str()).collect();
        assert_eq!(versions, ["0.1.0", "0.1.0", "0.2.0", "0.2.0", "0.2.0"]);
    }

    #[test]
    fn links_lead_from_the_page_to_the_night() {
        let seen = |path: &str, page: &str| link(Path::new(path), Path::new(page)).display().to_string();
        assert_eq!(seen("/x/nights/a", "/x/nights"), "a");
        assert_eq!(seen("/x/nights/a", "/x/here"), "../nights/a");
    }
}
