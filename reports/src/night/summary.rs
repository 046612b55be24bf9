//! A summary in Markdown that fits the page of a GitHub job: what is new tonight, what is still there, then the matrix.

use super::{Cell, CellOutcome, Night, NightFailure, Standing};
use crate::text::in_markdown;
use crate::{lists, text};
use std::collections::BTreeSet;

/// The longest summary, in bytes: GitHub refuses more than a megabyte.
const LONG: usize = 60_000;
/// The most failures that are listed.
const FAILURES: usize = 20;
/// The most cells that are named because they were not run.
const SKIPPED: usize = 40;

/// The whole text.
pub fn summary(night: &Night) -> String {
    let shard = night.shard.as_ref().map(|shard| format!(", part {shard}"));
    let conclusion = night.conclusion.iter().map(|line| in_markdown(line));
    let mut out = format!(
        "## zooquake {}: {}{}\n\n{}\n\n",
        in_markdown(&night.campaign),
        in_markdown(&night.name),
        shard.unwrap_or_default(),
        lists::joined(conclusion, "  \n"),
    );
    out.push_str(&failures("New tonight", &night.failures_of(Standing::NewTonight)));
    out.push_str(&failures("Still there", &night.failures_of(Standing::StillThere)));
    out.push_str(&undecided(night));
    out.push_str(&skipped(night));
    out.push_str(&matrix(night));
    out.push_str("✓ as expected, ✗ anomaly, ? unknown, ! the harness failed, – not run\n");
    if !night.remarks.is_empty() {
        out.push_str("\n### Remarks\n\n");
        out.extend(night.remarks.iter().map(|line| format!("- {}\n", in_markdown(line))));
    }
    cut(out)
}

/// A section of failures; empty without any.
fn failures(head: &str, failures: &[&NightFailure]) -> String {
    if failures.is_empty() {
        return String::new();
    }
    let listed: String = failures.iter().take(FAILURES).map(|failed| failure(failed)).collect();
    let more = text::if_any(failures.len().saturating_sub(FAILURES), |more| {
        format!("- and {more} more, in index.html\n")
    });
    format!("### {head}\n\n{listed}{more}\n")
}

fn failure(failure: &NightFailure) -> String {
    let cause = match (failure.cause.as_str(), failure.cause_proven) {
        ("", _) => String::new(),
        (cause, true) => format!("  \n  Cause: {}", in_markdown(&text::clip(cause, 600))),
        (cause, false) => format!("  \n  May be: {}", in_markdown(&text::clip(cause, 600))),
    };
    format!(
        "- **{}** breaks “{}”: {} under {} × {} ({})  \n  {}{cause}  \n  {}\n",
        in_markdown(&failure.anomaly),
        in_markdown(&failure.property),
        in_markdown(&failure.variant),
        in_markdown(&failure.faults),
        failure.seeds.len(),
        in_markdown(&failure.since),
        in_markdown(&text::clip(&failure.why, 600)),
        code(&failure.again),
    )
}

/// Code as it is: the fence has more backticks in a row than the code.
fn code(line: &str) -> String {
    let line = text::clip(line, 2_000);
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{line}{space}{fence}")
}

/// Cells without a verdict, with the reason.
fn undecided(night: &Night) -> String {
    let mut out = String::new();
    for cell in night.cells_with(&[CellOutcome::Unknown, CellOutcome::Failed]) {
        let Some(attempt) = cell.decisive() else { continue };
        let why = attempt.error.as_ref().or(attempt.reasons.first());
        out.push_str(&format!(
            "- {} under {}, {}: {} ({})\n",
            in_markdown(&cell.variant),
            in_markdown(&cell.faults),
            cell.seed_in_full(),
            cell.outcome.words(),
            in_markdown(&text::clip(why.map_or("no reason was given", String::as_str), 300))
        ));
    }
    match out.is_empty() {
        true => out,
        false => format!("### Without a verdict\n\n{out}\n"),
    }
}

/// Cells that were not run, by name.
fn skipped(night: &Night) -> String {
    let cells = night.cells_with(&[CellOutcome::Skipped]).into_iter();
    let names: Vec<String> = cells
        .map(|cell| format!("{} under {}, {}", cell.variant, cell.faults, cell.seed_in_full()))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let named: Vec<String> = names.iter().take(SKIPPED).map(|name| in_markdown(name)).collect();
    let more = names.len() - named.len();
    let more = text::if_any(more, |more| format!("; and {more} more, in index.html"));
    format!(
        "### Not run ({} of {})\n\n{}{more}\n\n",
        names.len(),
        night.cells.len(),
        named.join("; ")
    )
}

fn matrix(night: &Night) -> String {
    let (variants, faults) = super::page::axes(night);
    let heads: String = faults.iter().map(|f| format!(" {} |", in_markdown(f))).collect();
    let mut out = format!("| |{heads}\n|---|{}\n", "---|".repeat(faults.len()));
    for variant in variants {
        out.push_str(&format!("| {} |", in_markdown(variant)));
        for list in &faults {
            let marks = night.cells_at(variant, list).map(mark);
            out.push_str(&format!(" {} |", lists::joined(marks, "<br>")));
        }
        out.push('\n');
    }
    out + "\n"
}

fn mark(cell: &Cell) -> String {
    let seen = cell.decisive().map(|attempt| attempt.anomalies.iter());
    let kinds = seen
        .into_iter()
        .flatten()
        .filter(|seen| !seen.advisory && seen.root.is_none())
        .map(|seen| match seen.accepted {
            true => format!("{} (known)", in_markdown(&seen.kind)),
            false => format!("**{}**", in_markdown(&seen.kind)),
        });
    let left = cell.decisive().into_iter().flat_map(|attempt| &attempt.not_judged);
    let left: BTreeSet<&str> = left.map(|left| left.check.as_str()).collect();
    let left = match left.is_empty() {
        true => String::new(),
        false => format!(" (not judged: {})", in_markdown(&lists::joined(left, ", "))),
    };
    format!("{} {}{left}", cell.outcome.sign(), lists::joined(kinds, ", "))
        .trim_end()
        .to_string()
}

fn cut(mut out: String) -> String {
    if out.len() > LONG {
        let end = (0..=LONG).rfind(|end| out.is_char_boundary(*end)).unwrap_or(0);
        out.truncate(end);
        out.push_str("\n\n… the rest is in index.html\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_stays_as_it_is() {
        assert_eq!(code("a 'b'"), "`a 'b'`");
        assert_eq!(code("'`a``b'"), "``` '`a``b' ```");
    }
}
