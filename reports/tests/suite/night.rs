//! The report of a night: its JUnit file, its summary and its page.

mod junit;

use crate::common::{ReportFolder, between, shows};
use zooquake_checkers::NotJudged;
use zooquake_reports::night::{
    AnomalyCount, Cell, CellOutcome, CellRun, Night, NightFailure, Trend, summary, write_all,
};

fn seen(kind: &str, accepted: bool) -> AnomalyCount {
    AnomalyCount {
        kind: kind.into(),
        property: "mutual exclusion".into(),
        advisory: false,
        accepted,
        count: 2,
        why: format!("c5 was granted at 3.4 s while c2 <held> & \"wrote\": {kind}"),
        cause: String::new(),
        cause_proven: false,
        root: None,
    }
}

fn attempt(seed: u64, verdict: Option<&str>, anomalies: Vec<AnomalyCount>) -> CellRun {
    CellRun {
        seed,
        verdict: verdict.map(String::from),
        error: verdict
            .is_none()
            .then(|| "the engine\u{0} went \u{1b}[31maway".to_string()),
        anomalies,
        reasons: vec!["no window of kill counts".into()],
        not_judged: vec![],
        run: Some(format!("runs/r{seed}")),
        begun: "2026-11-20T01:00:00Z".into(),
        seconds: 12.5,
        again: format!("zooquake run lock/a --seed {seed} --faults kill --time 30000ms"),
    }
}

fn cell(variant: &str, seed: u64, outcome: CellOutcome, attempts: Vec<CellRun>) -> Cell {
    Cell {
        variant: variant.into(),
        name: variant.into(),
        faults: "kill,pause".into(),
        seed,
        ordinal: None,
        outcome,
        attempts,
    }
}

/// A night with one cell of every outcome.
fn night() -> Night {
    let new = attempt(
        2,
        Some("invalid"),
        vec![seen("double-grant", false), seen("stale-write", true)],
    );
    let unknown = vec![attempt(3, Some("unknown"), vec![]), attempt(9, Some("unknown"), vec![])];
    Night {
        name: "2026-11-20".into(),
        campaign: "<b>small</b>".into(),
        begun: "2026-11-20T01:00:00Z".into(),
        settings: vec![("seeds".into(), "1, 2, 3, 4, 5".into())],
        conclusion: vec![
            "new tonight: double-grant of lock/a under kill,pause".into(),
            "1 cell is unknown".into(),
        ],
        code: 1,
        required: 3,
        gaps: vec![],
        cells: vec![
            cell(
                "lock/a",
                1,
                CellOutcome::Expected,
                vec![attempt(1, Some("invalid"), vec![seen("stale-write", true)])],
            ),
            cell("lock/a", 2, CellOutcome::New, vec![new]),
            cell("lock/a", 3, CellOutcome::Unknown, unknown),
            cell("queue/b", 4, CellOutcome::Failed, vec![attempt(4, None, vec![])]),
            cell("queue/b", 5, CellOutcome::Skipped, vec![]),
        ],
        failures: vec![NightFailure {
            property: "mutual exclusion".into(),
            anomaly: "double-grant".into(),
            variant: "lock/a".into(),
            faults: "kill,pause".into(),
            seeds: vec![2],
            why: seen("double-grant", false).why,
            cause: String::new(),
            cause_proven: false,
            followers: String::new(),
            since: "first seen tonight, after 3 nights without".into(),
            earlier: 0,
            runs: vec!["runs/r2".into()],
            again: "zooquake run lock/a --seed 2".into(),
        }],
        remarks: vec!["lock/a has not shown lost-wakeup".into()],
        trends: vec![Trend {
            variant: "lock/a".into(),
            faults: "kill,pause".into(),
            outcomes: vec![
                None,
                Some(CellOutcome::Expected),
                Some(CellOutcome::Unknown),
                Some(CellOutcome::New),
            ],
            seen: vec![("double-grant".into(), false, 1), ("stale-write".into(), true, 2)],
            judged: 3,
        }],
        nights: ["17", "18", "19", "20"].map(|day| format!("2026-11-{day}")).into(),
        shard: None,
    }
}

/// The page of a night.
fn page(night: &Night, name: &str) -> String {
    let folder = ReportFolder::new(name);
    let files = write_all(night, &folder.0).unwrap();
    std::fs::read_to_string(&files[0]).unwrap()
}

/// How often a piece of text occurs.
fn count(text: &str, piece: &str) -> usize {
    text.matches(piece).count()
}

#[test]
fn the_cause_of_a_failure_and_what_follows_stand_below_it() {
    let mut night = night();
    let told = |night: &Night| between(&page(night, "night-cause"), "id=\"failures\"", "</section>").to_owned();
    let bare = told(&night);
    assert!(!bare.contains("class=\"cause\"") && !bare.contains("From it follow"));
    night.failures[0].cause = "Window 1 <lost> the reply.".into();
    night.failures[0].followers = "lost-wakeup × 5".into();
    let follow = "<p class=\"facts\">From it follow: lost-wakeup × 5</p>";
    for (proven, words) in [(true, "Cause:"), (false, "May be:")] {
        night.failures[0].cause_proven = proven;
        let cause = format!("<p class=\"cause\"><b>{words}</b> Window 1 &lt;lost&gt; the reply.</p>");
        let told = told(&night);
        let (_, below) = told.split_once("double-grant</p>").expect("the reason");
        assert!(below.starts_with(&format!("{cause}{follow}")), "{below}");
    }
}

#[test]
fn what_was_not_judged_stands_in_the_tables() {
    let mut night = night();
    let left = NotJudged {
        check: "stale-write".into(),
        why: "c1 cannot give <it>".into(),
    };
    night.cells[0].attempts[0].not_judged.push(left);
    shows(&summary(&night), &["(not judged: stale-write)"]);
    let page = page(&night, "not-judged");
    let chip = r#"<span class="seen known" title="c1 cannot give &lt;it&gt;">stale-write <i>not judged</i></span>"#;
    assert!(page.contains(chip));
}

#[test]
fn the_summary_is_short_and_says_what_is_new_first() {
    let text = summary(&night());
    let at = |piece: &str| text.find(piece).unwrap_or_else(|| panic!("{piece:?} is not in {text}"));
    assert!(
        at("double-grant of lock/a") < at("### New tonight") && at("### New tonight") < at("### Without a verdict")
    );
    let row = "| lock/a | ✓ stale-write (known)<br>✗ **double-grant**, stale-write (known)<br>? |";
    shows(&text, &[row, "| queue/b | !<br>– |", "`zooquake run lock/a --seed 2`"]);
    assert!(!text.contains("<b>"), "{text}");
    let mut long = night();
    long.cells = (0..5_000)
        .map(|seed| cell("lock/a", seed, CellOutcome::Unknown, long.cells[2].attempts.clone()))
        .collect();
    assert!(summary(&long).len() < 70_000);
}

/// What is new tonight, what is still there and what is known are told apart, in every form.
#[test]
fn what_earlier_nights_saw_is_still_there() {
    let of = |night: &Night, folder: &str| {
        let folder = ReportFolder::new(folder);
        let badge = write_all(night, &folder.0).unwrap().remove(3);
        std::fs::read_to_string(badge).unwrap()
    };
    let mut old = night();
    let page_of_new = page(&old, "new-tonight");
    shows(
        &page_of_new,
        &[
            "NEW ANOMALY",
            "New tonight (1)",
            "double-grant × 2 <i>new tonight",
            "stale-write × 2 <i>known",
        ],
    );
    shows(&of(&old, "badge-new"), &["zooquake: 1 new</title>"]);
    old.failures[0].earlier = 6;
    old.failures[0].since = "first seen on 2026-11-14, in 6 of 6 earlier nights".into();
    let page_of_old = page(&old, "still-there");
    shows(
        &page_of_old,
        &[
            "STILL THERE",
            "Still there (1)",
            "double-grant × 2 <i>still there",
            "stale-write × 2 <i>known",
        ],
    );
    assert_eq!(
        count(&page_of_old, "New tonight") + count(&page_of_old, "NEW ANOMALY"),
        0
    );
    shows(&of(&old, "badge-old"), &["zooquake: 1 still there</title>"]);
    let text = summary(&old);
    shows(&text, &["### Still there", "in 6 of 6 earlier nights"]);
    assert!(!text.contains("### New tonight"), "{text}");
    let caused = |proven: bool| {
        let mut night = night();
        night.failures[0].cause = "Window 1 lost the reply.".into();
        night.failures[0].cause_proven = proven;
        summary(&night)
    };
    shows(&caused(true), &["Cause: Window 1 lost the reply."]);
    shows(&caused(false), &["May be: Window 1 lost the reply."]);
}

#[test]
fn the_page_is_complete_without_a_network_or_scripts() {
    let folder = ReportFolder::new("night");
    let files = write_all(&night(), &folder.0).unwrap();
    let names = ["index.html", "junit.xml", "summary.md", "badge.svg"];
    assert_eq!(files, names.map(|name| folder.0.join(name)));
    let page = std::fs::read_to_string(&files[0]).unwrap();
    assert_eq!(count(&page, "<script"), 0);
    assert_eq!(count(&page, "http://") + count(&page, "https://"), 0);
    assert!(
        page.contains("&lt;b&gt;small&lt;/b&gt;") && !page.contains("<b>small"),
        "names are escaped"
    );
    assert_eq!(count(&page, "<div class=\"cell o-"), 5);
    let outcomes = [
        "<b>✗</b> <span>anomaly<",
        "<b>?</b> <span>unknown<",
        "<b>!</b> <span>harness failed<",
        "<b>–</b> <span>not run<",
        "<b>✓</b> <span>as known<",
    ];
    shows(&page, &outcomes);
    let found = count(&page, "href=\"runs/r2/report.html\"");
    assert_eq!(found, 2, "from the matrix and from the failure");
    assert!(page.contains("first seen tonight, after 3 nights without"));
    let trend = page.split("id=\"trends\"").nth(1).unwrap();
    let marks = ["m-new", "m-expected", "m-unknown"].map(|mark| count(trend, mark));
    assert_eq!(marks, [1, 1, 1]);
    let told = "as expected in 1 of 3; double-grant (not known) seen in 1 of 3; stale-write (known) seen in 2 of 3";
    shows(trend, &[told]);
}
