//! The first screen as Markdown, to be pasted into a ticket.

use super::first_screen::commands;
use crate::model::{DrawnWitness, RunModel, listed};
use crate::text;

/// How many steps are listed.
const STEPS: usize = 30;

/// What broke, when, how it is proved, and how to see it again; of a run without an anomaly the verdict, and what it
/// rests on.
pub fn markdown(model: &RunModel<'_>) -> String {
    let plan = &model.record.plan;
    let mut out = format!("**{}**: {}", code(&plan.workload.name()), model.results.verdict);
    let headline = model.headline().map(|root| root.anomaly);
    if let Some(anomaly) = headline {
        out += &format!(", {} breaks “{}”", code(&anomaly.kind), plain(&anomaly.property, 80));
    }
    out += ".\n\n";
    if let Some(anomaly) = headline {
        out += &format!("{}\n\n", plain(&anomaly.why, 900));
        if let Some(cause) = anomaly.cause.as_ref().filter(|cause| !cause.sentence.is_empty()) {
            let kind = if cause.proven { "Cause:" } else { "May be:" };
            out += &format!("{kind} {}\n\n", plain(&cause.sentence, 600));
        }
        for (missing, step) in listed(&DrawnWitness::new(model, anomaly), STEPS) {
            if missing > 0 {
                out += &format!("\n… {} more …\n\n", text::grouped(missing));
            }
            let (who, what) = (plain(&step.who, 24), plain(&step.what, 320));
            out += &format!(
                "{}. {} **{who}** {what} (event {})\n",
                step.number,
                text::moment(step.time),
                step.index
            );
        }
        out.push('\n');
    } else {
        let reasons = model
            .results
            .reasons
            .iter()
            .filter(|reason| !reason.starts_with("note: "));
        out.extend(reasons.take(STEPS).map(|reason| format!("- {}\n", plain(reason, 400))));
    }
    let on = if plan.on.is_real() {
        ""
    } else {
        ", on a simulated ensemble"
    };
    let faults = match plan.faults.as_slice() {
        [] => "none".to_owned(),
        faults => faults.join(", "),
    };
    out += &format!(
        "\nFaults asked for: {}; seed {}; run {}{on}.\n",
        plain(&faults, 200),
        plan.seed,
        code(&model.extras.run_name)
    );
    // One that would have to be changed to be shown does something else.
    let lines = commands(model).filter(|line| text::harmless(line));
    let lines: String = lines.map(|line| format!("    {line}\n")).collect();
    if !lines.is_empty() {
        out += &format!("\nTo see it again:\n\n{lines}");
    }
    out
}

/// Text that Markdown shows as it is.
fn plain(written: &str, most: usize) -> String {
    let mut out = String::new();
    for c in text::clip(written, most).chars() {
        if "\\`*_[]<>#|!~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A name, as code.
fn code(name: &str) -> String {
    let name: String = text::clip(name, 120).chars().filter(|c| *c != '`').collect();
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::{code, plain};

    #[test]
    fn what_comes_from_a_history_stays_text() {
        assert_eq!(plain("a_b <img> [x](y)\n# c", 80), "a\\_b \\<img\\> \\[x\\](y) \\# c");
        assert_eq!(code("a`b\n"), "`ab `");
    }
}
