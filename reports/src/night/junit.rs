//! JUnit XML, laid out as GitLab and Jenkins read it.
//!
//! Both take `classname` and `name` of a `testcase` for its identity, and GitLab ignores a second one of the same two.
//! Jenkins takes what is before the last dot of a class name for its package. GitLab shows the text inside `failure`,
//! `error` and `skipped` (<https://docs.gitlab.com/ci/testing/unit_test_reports/>), Jenkins the attribute `message` too
//! (its plugin's `CaseResult`): so both say it. `skipped`, `failures` and `errors` count the same in a suite and in all.

use super::{Attempt, Cell, Night, Outcome};
use crate::text;

/// The longest failure text of a cell, in characters: some CI pages refuse files of tens of megabytes.
const LONG: usize = 20_000;

/// The whole file.
pub fn junit(night: &Night) -> String {
    let mut suites: Vec<(&str, Vec<&Cell>)> = Vec::new();
    for cell in &night.cells {
        match suites.iter_mut().find(|(variant, _)| *variant == cell.variant) {
            Some((_, cells)) => cells.push(cell),
            None => suites.push((&cell.variant, vec![cell])),
        }
    }
    let all: Vec<&Cell> = night.cells.iter().collect();
    let mut head = vec![("name", format!("zooquake {}", night.campaign))];
    head.extend(counts(&all));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        tag("testsuites", &head, ">")
    );
    for (variant, cells) in suites {
        let mut head = vec![("name", variant.to_string())];
        head.extend(counts(&cells));
        // The plain form without a zone is the only one that the strictest of the schemas allows.
        head.push(("timestamp", night.begun.trim_end_matches('Z').to_string()));
        out.push_str(&format!("  {}\n", tag("testsuite", &head, ">")));
        cells.iter().for_each(|cell| out.push_str(&case(cell)));
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

fn counts(cells: &[&Cell]) -> [(&'static str, String); 5] {
    let count = |outcomes: &[Outcome]| cells.iter().filter(|c| outcomes.contains(&c.outcome)).count();
    let seconds: f64 = cells.iter().map(|cell| cell.seconds()).sum();
    [
        ("tests", cells.len().to_string()),
        ("failures", count(&[Outcome::New]).to_string()),
        ("errors", count(&[Outcome::Unknown, Outcome::Failed]).to_string()),
        ("skipped", count(&[Outcome::Skipped]).to_string()),
        ("time", format!("{seconds:.3}")),
    ]
}

fn case(cell: &Cell) -> String {
    let attributes = [
        ("classname", cell.variant.replace('/', ".")),
        ("name", format!("{}, seed {}", cell.faults, cell.seed)),
        ("time", format!("{:.3}", cell.seconds())),
    ];
    let mut body = match cell.outcome {
        Outcome::Expected => Vec::new(),
        Outcome::New => vec![failure(cell)],
        Outcome::Unknown => vec![problem(cell, "unknown", unknown)],
        Outcome::Failed => vec![problem(cell, "harness", |a| {
            flat(a.error.as_deref().unwrap_or_default())
        })],
        Outcome::Skipped => vec![skipped(cell)],
    };
    let told = output(cell);
    if !told.is_empty() {
        body.push(element("system-out", &[], &told));
    }
    if body.is_empty() {
        return format!("    {}\n", tag("testcase", &attributes, "/>"));
    }
    format!(
        "    {}\n      {}\n    </testcase>\n",
        tag("testcase", &attributes, ">"),
        body.join("\n      ")
    )
}

/// What is new, each with the reason, and how to see it again.
fn failure(cell: &Cell) -> String {
    let Some(attempt) = cell.decisive() else {
        return String::new();
    };
    let new: Vec<_> = attempt.anomalies.iter().filter(|seen| seen.is_new()).collect();
    let kinds: Vec<String> = new.iter().map(|s| format!("{} × {}", s.kind, s.count)).collect();
    let stories = new
        .iter()
        .map(|s| format!("{} × {} ({})\n{}", s.kind, s.count, s.property, flat(&s.why)));
    let stories: Vec<String> = stories.collect();
    let message = format!("{} under {}: {}", cell.variant, cell.faults, kinds.join(", "));
    let text = format!("{message}\n\n{}\n\n{}", stories.join("\n\n"), again(attempt));
    let kind = new.first().map_or("anomaly", |seen| seen.kind.as_str()).to_string();
    element("failure", &[("message", message), ("type", kind)], &clip(&text))
}

fn problem(cell: &Cell, kind: &str, why: impl Fn(&Attempt) -> String) -> String {
    let message = format!("{} under {}: {}", cell.variant, cell.faults, cell.outcome.words());
    let told = cell
        .attempts
        .iter()
        .map(|attempt| format!("seed {}: {}\n{}", attempt.seed, why(attempt), again(attempt)));
    let text = format!("{message}\n\n{}", told.collect::<Vec<_>>().join("\n\n"));
    let attributes = [("message", message), ("type", kind.to_string())];
    element("error", &attributes, &clip(&text))
}

fn unknown(attempt: &Attempt) -> String {
    match &attempt.error {
        Some(error) => format!("the harness failed: {}", flat(error)),
        None => attempt
            .reasons
            .iter()
            .map(|reason| flat(reason))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn skipped(cell: &Cell) -> String {
    let why = match cell.attempts.is_empty() {
        true => "not run: no time was left, or the night was stopped",
        false => "not decided: no time was left to run it again, or the night was stopped",
    };
    element("skipped", &[("message", why.to_string())], why)
}

/// What a reader of a passing or failing cell may want beside its failure: what was seen and is known, and where it is.
fn output(cell: &Cell) -> String {
    let Some(attempt) = cell.decisive() else {
        return String::new();
    };
    let mut lines = Vec::new();
    for seen in attempt.anomalies.iter().filter(|seen| !seen.is_new()) {
        let note = match seen.advisory {
            true => "advisory",
            false => "known and accepted",
        };
        lines.push(format!("{} × {} ({note})", seen.kind, seen.count));
    }
    if let Some(run) = &attempt.run {
        lines.push(format!("run: {}", flat(run)));
    }
    clip(&lines.join("\n"))
}

fn again(attempt: &Attempt) -> String {
    let run = attempt
        .run
        .as_ref()
        .map(|run| format!("report: {}/report.html\n", flat(run)));
    format!("{}to reproduce: {}", run.unwrap_or_default(), flat(&attempt.again))
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

/// Whether XML 1.0 allows the character at all, even escaped.
fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Text for the inside of an element or of an attribute in double quotes. Characters that XML does not allow are
/// replaced by U+FFFD, the sign for exactly that.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Written as they are, a reader would take them for spaces in an attribute, or lose the return in a text.
            '\n' | '\r' | '\t' => out.push_str(&format!("&#{};", c as u32)),
            c if allowed(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

/// An opening tag with attributes; `end` is `>` or `/>`.
pub fn tag(name: &str, attributes: &[(&str, String)], end: &str) -> String {
    let attribute = |(key, value): &(&str, String)| format!(" {key}=\"{}\"", escape(value));
    let attributes: String = attributes.iter().map(attribute).collect();
    format!("<{name}{attributes}{end}")
}

/// An element with text.
pub fn element(name: &str, attributes: &[(&str, String)], text: &str) -> String {
    // Line breaks in a text may stand as they are, which people who open the file prefer.
    let text = escape(text).replace("&#10;", "\n");
    format!("{}{text}</{name}>", tag(name, attributes, ">"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_and_nothing_forbidden_stays() {
        assert_eq!(escape("a<b>&\"c\" ]]>"), "a&lt;b&gt;&amp;&quot;c&quot; ]]&gt;");
        let found = escape("\u{0}\u{1b}[31m\u{b}\u{fffe}é🦓");
        assert_eq!(found, "\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}é🦓");
        assert_eq!(escape("a\r\n\tb"), "a&#13;&#10;&#9;b");
    }

    #[test]
    fn elements_have_attributes_and_text() {
        let text = element(
            "failure",
            &[("type", "stale-write".into()), ("message", "a\nb".into())],
            "c\nd",
        );
        assert_eq!(text, "<failure type=\"stale-write\" message=\"a&#10;b\">c\nd</failure>");
    }
}
