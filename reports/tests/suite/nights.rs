//! The page across nights.

use crate::common::{ReportFolder, shows};
use zooquake_reports::night::CellOutcome;
use zooquake_reports::nights::{FailureSighting, NightLine, Nights, RecurringFailure, write};

fn line(day: u32, zooquake: &str) -> NightLine {
    NightLine {
        name: format!("2026-11-{day}"),
        campaign: "<b>small</b>".into(),
        date: format!("2026-11-{day}"),
        begun: format!("2026-11-{day}T01:00:00Z"),
        zooquake: zooquake.into(),
        zookeeper: "bookworm".into(),
        checkout: Some(format!("c0ffee{day}")),
        outcomes: vec![(CellOutcome::New, 1), (CellOutcome::Expected, 11)],
        seconds: 90.0,
        closed: day != 20,
        page: Some(format!("2026-11-{day}/index.html")),
        ..NightLine::default()
    }
}

fn sighting(judged: usize, shown: usize) -> Option<FailureSighting> {
    Some(FailureSighting {
        judged,
        shown,
        seconds: 10.0 * shown as f64,
        seeds: vec![7; shown],
        report: (shown > 0).then(|| "2026-11-18/runs/r7/report.html".to_string()),
    })
}

#[test]
fn a_failure_has_its_sightings_rate_versions_and_a_picture() {
    let nights = Nights {
        name: "nights".into(),
        nights: vec![
            line(17, "0.1.0"),
            line(18, "0.1.0"),
            line(19, "0.2.0 (3f2a91c)"),
            line(20, "0.2.0"),
        ],
        failures: vec![RecurringFailure {
            property: "mutual exclusion".into(),
            anomaly: "double-grant".into(),
            variant: "lock/a".into(),
            faults: "kill,pause".into(),
            why: "c5 was granted while c2 <held>".into(),
            again: "zooquake run lock/a --seed 7".into(),
            nights: vec![sighting(4, 0), sighting(4, 2), None, sighting(4, 1)],
            ..RecurringFailure::default()
        }],
    };
    let folder = ReportFolder::new("nights");
    let path = folder.0.join("nights.html");
    write(&nights, &path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    shows(
        &page,
        &[
            "4 nights from 2026-11-17 to 2026-11-20; 1 failure, 1 of them in the last night.",
            "2026-11-18T01:00:00Z, in the night 2026-11-18",
            "3 of 12 runs, in 2 of 3 nights that looked",
            "0.1.0, 0.2.0",
            "c0ffee18, c0ffee20",
            "10.0 s in the mean",
            "href=\"2026-11-18/runs/r7/report.html\"",
            "c2 &lt;held&gt;",
            "href=\"2026-11-17/index.html\"",
            "1 × anomaly, 11 × as expected; not ended",
        ],
    );
    assert_eq!(
        (page.matches("m-new").count(), page.matches("m-expected").count()),
        (3, 2),
        "with the style's own"
    );
    assert!(!page.contains("<b>small") && !page.contains("<script"));
}
