//! The JUnit file of a night.

use super::night;
use crate::common::{between, shows};
use zooquake_reports::night::{junit, summary};

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
    shows(&elements[0], &all);
    let queue = elements
        .iter()
        .find(|e| e.starts_with("testsuite name=\"queue/b\""))
        .unwrap();
    let begun = "timestamp=\"2026-11-20T01:00:00\"";
    shows(
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
fn a_drawn_seed_has_the_same_name_every_night() {
    let mut night = night();
    for cell in &mut night.cells {
        (cell.ordinal, cell.seed) = (Some(cell.seed), cell.seed + 2_026_112_000);
    }
    let xml = junit(&night).unwrap();
    let case = between(&xml, "name=\"kill,pause, drawn seed 2\"", "</testcase>");
    shows(case, &["<property name=\"seed\" value=\"2026112002\"/>"]);
    shows(&summary(&night), &["drawn seed 3 (2026112003): unknown"]);
}

#[test]
fn what_was_not_run_is_stated_and_too_little_is_an_error() {
    let mut night = night();
    night.required = 4;
    shows(
        &summary(&night),
        &["### Not run (1 of 5)\n\nqueue/b under kill,pause, seed 5\n"],
    );
    let xml = junit(&night).unwrap();
    shows(&xml, &["skipped=\"1\"", "not run: no time was left"]);
    assert!(!xml.contains("enough cells are run"), "four of five were run");
    night.required = 5;
    let xml = junit(&night).unwrap();
    elements(&xml);
    let said = "only 4 of 5 cells were run, and at least 5 must be (--require)";
    let case = between(&xml, "enough cells are run", "</testcase>");
    shows(case, &["<error message=", said]);
    shows(&xml, &["tests=\"6\"", "errors=\"3\""]);
    (night.required, night.gaps) = (0, vec!["part 2/3 is missing: 4 cells not run".into()]);
    shows(
        &junit(&night).unwrap(),
        &["<error message=\"part 2/3 is missing: 4 cells not run\""],
    );
}

#[test]
fn junit_tells_the_story_of_a_broken_cell_and_how_to_see_it_again() {
    let xml = junit(&night()).unwrap();
    let failure = between(&xml, "<failure", "</failure>");
    let head = " message=\"lock/a under kill,pause: double-grant × 2\" type=\"double-grant\">";
    assert!(failure.starts_with(head), "{failure}");
    let story = "c5 was granted at 3.4 s while c2 &lt;held&gt; &amp; &quot;wrote&quot;";
    let again = "report: runs/r2/report.html\nto reproduce: zooquake run lock/a --seed 2";
    shows(failure, &[story, again]);
    assert!(
        !failure.contains("stale-write"),
        "what is known is no failure: {failure}"
    );
    assert!(xml.contains("stale-write × 2 (known and accepted)"), "but it is told");
    let unknown = xml.split("<error").nth(1).unwrap();
    shows(unknown, &["seed 3: no window of kill counts", "seed 9:"]);
}

#[test]
fn junit_names_a_cause_as_sure_as_it_is() {
    let mut night = night();
    night.cells[1].attempts[0].anomalies[0].cause = "Window 1 lost the reply.".into();
    for (proven, words) in [(true, "\ncause: Window 1"), (false, "\nmay be: Window 1")] {
        night.cells[1].attempts[0].anomalies[0].cause_proven = proven;
        shows(&junit(&night).unwrap(), &[words]);
    }
}
