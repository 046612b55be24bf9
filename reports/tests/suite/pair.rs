//! What a reader of two runs side by side finds, and of what is copied for a ticket.

use crate::common::hostile::poisoned;
use crate::common::{ReportFolder, Run, between, data, results, shows};
use zooquake_checkers::Results;
use zooquake_history::Record;
use zooquake_reports::Extras;

/// The page of the two.
fn page(name: &str, [one, two]: [&Run; 2]) -> String {
    let folder = ReportFolder::new(name);
    let path = folder.0.join("report.html");
    fn side(run: &Run) -> (&Record, &Results, &Extras) {
        (&run.record, &run.results, &run.extras)
    }
    zooquake_reports::write_pair([side(one), side(two)], &path).unwrap();
    folder.page()
}

#[test]
fn what_differs_stands_side_by_side() {
    let (mut one, mut two) = (results::invalid(), results::valid());
    two.record.plan.seed += 1;
    two.extras.run_name = "another".into();
    one.results.windows[0].counts = false;
    one.results.windows[1].until = None;
    two.results.windows.pop();
    let page = page("pair", [&one, &two]);
    shows(
        &page,
        &[
            "A is invalid, B is valid",
            "another",
            "<td>seed</td><td>7</td><td>8</td>",
            "stale-write",
            "only in A",
            "never healed",
            "The whole run A",
            "The whole run B",
        ],
    );
    // The last window is A's alone, and no setting is shown in which they are the same.
    assert!(between(&page, "id=\"windows\"", "</section>").contains("<td>–</td></tr>"));
    assert!(!page.contains("<td>cluster.servers</td>"));
}

#[test]
fn of_one_run_twice_nothing_differs() {
    let mut run = results::valid();
    run.results.anomalies.clear();
    let page = page("pair-same", [&run, &run]);
    shows(
        &page,
        &[
            "Both are valid",
            "They are the same but for their faults.",
            "None in either.",
        ],
    );
}

#[test]
fn what_is_hostile_stays_text_beside_another() {
    let page = page("pair-poison", [&poisoned(), &poisoned()]);
    assert!(
        !page.contains("<img") && !page.contains("<script"),
        "markup from a value"
    );
    assert!(page.contains("&lt;/script&gt;"), "it is still shown");
}

/// What the page copies for a ticket.
fn ticket(run: &Run, name: &str) -> String {
    data(&run.page(name))["ticket"].as_str().unwrap().to_owned()
}

#[test]
fn a_ticket_says_what_broke_how_it_is_proved_and_how_to_see_it_again() {
    let told = ticket(&results::invalid(), "ticket");
    shows(
        &told,
        &[
            "**`lock/predecessor`**: invalid, `stale-write` breaks “mutual exclusion”.",
            "\n1. ",
            "**c3** ",
            "Faults asked for: kill, pause, partition; seed 7; run `20260301T021500-lock-predecessor-7`.",
            "\n    zooquake replay runs/20260301T021500-lock-predecessor-7\n",
        ],
    );
    let told = ticket(&results::unknown(), "ticket-unknown");
    shows(
        &told,
        &["**`lock/predecessor`**: unknown.", "- no counting window of kill"],
    );
    let told = ticket(&poisoned(), "ticket-poison");
    assert!(!told.contains(" <img"), "{told}");
}
