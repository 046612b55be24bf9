//! `zooquake list`

use super::args::ListOptions;
use super::exit::Code;
use crate::backends::sim;
use crate::faults::FAULTS;
use crate::planning::admission;
use crate::planning::names::{self, NamedWorkload};
use crate::terminal::{print_folded, print_wrapped};
use anyhow::Result;
use serde_json::{Value, json};
use zooquake_checkers::families::FAMILIES;
use zooquake_checkers::search::ModelKind;
use zooquake_checkers::{ensemble, recipe};
use zooquake_history::plan::Workload;

/// What the checkers are listed under that judge the ensemble in every run, whatever its family.
const EVERY_RUN: &str = "every run";

/// What the checkers are listed under that judge users' own recipes, whatever their family.
const OWN_RECIPE: &str = "own recipe";

/// Shows variants with what they promise and what they are known to break under, faults, checkers, and models of
/// histories.
///
/// # Errors
/// If the list cannot be written as JSON.
pub fn list(options: &ListOptions) -> Result<Code> {
    if options.models {
        model_rows().for_each(|row| print_folded(&row));
        return Ok(Code::Valid);
    }
    let variants: Vec<NamedWorkload> = names::all().collect();
    if options.json {
        crate::output::json(&as_json(&variants))?;
    } else {
        print(&variants);
    }
    Ok(Code::Valid)
}

/// A line for each name of a model: what `--model` takes, whether `generate` takes it, and what it is.
fn model_rows() -> impl Iterator<Item = String> {
    ModelKind::listed().map(|model| {
        let generated = if model.generated { "generated" } else { "checked" };
        format!("{:<16} {generated:<10} {}", model.to_string(), model.summary)
    })
}

fn as_json(variants: &[NamedWorkload]) -> Value {
    let variants: Vec<Value> = variants
        .iter()
        .map(|NamedWorkload { workload, subject }| {
            let simulated = admission::workload_on(&sim::KIND, workload, *subject).is_ok();
            let Workload { promise, accepted, .. } = workload;
            json!({ "name": workload.name(), "promise": promise, "accepted": accepted, "simulated": simulated })
        })
        .collect();
    let faults: Vec<Value> = FAULTS
        .iter()
        .map(|fault| json!({ "name": fault.kind.name, "summary": fault.kind.summary }))
        .collect();
    let checkers: Vec<Value> = FAMILIES
        .iter()
        .map(|family| json!({ "name": family.spec.name, "anomalies": family.checkers }))
        .chain([
            json!({ "name": OWN_RECIPE, "anomalies": recipe::CHECKERS }),
            json!({ "name": EVERY_RUN, "anomalies": ensemble::CHECKERS }),
        ])
        .collect();
    let models: Vec<Value> = ModelKind::listed()
            .map(|model| {
                json!({ "name": model.name, "size": model.size, "generated": model.generated, "summary": model.summary })
            })
            .collect();
    json!({ "variants": variants, "faults": faults, "checkers": checkers, "models": models })
}

fn print(variants: &[NamedWorkload]) {
    println!("Variants");
    for NamedWorkload { workload, subject } in variants {
        println!("  {}", workload.name());
        let remark = |text: &str| print_wrapped(&format!("      {text}"), 8);
        remark(&workload.promise);
        if let Err(why) = admission::workload_on(&sim::KIND, workload, *subject) {
            remark(&format!("on real ensembles only: {why}"));
        }
        for accepted in &workload.accepted {
            let (anomaly, faults) = (&accepted.anomaly, accepted.faults.join(", "));
            remark(&format!("known: {anomaly} under {faults} ({})", accepted.source));
        }
    }
    println!();
    println!("Faults (none: a run without)");
    for fault in FAULTS {
        row(fault.kind.name, fault.kind.summary, NAMES);
    }
    println!();
    println!("Checkers");
    for family in FAMILIES {
        row(family.spec.name, &family.checkers.join(", "), NAMES);
    }
    row(OWN_RECIPE, &recipe::CHECKERS.join(", "), NAMES);
    row(EVERY_RUN, &ensemble::CHECKERS.join(", "), NAMES);
    println!();
    println!("Models (of histories of others)");
    for (names, summary) in ModelKind::described() {
        row(&names, summary, MODELS);
    }
}

/// The columns of the names of faults and checkers, and of models.
const NAMES: usize = 10;
const MODELS: usize = 24;

/// A name of so many columns, and beside it what it stands for.
fn row(name: &str, words: &str, width: usize) {
    print_wrapped(&format!("  {name:<width$}  {words}"), width + 4);
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_checkers::generate::Object;

    #[test]
    fn options_named_model_take_what_the_rows_of_models_begin_with() {
        for row in model_rows() {
            let columns: Vec<&str> = row.split_whitespace().collect();
            assert!(columns[0].parse::<ModelKind>().is_ok(), "{row}");
            let generated = columns[0].parse::<Object>().is_ok();
            assert_eq!(columns[1], if generated { "generated" } else { "checked" }, "{row}");
            assert!(columns.len() > 2, "{row}");
        }
    }
}
