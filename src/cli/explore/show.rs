//! What an exploration found and covered, in lines or as JSON.

use crate::explore::drive::{Exploration, missed};
use crate::explore::failure::Signature;
use crate::explore::failure_runs::ExploredFailure;
use crate::explore::network::NetworkSearch;
use crate::terminal::print_wrapped;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeMap;

/// How far it has come, in a line.
pub fn progress(explored: &Exploration) -> String {
    let (known, new): (Vec<_>, Vec<_>) = explored.failures.keys().partition(|failure| failure.known);
    let exhausted = match explored.exhausted {
        Some(plans) => format!(" (all of {plans} plans)"),
        None => String::new(),
    };
    format!(
        "{} schedules{exhausted} in {} s, {:.0} a second: {} failures, and {} known ones",
        explored.schedules,
        explored.took.as_secs(),
        explored.rate(),
        new.len(),
        known.len()
    )
}

/// Prints it as JSON.
///
/// # Errors
/// If it cannot be written.
pub fn print_json(seed: u64, explored: &Exploration, failures: &[ExploredFailure]) -> Result<()> {
    let missed: BTreeMap<String, f64> = FREQUENCIES
        .iter()
        .map(|frequency| (frequency.to_string(), missed(*frequency, explored.schedules)))
        .collect();
    let value = json!({
        "on": "sim",
        "seed": seed,
        "schedules": explored.schedules,
        "seconds": explored.took.as_secs_f64(),
        "schedules_per_second": explored.rate(),
        "exhausted_plans": explored.exhausted,
        "failures": failures,
        "coverage": explored.coverage,
        "missed": missed,
    });
    crate::output::json(&value)?;
    Ok(())
}

/// Frequencies of failures for which the probability that they were missed is printed.
const FREQUENCIES: [f64; 4] = [0.01, 0.001, 0.0001, 0.00001];

/// Prints it in lines.
pub fn print(explored: &Exploration, failures: &[ExploredFailure]) {
    let say = |text: String| print_wrapped(&text, 4);
    say(progress(explored));
    println!("windows that bit, of those planned:");
    for (name, (planned, bit)) in &explored.coverage.windows {
        say(format!("  {name}: {bit} of {planned}"));
    }
    println!("in some schedule at least:");
    for (what, schedules) in &explored.coverage.sometimes {
        let never = if *schedules == 0 {
            " (never: it was not tried what comes of it)"
        } else {
            ""
        };
        say(format!("  {what}: in {schedules}{never}"));
    }
    println!("checkers that had something to look at:");
    for (checker, schedules) in &explored.coverage.judged {
        say(format!("  {checker}: in {schedules}"));
    }
    // Of schedules that were drawn.
    for frequency in FREQUENCIES.iter().filter(|_| explored.exhausted.is_none()) {
        let probability = 100.0 * missed(*frequency, explored.schedules);
        let schedules = 100_000.0 * frequency;
        say(format!(
            "a failure in {schedules:.0} schedules of 100,000 was missed with {probability:.2} %"
        ));
    }
    print_failures(failures);
}

/// How far the search of a network has come, in a line.
pub fn network_progress(found: &NetworkSearch) -> String {
    let failing: u64 = found.failures.values().map(|schedules| schedules.count).sum();
    format!(
        "{} schedules in {:.1} s, {:.0} a second: {failing} violate a property",
        found.schedules,
        found.took.as_secs_f64(),
        found.rate()
    )
}

/// Prints what the search of a network found as JSON.
///
/// # Errors
/// If it cannot be written.
pub fn print_network_json(seed: u64, found: &NetworkSearch, failures: &[ExploredFailure]) -> Result<()> {
    let value = json!({
        "on": "network",
        "seed": seed,
        "schedules": found.schedules,
        "seconds": found.took.as_secs_f64(),
        "schedules_per_second": found.rate(),
        "failures": failures,
    });
    crate::output::json(&value)?;
    Ok(())
}

/// Prints it in lines.
pub fn print_network(found: &NetworkSearch, failures: &[ExploredFailure]) {
    print_wrapped(&network_progress(found), 4);
    print_failures(failures);
}

fn print_failures(failures: &[ExploredFailure]) {
    let say = |text: String| print_wrapped(&text, 4);
    for failure in failures {
        let Signature {
            property,
            anomaly,
            known,
            shape,
        } = &failure.signature;
        let known = if *known { ", known of this variant" } else { "" };
        let schedules = failure.schedules;
        say(format!(
            "{anomaly} ({property}{known}) in {schedules} schedules: {shape}"
        ));
        if let Some(run) = &failure.run {
            say(format!("  {}", failure.why));
            say(format!("  seed {}: {}", failure.seed, run.display()));
        }
        if let Some(shrunk) = &failure.shrunk {
            say(format!("  shrunk to {}: {}", shrunk.size, shrunk.run.display()));
        }
        if let Some(confirmation) = &failure.confirmation {
            say(format!("  on a real ensemble {confirmation}"));
        }
    }
}
