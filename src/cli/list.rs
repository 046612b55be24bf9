//! `zooquake list`

use super::args::ListOptions;
use super::exit::Code;
use crate::backends::sim;
use crate::faults::FAULTS;
use crate::planning::names;
use crate::planning::support;
use anyhow::Result;
use serde_json::{Value, json};
use zooquake_checkers::families::FAMILIES;
use zooquake_checkers::{ensemble, recipe};
use zooquake_history::plan::Workload;

/// What the checkers are listed under that judge the ensemble in every run, whatever its family.
const EVERY_RUN: &str = "every run";

/// What the checkers are listed under that judge users' own recipes, whatever their family.
const OWN_RECIPE: &str = "own recipe";

/// Shows variants with what they promise and what they are known to break under, faults, and checkers.
///
/// # Errors
/// If the list cannot be written as JSON.
pub fn list(options: &ListOptions) -> Result<Code> {
    let variants = names::workloads();
    if options.json {
        let variants: Vec<Value> = variants
            .iter()
            .map(|workload| {
                let simulated = support::workload_on(&sim::KIND, workload).is_ok();
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
        let all = json!({ "variants": variants, "faults": faults, "checkers": checkers });
        crate::output::json(&all)?;
        return Ok(Code::Valid);
    }
    println!("Variants");
    for workload in &variants {
        println!("  {}", workload.name());
        println!("      {}", workload.promise);
        if let Err(why) = support::workload_on(&sim::KIND, workload) {
            println!("      on real ensembles only: {why}");
        }
        for accepted in &workload.accepted {
            println!(
                "      known: {} under {} ({})",
                accepted.anomaly,
                accepted.faults.join(", "),
                accepted.source
            );
        }
    }
    println!();
    println!("Faults (none: a run without)");
    for fault in FAULTS {
        println!("  {:<10} {}", fault.kind.name, fault.kind.summary);
    }
    println!();
    println!("Checkers");
    for family in FAMILIES {
        println!("  {:<10} {}", family.spec.name, family.checkers.join(", "));
    }
    println!("  {OWN_RECIPE:<10} {}", recipe::CHECKERS.join(", "));
    println!("  {EVERY_RUN:<10} {}", ensemble::CHECKERS.join(", "));
    Ok(Code::Valid)
}
