//! `zooquake compare consensus`: what a decision takes.

use super::CompareOptions;
use super::setup::{self, SEED};
use crate::cli::exit::{Code, Usage};
use crate::cli::paths;
use crate::compare::decision::{self, DecisionSetup};
use anyhow::{Context, Result, anyhow};
use zooquake_history::operation::consensus::FAMILY;
use zooquake_history::plan::On;
use zooquake_reports::decision::{DecisionComparison, summary, write_all};

/// Whether the options ask for it.
pub fn is_asked(options: &CompareOptions) -> bool {
    setup::family(options) == FAMILY.name
}

/// Plays and reports.
///
/// # Errors
/// [`Usage`] for options that have no meaning here, and for a folder with a comparison of recipes; otherwise the
/// harness failed.
pub fn compare(options: &CompareOptions) -> Result<Code> {
    let setup = decision_setup(options).map_err(Usage)?;
    paths::output_folder(&options.out, "--out")?;
    if options.out.join("compare.jsonl").exists() {
        let out = options.out.display();
        return Err(Usage(format!("{out} has a comparison of recipes: give another --out")).into());
    }
    let comparison = decision::comparison(&setup).map_err(|why| anyhow!(why))?;
    std::fs::create_dir_all(&options.out).with_context(|| format!("making {}", options.out.display()))?;
    finish(options, &comparison)?;
    Ok(Code::Valid)
}

/// What the options ask for. `Err` is a message for the user.
fn decision_setup(options: &CompareOptions) -> Result<DecisionSetup, String> {
    if let Some(on) = options.on.filter(|on| *on != On::Network) {
        return Err(format!(
            "consensus protocols are no recipes of ZooKeeper and run on simulated networks alone: leave --on {} out",
            on.name()
        ));
    }
    let once = "each situation is played once, until its value is learned";
    let alone = "no ZooKeeper takes part in consensus";
    let given = [
        (
            "--faults",
            !options.faults.is_empty(),
            "collisions, lost leaders and lost acceptors are among the situations that are compared; under other faults protocols are \
             searched by `explore` and run by `nightly`",
        ),
        ("--time", options.time.is_some(), once),
        ("--times", options.times.is_some(), once),
        ("--anyway", options.anyway, once),
        ("--shard", options.shard.is_some(), once),
        (
            "--clients",
            options.clients.is_some(),
            "two proposers collide, and no more take part",
        ),
        ("--zookeeper", !options.zookeeper.is_empty(), alone),
        ("--timings", !options.timings.is_empty(), alone),
    ];
    if let Some((option, _, why)) = given.iter().find(|(_, given, _)| *given) {
        return Err(format!("{why}: leave {option} out"));
    }
    DecisionSetup::new(&options.variants, &options.servers, options.seed.unwrap_or(SEED))
}

/// Writes the report, and prints its summary.
fn finish(options: &CompareOptions, comparison: &DecisionComparison) -> Result<()> {
    let mut written = write_all(comparison, &options.out)?;
    let mut value = serde_json::to_value(comparison).context("writing the comparison as JSON")?;
    value["family"] = serde_json::json!(FAMILY.name);
    value["summary"] = serde_json::json!(summary(comparison));
    value["folder"] = serde_json::json!(options.out);
    let path = options.out.join("compare.json");
    super::write_json(&value, &path)?;
    if options.json {
        return crate::output::json(&value);
    }
    written.push(path);
    summary(comparison).iter().for_each(|line| println!("{line}"));
    written.iter().for_each(|path| println!("{}", path.display()));
    Ok(())
}
