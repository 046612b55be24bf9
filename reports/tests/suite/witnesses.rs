//! A proof of many steps is summarized, and never cut so that an innocent step ends it.

use crate::common::{Run, between, results, without_scripts};

/// A run with a proof of so many steps.
fn long(steps: usize) -> Run {
    let mut run = results::invalid();
    let anomaly = &mut run.results.anomalies[0];
    anomaly.witness = (100..100 + steps).collect();
    run.spans();
    run
}

#[test]
fn a_long_proof_shows_its_beginning_its_end_and_how_many_are_between() {
    let page = without_scripts(&long(500).page("long-witness"));
    let first = between(&page, "<header", "</header>");
    let list = between(first, "<ol class=\"steps\">", "</ol>");
    assert!(list.contains("<li value=\"5\">") && !list.contains("<li value=\"6\">"));
    assert!(list.contains("<li class=\"gap\">… 491 more …</li><li value=\"497\">"));
    assert!(list.contains("<span class=\"no last\">500</span>"));
    assert_eq!(
        list.matches("no last").count(),
        1,
        "only the last step is marked as the last"
    );
    let picture = between(first, "<svg id=\"witness\"", "</svg>");
    assert!(picture.contains(">… 460 more …</text>"));
    assert_eq!(picture.matches("class=\"num last\"").count(), 1);
    assert!(picture.contains(">500</text>") && picture.contains(">20</text>") && !picture.contains(">21</text>"));
    let whole = between(&page, "<details class=\"anomaly\" id=\"a1\"", "</details>");
    assert!(whole.contains("<li value=\"20\">") && whole.contains("… 460 more …"));
}

#[test]
fn a_proof_that_fits_is_shown_whole() {
    for steps in [9, 10] {
        let first = long(steps).first_screen("whole-witness");
        assert_eq!(first.matches("<li value=").count(), steps);
        assert!(!first.contains("more …"));
    }
    assert!(long(11).first_screen("one-more").contains("… 2 more …"));
}

#[test]
fn the_shortest_proof_of_what_is_not_known_leads() {
    let mut run = long(30);
    let known = run.results.anomalies[0].clone();
    let new = |kind: &str, steps: usize| {
        let mut anomaly = known.clone();
        (anomaly.kind, anomaly.accepted) = (kind.to_owned(), false);
        anomaly.witness.truncate(steps);
        anomaly
    };
    run.results
        .anomalies
        .splice(0..0, [new("long-one", 20), new("short-one", 4)]);
    run.results.anomalies[2].witness.truncate(2);
    run.spans();
    assert!(run.first_screen("leads").contains("<b>short-one</b> breaks"));
}
