//! The report of a night: its JUnit file, its summary and its page.

use crate::common::{ReportFolder, between, says};
use zooquake_checkers::NotJudged;
use zooquake_reports::night::{
    AnomalyCount, Cell, CellOutcome, CellRun, Night, NightFailure, Trend, junit, summary, write_all,
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
        faults: "kill,pause".into(),
        seed,
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
            "new: double-grant of lock/a under kill,pause".into(),
            "1 cell is unknown".into(),
        ],
        code: 1,
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

/// How often a piece of text occurs.
fn count(text: &str, piece: &str) -> usize {
    text.matches(piece).count()
}

/// The elements of an XML text in order, each opening tag with its attributes; fails if they are not nested well.
fn elements(xml: &str) -> Vec<String> {
    let (mut open, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let body = xml.split_once("?>").expect("a declaration").1;
    for piece in body.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("every tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{xml}");
            continue;
        }
        all.push(tag.to_string());
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().expect("a name").to_string());
        }
    }
    assert_eq!(open, Vec::<String>::new(), "{xml}");
    all
}

#[test]
fn junit_is_nested_well_and_counts_what_it_has() {
    let xml = junit(&night()).unwrap();
    let elements = elements(&xml);
    let named = |name: &str| elements.iter().filter(|e| e.split(' ').next() == Some(name)).count();
    assert_eq!((named("testsuites"), named("testsuite"), named("testcase")), (1, 2, 5));
    assert_eq!((named("failure"), named("error"), named("skipped")), (1, 2, 1));
    let all = [
        "tests=\"5\"",
        "failures=\"1\"",
        "errors=\"2\"",
        "skipped=\"1\"",
        "time=\"62.500\"",
    ];
    says(&elements[0], &all);
    let queue = elements
        .iter()
        .find(|e| e.starts_with("testsuite name=\"queue/b\""))
        .unwrap();
    let begun = "timestamp=\"2026-11-20T01:00:00\"";
    says(
        queue,
        &["tests=\"2\"", "failures=\"0\"", "errors=\"1\"", "skipped=\"1\"", begun],
    );
    assert!(xml.chars().all(|c| c == '\n' || c >= ' '), "no control characters");
}

#[test]
fn junit_cases_are_told_apart_by_class_and_name() {
    let xml = junit(&night()).unwrap();
    let mut names: Vec<&str> = xml
        .lines()
        .filter(|l| l.contains("<testcase"))
        .map(|l| l.split(" time=").next().unwrap())
        .collect();
    assert!(
        names[0].contains("name=\"kill,pause, seed 1\" classname=\"lock.a\""),
        "{names:?}"
    );
    names.dedup();
    assert_eq!(names.len(), 5);
}

#[test]
fn junit_tells_the_story_of_a_broken_cell_and_how_to_see_it_again() {
    let xml = junit(&night()).unwrap();
    let failure = between(&xml, "<failure", "</failure>");
    let head = " message=\"lock/a under kill,pause: double-grant × 2\" type=\"double-grant\">";
    assert!(failure.starts_with(head), "{failure}");
    let story = "c5 was granted at 3.4 s while c2 &lt;held&gt; &amp; &quot;wrote&quot;";
    let again = "report: runs/r2/report.html\nto reproduce: zooquake run lock/a --seed 2";
    says(failure, &[story, again]);
    assert!(
        !failure.contains("stale-write"),
        "what is known is no failure: {failure}"
    );
    assert!(xml.contains("stale-write × 2 (known and accepted)"), "but it is told");
    let unknown = xml.split("<error").nth(1).unwrap();
    says(unknown, &["seed 3: no window of kill counts", "seed 9:"]);
}

#[test]
fn the_cause_of_a_failure_and_what_follows_stand_below_it() {
    let mut night = night();
    let page = |night: &Night| {
        let folder = ReportFolder::new("night-cause");
        let files = write_all(night, &folder.0).unwrap();
        let page = std::fs::read_to_string(&files[0]).unwrap();
        between(&page, "id=\"failures\"", "</section>").to_owned()
    };
    let bare = page(&night);
    assert!(!bare.contains("class=\"cause\"") && !bare.contains("From it follow"));
    night.failures[0].cause = "Window 1 <lost> the reply.".into();
    night.failures[0].followers = "lost-wakeup × 5".into();
    let follow = "<p class=\"facts\">From it follow: lost-wakeup × 5</p>";
    for (proven, words) in [(true, "Cause:"), (false, "May be:")] {
        night.failures[0].cause_proven = proven;
        let cause = format!("<p class=\"cause\"><b>{words}</b> Window 1 &lt;lost&gt; the reply.</p>");
        let told = page(&night);
        let (_, below) = told.split_once("double-grant</p>").expect("the reason");
        assert!(below.starts_with(&format!("{cause}{follow}")), "{below}");
    }
}

#[test]
fn junit_names_a_cause_as_sure_as_it_is() {
    let mut night = night();
    night.cells[1].attempts[0].anomalies[0].cause = "Window 1 lost the reply.".into();
    for (proven, words) in [(true, "\ncause: Window 1"), (false, "\nmay be: Window 1")] {
        night.cells[1].attempts[0].anomalies[0].cause_proven = proven;
        says(&junit(&night).unwrap(), &[words]);
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
    says(&summary(&night), &["(not judged: stale-write)"]);
    let folder = ReportFolder::new("not-judged");
    let files = write_all(&night, &folder.0).unwrap();
    let page = std::fs::read_to_string(&files[0]).unwrap();
    let chip = r#"<span class="seen known" title="c1 cannot give &lt;it&gt;">stale-write <i>not judged</i></span>"#;
    assert!(page.contains(chip));
}

#[test]
fn the_summary_is_short_and_says_what_is_new_first() {
    let text = summary(&night());
    let at = |piece: &str| text.find(piece).unwrap_or_else(|| panic!("{piece:?} is not in {text}"));
    assert!(
        at("double-grant of lock/a") < at("### New anomalies") && at("### New anomalies") < at("### Without a verdict")
    );
    let row = "| lock/a | ✓ stale-write (known)<br>✗ **double-grant**, stale-write (known)<br>? |";
    says(&text, &[row, "| queue/b | !<br>– |", "`zooquake run lock/a --seed 2`"]);
    assert!(!text.contains("<b>"), "{text}");
    let mut long = night();
    long.cells = (0..5_000)
        .map(|seed| cell("lock/a", seed, CellOutcome::Unknown, long.cells[2].attempts.clone()))
        .collect();
    assert!(summary(&long).len() < 70_000);
}

#[test]
fn the_page_is_complete_without_a_network_or_scripts() {
    let folder = ReportFolder::new("night");
    let files = write_all(&night(), &folder.0).unwrap();
    let names = ["index.html", "junit.xml", "summary.md"];
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
        "<b>✗</b> <span>new anomaly<",
        "<b>?</b> <span>unknown<",
        "<b>!</b> <span>harness failed<",
        "<b>–</b> <span>not run<",
        "<b>✓</b> <span>as known<",
    ];
    says(&page, &outcomes);
    let found = count(&page, "href=\"runs/r2/report.html\"");
    assert_eq!(found, 2, "from the matrix and from the failure");
    assert!(page.contains("first seen tonight, after 3 nights without"));
    let trend = page.split("id=\"trends\"").nth(1).unwrap();
    let marks = ["m-new", "m-expected", "m-unknown"].map(|mark| count(trend, mark));
    assert_eq!(marks, [1, 1, 1]);
    let told = "as expected in 1 of 3; double-grant (new) seen in 1 of 3; stale-write (known) seen in 2 of 3";
    says(trend, &[told]);
}
