//! What an anomaly comes from: in words, in its picture, and as the order of the page.

use crate::common::build::{Builder, MS};
use crate::common::{Run, between, families, results, without_scripts};
use zooquake_checkers::Cause;

/// A transaction that stays undecided: its coordinator was killed at 1 s, and its sites wait from 20 s on.
fn blocked(proven: bool) -> Run {
    let mut b = Builder::default();
    b.tell(
        "500-600 c1 begin transaction=t2 -> ok transaction=t2
         1000 c1 note exit incarnation=1 @death
         20000 c2 invoke decided transaction=t2 @asks
         30000 c3 invoke decided transaction=t2 @too",
    );
    b.fault(1, "kill", "c1", 1000 * MS, 3000 * MS);
    b.phase(31_000 * MS, "audit");
    let mut run = families::invalid("commit", "coordinated", "blocked-transaction", b);
    let anomaly = &mut run.results.anomalies[0];
    let death = anomaly.witness.remove(0);
    anomaly.cause = Some(Cause {
        proven,
        window: Some(1),
        events: vec![death],
        sentence: "c1 died <after> the votes.".into(),
        ..Cause::default()
    });
    run.spans();
    run
}

/// The places of the paths of a class.
fn paths<'p>(picture: &'p str, class: &str) -> Vec<&'p str> {
    let begin = format!("<path class=\"{class}\" d=\"");
    let parts = picture.split(begin.as_str()).skip(1);
    parts.map(|part| part.split_once('"').expect("an end").0).collect()
}

#[test]
fn a_cause_is_a_sentence_and_an_arrow_in_a_picture_that_spans_it() {
    for (proven, words, class) in [(true, "Cause:", "cause"), (false, "May be:", "cause maybe")] {
        let first = blocked(proven).first_screen("cause");
        assert!(first.contains(&format!(
            "<p class=\"cause\"><b>{words}</b> c1 died &lt;after&gt; the votes.</p>"
        )));
        let picture = between(&first, "<svg id=\"witness\"", "</svg>");
        assert_eq!(paths(picture, class).len(), 1, "one line");
        assert_eq!(paths(picture, &format!("{class} head")).len(), 1, "one head");
        assert!(
            picture.contains(">kill c1 1.0–3.0 s</text>"),
            "the kill at 1 s is in the picture, since the empty seconds after it are left out: {picture}"
        );
        assert!(picture.contains(">c1</text>"), "so is the row of who died");
        assert!(first.contains("class=\"key cause\""));
        assert_eq!(
            picture.matches("class=\"break\"").count(),
            2,
            "3 to 20 s and 20 to 30 s: {picture}"
        );
        assert!(picture.contains(">0</text>"), "the number of the cause");
        let steps = between(&first, "<ol class=\"steps\">", "</ol>");
        assert!(
            steps.starts_with("<li value=\"0\">") && steps.contains("process has ended"),
            "the cause is the first step: {steps}"
        );
    }
}

#[test]
fn a_cause_that_is_a_step_of_the_proof_is_no_step_of_its_own() {
    let mut run = blocked(true);
    let anomaly = &mut run.results.anomalies[0];
    let asked = anomaly.witness[0];
    let cause = anomaly.cause.as_mut().expect("a cause");
    (cause.events, cause.window) = (vec![asked], None);
    let first = run.first_screen("cause-in-proof");
    assert!(!first.contains("<li value=\"0\">") && !first.contains("cause origin"));
}

#[test]
fn the_row_of_who_lost_its_session_shows_when() {
    let mut b = Builder::default();
    b.tell(
        "500 c1 note session session=0x1 state=connected
         900 c1 invoke acquire grant=g1 @asks
         1500 c1 note session session=0x1 state=expired
         3200 c1 ok acquire grant=g1 @granted",
    );
    let run = families::invalid("lock", "predecessor", "lost-wakeup", b);
    let first = run.first_screen("expiry");
    let picture = between(&first, "<svg id=\"witness\"", "</svg>");
    assert_eq!(paths(picture, "expiry").len(), 1, "{picture}");
    assert!(first.contains("its session was expired by the ensemble"));
}

#[test]
fn without_events_the_arrow_begins_where_the_fault_struck() {
    let mut run = blocked(true);
    let origin = |run: &Run| {
        let first = run.first_screen("struck");
        let picture = between(&first, "<svg id=\"witness\"", "</svg>");
        let place = |class: &str| {
            let circle = between(picture, &format!("<circle class=\"{class}\""), "/>");
            (
                between(circle, "cx=\"", "\"").to_owned(),
                between(circle, "cy=\"", "\"").to_owned(),
            )
        };
        assert_eq!(place("num"), place("cause origin"), "the 0 is where the arrow begins");
        place("cause origin").0
    };
    let death = origin(&run).parse::<f64>().expect("a place");
    run.results.anomalies[0].cause.as_mut().expect("a cause").events.clear();
    let strike = origin(&run).parse::<f64>().expect("a place");
    assert!(
        strike < death && death - strike < 2.0,
        "12 ms before: {strike}, {death}"
    );
}

#[test]
fn a_cause_of_nothing_that_is_there_is_only_a_sentence() {
    let mut run = blocked(true);
    let cause = run.results.anomalies[0].cause.as_mut().expect("a cause");
    (cause.events, cause.window, cause.root) = (vec![usize::MAX], Some(99), Some(usize::MAX));
    let first = run.first_screen("no-such-cause");
    assert!(first.contains("<p class=\"cause\">") && !first.contains("cause origin"));
}

#[test]
fn what_follows_is_below_its_root_folded_and_counted() {
    let mut run = results::invalid();
    let mut follower = run.results.anomalies[0].clone();
    follower.cause = Some(Cause {
        root: Some(0),
        ..Cause::default()
    });
    run.results.anomalies.insert(1, follower.clone());
    run.results.anomalies.insert(2, follower);
    let page = without_scripts(&run.page("followers"));
    let first = between(&page, "<header", "</header>");
    assert!(first.contains("<a href=\"#a1\">and 2 that follow from it</a>."));
    let section = between(&page, "<h2>Anomalies (4)</h2>", "</section>");
    let below = section.split_once("<details class=\"followers\">").expect("folded").1;
    assert!(below.starts_with("<summary>and 2 that follow from it</summary><details class=\"anomaly\" id=\"a2\">"));
    assert!(
        below.contains("<details class=\"anomaly\" id=\"a3\"><summary>"),
        "folded"
    );
    assert!(
        section.contains("<details class=\"anomaly\" id=\"a4\" open>"),
        "the other root"
    );
}
