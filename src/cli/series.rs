//! Several runs, one after the other: of one plan, or of one with several seeds.

use super::interrupt;
use super::run::print_summary;
use crate::backends::Connection;
use crate::campaign::ensembles::{Ensembles, Runner};
use crate::live::Live;
use crate::planning::case::Case;
use crate::planning::reproduction;
use crate::run::FinishedRun;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use zooquake_checkers::Verdict;

/// What to run.
pub struct Series {
    /// What each of the runs is of; there is one at least, and they differ in their seeds alone.
    pub cases: Vec<Case>,
    /// Where it runs.
    pub place: Box<dyn Connection>,
    /// The folder that its recipe is read from, if not from the one that it names.
    pub recipe: Option<PathBuf>,
    /// The folder of runs.
    pub out: PathBuf,
    /// Whether each cluster is left standing.
    pub keep: bool,
    /// Whether the report is served while a run goes on.
    pub live: bool,
    /// Whether results are for machines: nothing is printed after each run.
    pub json: bool,
}

impl Series {
    /// Plays the cases in order, until the user interrupts.
    ///
    /// # Errors
    /// If the harness fails.
    pub async fn execute(self) -> Result<Vec<FinishedRun>> {
        let cluster = &self.cases.first().context("there is nothing to run")?.plan().cluster;
        let interrupt = interrupt::listen_over(&cluster.hosts)?;
        let live = if self.live { Some(Live::open().await?) } else { None };
        if let Some(live) = &live {
            eprintln!("the report grows at {} while the run goes on", live.url());
        }
        let ensembles = Ensembles::prepare(self.place, [cluster.image.as_deref()], self.out, interrupt)
            .await?
            .with_recipe(self.recipe)
            .with_news(live.as_ref().map(Live::news));
        let mut runs = Vec::new();
        for case in &self.cases {
            let finished = ensembles.execute(case, self.keep).await?;
            if let Some(live) = &live {
                live.over(&finished.folder);
            }
            if !self.json {
                print(&finished)?;
            }
            runs.push(finished);
            if ensembles.stopped() {
                break;
            }
        }
        if let Some(live) = live {
            live.linger().await;
        }
        Ok(runs)
    }
}

fn print(finished: &FinishedRun) -> Result<()> {
    let FinishedRun { folder, results, .. } = finished;
    print_summary(results);
    println!("report: {}", folder.file("report.html").display());
    if results.verdict != Verdict::Valid {
        println!("to reproduce:");
        reproduction::lines(&folder.path, &folder.plan()?)
            .iter()
            .for_each(|line| println!("  {line}"));
    }
    Ok(())
}

/// Prints the results and folders of runs as JSON: one alone, or several as `{"runs":[…]}`.
///
/// # Errors
/// If they cannot be written as JSON.
pub fn print_json(runs: &[FinishedRun], several: bool) -> Result<()> {
    let one = |run: &FinishedRun| -> Result<Value> {
        let mut value = serde_json::to_value(&run.results).context("writing results as JSON")?;
        value["run"] = json!(run.folder.path);
        Ok(value)
    };
    let all: Vec<Value> = runs.iter().map(one).collect::<Result<_>>()?;
    let value = if several {
        json!({ "runs": all })
    } else {
        all.into_iter().next().unwrap_or_default()
    };
    crate::output::json(&value)?;
    Ok(())
}
