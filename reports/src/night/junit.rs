//! JUnit XML, laid out as GitLab and Jenkins read it.
//!
//! Both take `classname` and `name` of a `testcase` for its identity, and GitLab ignores a second one of the same two.
//! Jenkins takes what is before the last dot of a class name for its package. GitLab shows the text inside `failure`,
//! `error` and `skipped` (<https://docs.gitlab.com/ci/testing/unit_test_reports/>), Jenkins the attribute `message` too
//! (its plugin's `CaseResult`): so both hold it. `skipped`, `failures` and `errors` count the same in a suite and in
//! all.

use super::{AnomalyCount, Cell, CellOutcome, CellRun, Night};
use crate::{lists, text};
use anyhow::Result;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};
use std::time::Duration;

/// The longest failure text of a cell, in characters: some CI pages refuse files of tens of megabytes.
const LONG: usize = 20_000;

/// The whole file.
///
/// # Errors
/// If the report cannot be serialized.
pub fn junit(night: &Night) -> Result<String> {
    let mut report = Report::new(attribute(&format!("zooquake {}", night.campaign)));
    report.set_time(time(&night.cells.iter().collect::<Vec<_>>()));
    for (variant, cells) in lists::by_key(night.cells.iter().map(|cell| (&cell.variant, cell))) {
        report.add_test_suite(suite(night, variant, &cells));
    }
    report.add_test_suites(incomplete(night));
    Ok(report.to_string()?)
}

/// A suite of its own, because systems that read nothing but this file take what is skipped for no reason to look.
fn incomplete(night: &Night) -> Option<TestSuite> {
    let why: Vec<String> = night.gaps.iter().cloned().chain(night.too_few()).collect();
    if why.is_empty() {
        return None;
    }
    let why = why.join("\n");
    let status = non_success(NonSuccessKind::Error, "require", &clip(&why), &why);
    let mut case = TestCase::new("enough cells are run", status);
    case.set_classname("zooquake.night").set_time(Duration::ZERO);
    let mut suite = TestSuite::new("zooquake");
    suite.set_time(Duration::ZERO);
    let begun = attribute(night.begun.trim_end_matches('Z'));
    suite.extra.insert(XmlString::new("timestamp"), begun);
    suite.add_test_case(case);
    Some(suite)
}

fn suite(night: &Night, variant: &str, cells: &[&Cell]) -> TestSuite {
    let mut suite = TestSuite::new(attribute(variant));
    suite.set_time(time(cells));
    // The plain form without a zone is the only one that the strictest of the schemas allows.
    let begun = attribute(night.begun.trim_end_matches('Z'));
    suite.extra.insert(XmlString::new("timestamp"), begun);
    suite.add_test_cases(cells.iter().map(|cell| case(cell)));
    suite
}

/// The time that cells took together.
fn time(cells: &[&Cell]) -> Duration {
    Duration::try_from_secs_f64(cells.iter().map(|cell| cell.seconds()).sum()).unwrap_or_default()
}

fn case(cell: &Cell) -> TestCase {
    let status = match cell.outcome {
        CellOutcome::Expected => TestCaseStatus::success(),
        CellOutcome::New => failure(cell),
        CellOutcome::Unknown => problem(cell, "unknown", unknown),
        CellOutcome::Failed => problem(cell, "harness", |attempt| {
            flat(attempt.error.as_deref().unwrap_or_default())
        }),
        CellOutcome::Skipped => skipped(cell),
    };
    let mut case = TestCase::new(attribute(&format!("{}, {}", cell.faults, cell.seed_name())), status);
    case.set_classname(attribute(&cell.name.replace('/', ".")));
    case.set_time(time(&[cell]));
    case.add_property(("seed", cell.seed.to_string().as_str()));
    let output = output(cell);
    if !output.is_empty() {
        case.set_system_out(xml(&output));
    }
    case
}

/// What is new, each with the reason, and how to see it again.
fn failure(cell: &Cell) -> TestCaseStatus {
    let Some(attempt) = cell.decisive() else {
        return TestCaseStatus::non_success(NonSuccessKind::Failure);
    };
    let new: Vec<_> = attempt.anomalies.iter().filter(|seen| seen.is_new()).collect();
    let kinds = lists::joined(new.iter().map(|s| s.counted(&attempt.anomalies)), ", ");
    let stories = new.iter().map(|s| {
        let cause = match (s.cause.is_empty(), s.cause_proven) {
            (true, _) => String::new(),
            (false, true) => format!("\ncause: {}", flat(&s.cause)),
            (false, false) => format!("\nmay be: {}", flat(&s.cause)),
        };
        let counted = s.counted(&attempt.anomalies);
        format!("{counted} ({})\n{}{cause}", s.property, flat(&s.why))
    });
    let message = format!("{} under {}: {kinds}", cell.variant, cell.faults);
    let text = format!("{message}\n\n{}\n\n{}", lists::joined(stories, "\n\n"), again(attempt));
    let kind = new.first().map_or("anomaly", |seen| seen.kind.as_str());
    non_success(NonSuccessKind::Failure, kind, &message, &text)
}

fn non_success(kind: NonSuccessKind, name: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(attribute(message))
        .set_type(attribute(name))
        .set_description(xml(&clip(text)));
    status
}

fn problem(cell: &Cell, kind: &str, why: impl Fn(&CellRun) -> String) -> TestCaseStatus {
    let message = format!("{} under {}: {}", cell.variant, cell.faults, cell.outcome.words());
    let attempts = cell
        .attempts
        .iter()
        .map(|attempt| format!("seed {}: {}\n{}", attempt.seed, why(attempt), again(attempt)));
    let text = format!("{message}\n\n{}", lists::joined(attempts, "\n\n"));
    non_success(NonSuccessKind::Error, kind, &message, &text)
}

fn unknown(attempt: &CellRun) -> String {
    match &attempt.error {
        Some(error) => format!("the harness failed: {}", flat(error)),
        None => lists::joined(attempt.reasons.iter().map(|reason| flat(reason)), "\n"),
    }
}

fn skipped(cell: &Cell) -> TestCaseStatus {
    let why = match cell.attempts.is_empty() {
        true => "not run: no time was left, or the night was stopped",
        false => "not decided: no time was left to run it again, or the night was stopped",
    };
    let mut status = TestCaseStatus::skipped();
    status.set_message(why).set_description(why);
    status
}

/// What a reader of a passing or failing cell may want beside its failure: what was seen and is known, and where it is.
fn output(cell: &Cell) -> String {
    let Some(attempt) = cell.decisive() else {
        return String::new();
    };
    let mut lines = Vec::new();
    let known = |seen: &&AnomalyCount| !seen.is_new() && seen.root.is_none();
    for seen in attempt.anomalies.iter().filter(known) {
        let note = if seen.advisory {
            "advisory"
        } else {
            "known and accepted"
        };
        lines.push(format!("{} ({note})", seen.counted(&attempt.anomalies)));
    }
    if let Some(run) = &attempt.run {
        lines.push(format!("run: {}", flat(run)));
    }
    clip(&lines.join("\n"))
}

fn again(attempt: &CellRun) -> String {
    let report = |run: &String| format!("report: {}/report.html\n", flat(run));
    let report = attempt.run.as_ref().map(report).unwrap_or_default();
    format!("{report}to reproduce: {}", flat(&attempt.again))
}

/// Text from elsewhere on one line: a CI system takes a line that begins in its own way for a command.
fn flat(text: &str) -> String {
    text::clip(text, LONG)
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_string(),
    }
}

/// Text for an element. Characters that XML 1.0 does not allow, and controls that the library would drop, become
/// U+FFFD, the sign for exactly that; returns and tabs become spaces.
fn xml(text: &str) -> XmlString {
    let sound = |c| match c {
        '\r' | '\t' => ' ',
        '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'.. => c,
        _ => '\u{fffd}',
    };
    XmlString::new(text.chars().map(sound).collect::<String>())
}

/// Text for an attribute: on one line, because a reader takes a line break there for a space.
fn attribute(text: &str) -> XmlString {
    xml(&text.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(attribute(text)).set_description(xml(text));
        let mut suite = TestSuite::new("suite");
        suite.add_test_case(TestCase::new("case", status));
        let mut report = Report::new("report");
        report.add_test_suite(suite);
        let all = report.to_string().expect("a report");
        let (_, failure) = all.split_once("<failure ").expect("a failure");
        failure.split_once("</failure>").expect("its end").0.to_owned()
    }

    #[test]
    fn nothing_breaks_out_and_nothing_forbidden_stays() {
        let escaped = "a&lt;b&gt;&amp;&quot;c&quot; ]]&gt;";
        assert_eq!(written("a<b>&\"c\" ]]>"), format!("message=\"{escaped}\">{escaped}"));
        let sound = "\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}é🦓";
        let found = written("\u{0}\u{1b}[31m\u{b}\u{fffe}\u{9b}é🦓");
        assert_eq!(found, format!("message=\"{sound}\">{sound}"));
    }

    #[test]
    fn line_breaks_stay_in_texts_and_are_spaces_in_attributes() {
        assert_eq!(written("a\r\n\tb"), "message=\"a   b\">a \n b");
    }
}
