//! The harness itself is killed, hung up and stopped at random moments of real runs, and its engine fails it; then the
//! engine and the run's folder are looked at. docs/log/campaigns.md describes how to run it as a campaign.

mod engine;
mod failures;
mod moment;
mod proxy;
mod report;
mod trial;

#[path = "../program/common/mod.rs"]
mod common;

use common::{EnsembleSlot, Runs};
use moment::RunPhases;
use trial::Trial;

/// How many trials of each signal.
const CRASHES: &str = "ZOOQUAKE_CRASHES";

/// The kinds of fault of their runs, separated by commas; [`trial::FAULTS`] if it is not set.
const FAULTS: &str = "ZOOQUAKE_FAULTS";

/// What all trials are drawn from.
const SEED: &str = "ZOOQUAKE_SEED";

#[test]
fn a_crash_at_any_moment_leaves_nothing_frozen_cut_off_or_convicted() {
    let crashes = std::env::var(CRASHES).unwrap_or_else(|_| "kill:1".to_string());
    let seed = std::env::var(SEED).map_or(1, |seed| seed.parse().expect("ZOOQUAKE_SEED is a number"));
    let trials = Trial::draw(&crashes, &kinds(), seed);
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("crash");
    let life = match trials.len() {
        // One trial is not aimed better by a whole run before it.
        1 => RunPhases::usual(),
        _ => RunPhases::measure(&runs.path().join("measured")),
    };
    let mut broken = Vec::new();
    for trial in &trials {
        let folder = runs.path().join(format!("trial-{}", trial.number));
        let report = trial.execute(&folder, &life);
        let line = report.as_ref().map_or_else(Clone::clone, ToString::to_string);
        println!("{} {} of {}: {line}", now(), trial.number, trials.len());
        if report.is_ok_and(|report| report.broken().is_empty()) {
            std::fs::remove_dir_all(&folder).expect("removing the folder of a trial");
        } else {
            broken.push(trial.number);
        }
    }
    let (all, bad) = (trials.len(), broken.len());
    println!(
        "{} {crashes}, seed {seed}: {all} trials, {bad} of them broke the rule {broken:?}",
        now()
    );
    assert!(
        broken.is_empty(),
        "trials {broken:?} broke the rule, their lines tell how"
    );
}

/// The kinds of fault that are asked for.
fn kinds() -> Vec<&'static str> {
    let Ok(asked) = std::env::var(FAULTS) else {
        return trial::FAULTS.to_vec();
    };
    let kind = |name: &str| trial::FAULTS.iter().copied().find(|kind| *kind == name);
    let kinds = asked
        .split(',')
        .map(|name| kind(name).unwrap_or_else(|| panic!("no run has the fault {name}")));
    kinds.collect()
}

/// The date and the time of day, UTC.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string()
}
