//! `zooquake run`

use super::exit::{Code, Usage};
use super::paths;
use super::series::{Series, print_json};
use crate::backends::{self, Connection, sim};
use crate::campaign::attempt;
use crate::planning::case::Case;
use crate::planning::spec::RunSpec;
use crate::planning::{admission, recipe, values};
use crate::run::FinishedRun;
use crate::terminal::{line, print_folded, verdict};
use anyhow::Result;
use std::io::IsTerminal;
use zooquake_backend::docker;
use zooquake_checkers::{Results, Verdict};
use zooquake_history::plan::{DrawnFor, Plan};

/// Draws the plan, or reads it, and runs it as often as asked.
///
/// # Errors
/// [`Usage`] for a variant, fault or plan that does not exist; otherwise the harness failed.
pub async fn run(options: RunSpec) -> Result<Code> {
    if !options.workload.is_empty() {
        recipe::prepare(&options.workload).await?;
    }
    let case = options.case().map_err(Usage)?;
    refuse_keep(&case, options.keep)?;
    let backend = case.backend();
    if options.live && backend.capabilities.virtual_time {
        let run = backend.adjective;
        return Err(Usage(format!(
            "a {run} run takes a moment, and nobody sees it grow: leave --live out"
        ))
        .into());
    }
    if !options.anyway {
        ensure_feasible(&options, case.plan())?;
    }
    paths::output_folder(&options.out, "--out")?;
    let (case, place) = place(&options, case).await?;
    let series = Series {
        cases: cases(&options, case)?,
        place,
        recipe: None,
        out: options.out,
        keep: options.keep,
        live: options.live,
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

/// The case of each run that is asked for. In virtual time one plan always comes to the same end, byte for byte, so
/// there each further run takes the next seed.
fn cases(options: &RunSpec, first: Case) -> Result<Vec<Case>, Usage> {
    let mut cases = vec![first];
    for _ in 1..options.times {
        let last = cases[cases.len() - 1].clone();
        if !last.backend().capabilities.virtual_time {
            cases.push(last);
            continue;
        }
        let seed = last.plan().seed.wrapping_add(1);
        if options.plan_file.is_some() {
            cases.push(last.changed(|plan| Plan { seed, ..plan }));
            continue;
        }
        let spec = RunSpec {
            seed: Some(seed),
            on: Some(last.plan().on),
            ..options.clone()
        };
        let next = spec.case().map_err(Usage)?;
        if !options.anyway {
            ensure_feasible(&spec, next.plan())?;
        }
        cases.push(next);
    }
    Ok(cases)
}

/// The case, and where it runs: where it is to, or simulated where nothing else was asked for, no engine is installed,
/// and a person reads that.
async fn place(options: &RunSpec, case: Case) -> Result<(Case, Box<dyn Connection>)> {
    let hosts = &case.plan().cluster.hosts;
    let none = match case.backend().connect_to(hosts).await {
        Ok(place) => return Ok((case, place)),
        Err(none) => none,
    };
    if options.on.is_some() || options.keep || options.live || !hosts.is_empty() {
        return Err(none);
    }
    if let Err(why) = admission::case_on(&sim::KIND, &case) {
        return Err(none.context(format!("{why}, and no real one can be had")));
    }
    // A user who has chosen an engine wants that one, and a program that reads a log takes a verdict about a model for
    // one about ZooKeeper.
    if !falls_back(docker::is_chosen(), std::io::stderr().is_terminal()) {
        return Err(none.context("`--on sim` runs it on a simulated ensemble, without an engine"));
    }
    eprintln!(
        "simulated: no Docker engine answers at {}, so this run takes place on a simulated ensemble, in virtual time; \
         --on docker insists on a real one",
        docker::tried()
    );
    let case = case.changed(|plan| Plan {
        on: sim::KIND.on,
        ..plan
    });
    let place = case.backend().connect_to(&[]).await?;
    Ok((case, place))
}

/// Whether a run that no engine answers is simulated: where nobody has chosen one, and a person reads that it is.
fn falls_back(engine_is_chosen: bool, person_reads: bool) -> bool {
    !engine_is_chosen && person_reads
}

/// Refuses to leave an ensemble standing of which nothing outlives the run.
///
/// # Errors
/// [`Usage`] if that is asked for.
pub fn refuse_keep(case: &Case, keep: bool) -> Result<(), Usage> {
    let backend = case.backend();
    match keep && !backend.capabilities.containers {
        true => Err(Usage(format!(
            "nothing is left of {}: leave --keep out",
            backend.ensemble()
        ))),
        false => Ok(()),
    }
}

/// Refuses a plan that cannot end valid, unless it lacks no more than some of several faults: that is stated, and the
/// others strike. Without a seed the message states how long is enough for any.
fn ensure_feasible(spec: &RunSpec, plan: &Plan) -> Result<(), Usage> {
    let enough = |faults: &[String]| {
        let mut shape = plan.cluster.clone();
        if let Some(DrawnFor { servers, timing }) = plan.drawn_for {
            (shape.servers, shape.timing) = (servers, timing);
        }
        admission::enough_ms(&plan.workload, &shape, faults)
    };
    let way_out = || {
        let Some(any) = enough(&plan.faults) else {
            let possible = fewer(&plan.faults, |faults| enough(faults).is_some());
            return match possible.is_empty() {
                true if enough(&[]).is_none() => "give --clients 2 or more".to_string(),
                true => "give another ensemble, or other faults".to_string(),
                false => format!("give another ensemble, or --faults {}", possible.join(",")),
            };
        };
        let any = values::whole_seconds(any);
        let longer = match spec.seed.and_then(|_| spec.shortest_ms()).map(values::whole_seconds) {
            None => format!("the shortest time that works is --time {any}"),
            Some(own) if own == any => format!("the shortest time that works is --time {any}"),
            Some(own) => {
                format!("the shortest time that works with this seed is --time {own}, with any seed --time {any}")
            }
        };
        let fits = |faults: &[String]| enough(faults).is_some_and(|enough| enough <= plan.time_ms);
        match fewer(&plan.faults, fits) {
            faults if faults.is_empty() => longer,
            faults => format!(
                "{longer}; into {} fits --faults {}",
                admission::seconds(plan.time_ms),
                faults.join(",")
            ),
        }
    };
    let shortfalls = admission::shortfalls(plan);
    if shortfalls.is_empty() {
        return Ok(());
    }
    if let Some(file) = spec.plan_file.as_ref().or(spec.schedule.as_ref()) {
        let way_out = format!("change {file:?}");
        return Err(Usage(admission::refusal(
            &[(plan.workload.name(), shortfalls)],
            &way_out,
        )));
    }
    if admission::others_strike(plan) {
        let (lacking, way_out) = (shortfalls.join("; "), way_out());
        eprintln!("the other faults strike, but the verdict cannot be valid: {lacking}. For all of them: {way_out}");
        return Ok(());
    }
    Err(Usage(admission::refusal(
        &[(plan.workload.name(), shortfalls)],
        &way_out(),
    )))
}

/// As many of these kinds of fault as fit, the first ones before the later ones.
fn fewer(faults: &[String], fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut fitting: Vec<String> = Vec::new();
    for fault in faults {
        fitting.push(fault.clone());
        if !fits(&fitting) {
            fitting.pop();
        }
    }
    fitting
}

/// Prints the verdict in a few lines: what was found, then why it is not more.
pub fn print_summary(results: &Results) {
    let backend = backends::kind(results.on);
    let on = match backend.capabilities.virtual_time {
        true => format!(", on {}", backend.ensemble()),
        false => String::new(),
    };
    print!("verdict: {}", verdict(results.verdict));
    println!("{on}");
    findings(results).iter().for_each(|line| print_folded(line));
}

/// What was found, then why it is not more.
fn findings(results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    let all = attempt::seen(results);
    for root in all.iter().filter(|seen| seen.root.is_none()) {
        let known = if root.accepted {
            ", known and accepted for this variant"
        } else {
            ""
        };
        let advisory = if root.advisory { ", advisory" } else { "" };
        lines.push(format!(
            "{} × {} ({}{advisory}{known})",
            root.kind, root.count, root.property
        ));
        if !root.advisory {
            lines.push(format!("  {}", line(&root.why)));
            lines.extend((!root.cause.is_empty()).then(|| format!("  {}", line(&root.cause))));
        }
        let follow = all.iter().filter(|seen| seen.root.as_ref() == Some(&root.kind));
        lines.extend(follow.map(|seen| format!("  from it follow: {} × {}", seen.kind, seen.count)));
    }
    let left = results.not_judged.iter();
    lines.extend(left.map(|left| format!("not judged: {} ({})", left.check, line(&left.why))));
    lines.extend(results.reasons.iter().map(|reason| format!("- {}", line(reason))));
    if !results.windows.is_empty() {
        let counting = results.windows.iter().filter(|window| window.counts).count();
        lines.push(format!("{counting} of {} fault windows count", results.windows.len()));
    }
    lines
}

fn print_rate(runs: &[FinishedRun]) {
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

#[cfg(test)]
mod tests {
    use super::falls_back;

    #[test]
    fn a_run_is_simulated_unasked_only_where_a_person_reads_it_and_has_chosen_no_engine() {
        assert!(falls_back(false, true));
        assert!(!falls_back(true, true) && !falls_back(false, false) && !falls_back(true, false));
    }
}
