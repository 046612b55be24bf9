//! Verdicts for people and for machines.

use super::CheckedInput;
use crate::cli::exit::Usage;
use crate::cli::run::print_summary;
use crate::terminal::line;
use crate::version;
use serde_json::{Value, json};
use std::path::Path;
use zooquake_checkers::Results;

/// Prints a verdict with what was found, or why there is none.
pub fn print(input: &Path, checked: &Result<CheckedInput, Usage>) {
    print!("{}: ", line(&input.display().to_string()));
    match checked {
        Ok(checked) => {
            print_summary(&checked.results);
            if let Some(remark) = other_recorder(&checked.results) {
                println!("{}", line(&remark));
            }
        }
        Err(Usage(why)) => println!("no verdict: {}", line(why)),
    }
}

/// That another zooquake recorded the run than this one, if it certainly did.
fn other_recorder(results: &Results) -> Option<String> {
    let provenance = results.provenance.as_ref()?;
    let other = provenance.differs_from(version::NUMBER, version::COMMIT);
    let recorder = provenance.recorder().filter(|_| other)?;
    Some(format!(
        "recorded by zooquake {recorder}, checked by zooquake {}",
        version::FULL
    ))
}

/// Prints to stderr what could not be written.
pub fn warn(input: &Path, checked: &Result<CheckedInput, Usage>) {
    if let Ok(CheckedInput {
        unwritten: Some(error), ..
    }) = checked
    {
        let what = if input.is_dir() {
            "results.json and the report"
        } else {
            "the page"
        };
        eprintln!(
            "zooquake: warning: {what} of {} could not be written: {error:#}",
            input.display()
        );
    }
}

/// The same for machines.
pub fn as_json(input: &Path, checked: &Result<CheckedInput, Usage>) -> Value {
    let CheckedInput {
        results,
        parse_ms,
        check_ms,
        events,
        unwritten,
        ..
    } = match checked {
        Ok(checked) => checked,
        Err(Usage(why)) => return json!({ "path": input, "verdict": null, "error": why }),
    };
    let mut one = json!({
        "path": input,
        "verdict": results.verdict,
        "anomalies": results.anomalies,
        "reasons": results.reasons,
        "checked_by": version::FULL,
        "stats": { "events": events, "parse_ms": parse_ms, "check_ms": check_ms },
    });
    if let Some(model) = &results.model {
        one["model"] = json!(model);
        one["model_inferred"] = json!(true);
    }
    if !results.not_judged.is_empty() {
        one["not_judged"] = json!(results.not_judged);
    }
    if let Some(provenance) = &results.provenance {
        one["provenance"] = json!(provenance);
    }
    if let Some(error) = unwritten {
        one["unwritten"] = json!(format!("{error:#}"));
    }
    one
}
