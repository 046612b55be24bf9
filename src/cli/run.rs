//! `zooquake run`

use super::args::RunOptions;
use super::exit::{Code, Usage};
use super::paths;
use super::series::{Series, print_json};
use crate::run::{Finished, draw, feasible, scenes};
use crate::terminal::line;
use crate::{faults, naming};
use anyhow::Result;
use zooquake_checkers::plan::{Cluster, Plan};
use zooquake_checkers::{Results, Verdict};

/// Draws the plan and runs it as often as asked.
///
/// # Errors
/// [`Usage`] for a variant or fault that does not exist; otherwise the harness failed.
pub async fn run(options: RunOptions) -> Result<Code> {
    let plan = plan(&options)?;
    if !options.anyway {
        refuse(&plan, options.seed)?;
    }
    paths::output_folder(&options.out, "--out")?;
    let series = Series {
        plan,
        times: options.times,
        out: options.out,
        keep: options.keep,
        json: options.json,
    };
    let runs = series.execute().await?;
    if options.json {
        print_json(&runs, options.times > 1)?;
    } else if runs.len() > 1 {
        print_rate(&runs);
    }
    Ok(Code::worst(runs.iter().map(|run| run.results.verdict.into())))
}

/// The plan that the options ask for.
///
/// # Errors
/// [`Usage`] for what does not exist.
pub fn plan(options: &RunOptions) -> Result<Plan> {
    let name = options.workload.as_str();
    if let Some(variant) = scenes::find(name) {
        return of_scenes(variant, options);
    }
    let workload = naming::workload(name).map_err(|_| Usage(naming::unknown("variant", name, &variants())))?;
    let faults = match options.faults.as_deref() {
        None => faults::usual(),
        Some(list) => naming::faults(list).map_err(Usage)?,
    };
    let cluster = Cluster {
        servers: options.servers.unwrap_or(3),
        observers: usize::from(options.observers.unwrap_or(0)),
        clients: usize::from(options.clients),
        image: options.zookeeper.clone(),
        timing: options.timing.unwrap_or_else(|| draw::timing(&workload)),
    };
    let seed = options.seed.unwrap_or_else(|| u64::from(fastrand::u32(..)));
    Ok(draw::plan(
        seed,
        workload,
        cluster,
        options.time.as_millis() as u64,
        &faults,
    ))
}

/// Refuses a plan that cannot end valid. Without a seed it says how long is enough for any.
fn refuse(plan: &Plan, seed: Option<u64>) -> Result<()> {
    let shortfalls = feasible::shortfalls(plan);
    if shortfalls.is_empty() {
        return Ok(());
    }
    let Plan {
        workload,
        cluster,
        faults,
        ..
    } = plan;
    let draw = |time_ms| draw::plan(plan.seed, workload.clone(), cluster.clone(), time_ms, faults);
    let enough = feasible::enough_ms(workload, cluster, faults);
    let way_out = match (enough, seed.and_then(|_| feasible::shortest_ms(draw))) {
        (None, _) => "give --clients 2 or more".to_string(),
        (Some(enough), None) => format!("the shortest time that works is --time {enough}ms"),
        (Some(enough), Some(shortest)) => format!(
            "the shortest time that works with this seed is --time {shortest}ms, with any seed --time {enough}ms"
        ),
    };
    let refusal = feasible::refusal(&[(workload.name(), shortfalls)], &way_out);
    Err(Usage(refusal).into())
}

/// The plan of a run of scenes: they bring their own faults, take their own time, and have no clients.
fn of_scenes(variant: &scenes::Variant, options: &RunOptions) -> Result<Plan> {
    let name = &options.workload;
    if options.servers.is_some_and(|servers| servers != variant.servers) {
        return Err(Usage(format!("{name} is played on {} servers", variant.servers)).into());
    }
    if options.faults.as_deref().is_some_and(|faults| faults != "none") {
        return Err(Usage(format!("{name} brings its own faults; leave --faults out")).into());
    }
    let cluster = Cluster {
        servers: variant.servers,
        observers: options.observers.map_or(variant.observers, usize::from),
        clients: 0,
        image: options.zookeeper.clone(),
        timing: options.timing.unwrap_or_default(),
    };
    Ok((variant.plan)(options.seed.unwrap_or(0), cluster))
}

/// The names of all variants that can be run.
fn variants() -> Vec<String> {
    let scenes = scenes::VARIANTS.iter().map(|variant| (variant.workload)().name());
    naming::variants().into_iter().chain(scenes).collect()
}

/// The verdict in a few lines: what was found, then why it is not more.
pub fn summary(results: &Results) -> String {
    let mut lines = vec![format!("verdict: {}", results.verdict)];
    let mut shown: Vec<&str> = Vec::new();
    for anomaly in &results.anomalies {
        let kind = anomaly.kind.as_str();
        if shown.contains(&kind) {
            continue;
        }
        shown.push(kind);
        let count = results.anomalies.iter().filter(|other| other.kind == kind).count();
        let known = if anomaly.accepted {
            ", known and accepted for this variant"
        } else {
            ""
        };
        let advisory = if anomaly.advisory { ", advisory" } else { "" };
        lines.push(format!("{kind} × {count} ({}{advisory}{known})", anomaly.property));
        if !anomaly.advisory {
            lines.push(format!("  {}", line(&anomaly.why)));
        }
    }
    lines.extend(results.reasons.iter().map(|reason| format!("- {}", line(reason))));
    if !results.windows.is_empty() {
        let counting = results.windows.iter().filter(|window| window.counts).count();
        lines.push(format!("{counting} of {} fault windows count", results.windows.len()));
    }
    lines.join("\n")
}

fn print_rate(runs: &[Finished]) {
    let count = |verdict| runs.iter().filter(|run| run.results.verdict == verdict).count();
    let (invalid, unknown) = (count(Verdict::Invalid), count(Verdict::Unknown));
    println!(
        "{} runs: {invalid} invalid, {unknown} unknown, {} valid",
        runs.len(),
        runs.len() - invalid - unknown
    );
    let kinds: std::collections::BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| &run.results.anomalies)
        .map(|a| a.kind.as_str())
        .collect();
    for kind in kinds {
        let with = runs
            .iter()
            .filter(|run| run.results.anomalies.iter().any(|a| a.kind == kind))
            .count();
        println!("  {kind}: in {with} of {}", runs.len());
    }
}
