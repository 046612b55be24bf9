//! The index of a folder of runs.

use crate::common::hostile::POISON;
use crate::common::{ReportFolder, index, shows, without_scripts};
use zooquake_reports::index::{RunEntry, write};

fn page(name: &str, runs: Vec<RunEntry>) -> String {
    let folder = ReportFolder::new(name);
    let file = folder.0.join("index.html");
    write("runs", runs, &file).unwrap();
    std::fs::read_to_string(file).unwrap()
}

/// The rows of the table.
fn rows(page: &str) -> Vec<&str> {
    page.split("<tr data-").skip(1).collect()
}

#[test]
fn runs_are_listed_newest_first_with_all_that_tells_them_apart() {
    let page = without_scripts(&page("index-list", index::runs()));
    assert!(page.contains("6 runs: 1 valid, 2 invalid (1 with new anomalies), 1 unknown, 2 not checked."));
    let rows = rows(&page);
    let seeds = ["8", "9", "11", "10", "7", ""];
    for (row, seed) in rows.iter().zip(seeds) {
        assert!(
            row.contains(&format!("data-value=\"{seed}\">{seed}</td>")),
            "not {seed}: {row}"
        );
    }
    let all = [
        "2026-03-03 10:00:00",
        "<b>lock/fenced</b>",
        "<td>drop-reply</td>",
        "✗ invalid",
        "<span class=\"badge violation\">stale-write × 1 <i>new</i></span>",
        "<span class=\"badge advisory\">stale-holder × 1 <i>advisory</i></span>",
        "5 of 6",
        "60.0 s",
        "<a href=\"./20260303T100000-lock-fenced-8/report.html\">",
    ];
    shows(rows[0], &all);
    assert!(rows[4].contains("stale-write × 1 <i>known</i>"));
    assert!(
        rows[2].contains("<small>no counting window of kill"),
        "why it is unknown: {}",
        rows[2]
    );
}

#[test]
fn runs_without_results_are_listed_as_such() {
    let page = page("index-unchecked", index::runs());
    let rows = rows(&page);
    assert!(rows[1].contains("not checked") && rows[1].contains("no results: `zooquake check` makes them"));
    assert!(!rows[1].contains("<a "), "there is no report to go to");
    assert!(rows[5].contains("reading plan.json: expected value"));
}

#[test]
fn hostile_runs_are_only_text() {
    let mut runs = index::runs();
    for run in &mut runs {
        run.name = format!("{POISON}/../..");
        run.trouble.push(POISON.repeat(10_000));
        let plan = run.plan.get_or_insert_default();
        plan.faults.push(POISON.into());
        plan.workload.variant = POISON.into();
        plan.time_ms = u64::MAX;
        run.results
            .iter_mut()
            .flat_map(|r| &mut r.anomalies)
            .for_each(|a| a.kind = POISON.into());
    }
    let page = page("index-poison", runs);
    assert!(page.len() < 100_000, "{} bytes", page.len());
    assert!(!page.contains("<img") && page.contains("&lt;img"));
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(
        page.contains("href=\"./%3C%2Fscript%3E"),
        "its address is one name, however it is called"
    );
    let mut addresses = page.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    assert!(addresses.all(|to| !to.contains("/..")), "nor does it lead elsewhere");
}
