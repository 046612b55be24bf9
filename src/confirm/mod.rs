//! Confirming: whether the failure of a simulated run shows on a real ensemble too.
//!
//! Its plan is played until the same anomaly of the same property shows. The tries take turns: in the first, third, …
//! one every window strikes at the moment of the witness's operations at which it struck in the simulation
//! ([`crate::replay::pin`]), in the others at the state that the plan names. A moment is exact, but some moments of the
//! model do not come on a real ensemble; a state always comes. Where there is also the run before it was shrunk, two
//! tries of its plan follow two of the shrunk one: with more operations and windows there are more moments at which a
//! rare failure can show.

use crate::backends::docker;
use crate::campaign::ensembles::{Ensembles, Runner};
use crate::campaign::run_outcome::RunOutcome;
use crate::planning::admission;
use crate::planning::case::Case;
use crate::replay::pin;
use crate::run::folder::Folder;
use crate::shrink::WantedAnomaly;
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use tokio::sync::watch;
use zooquake_checkers::Results;
use zooquake_checkers::text::count;
use zooquake_history::{
    Record,
    plan::{On, Plan},
};

/// When the windows of a try strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strikes {
    /// At the moments of the witness's operations.
    Witness,
    /// At the states that the plan names.
    States,
}

/// The try in which the anomaly showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfirmingTry {
    /// Its number, from 1.
    pub number: u32,
    /// When its windows struck.
    pub strikes: Strikes,
    /// The simulated run whose plan it played.
    pub replay_of: String,
    /// The folder of the run.
    pub run: PathBuf,
}

/// What came of playing a plan on real ensembles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    /// Whether the anomaly showed.
    pub confirmed: bool,
    /// How many tries were judged.
    pub tries: u32,
    /// In how many of these every window counts: a try in which one does not is no evidence about the find.
    pub struck: u32,
    /// The try that shows it, which is the last one.
    pub shown: Option<ConfirmingTry>,
    /// How the harness failed in the tries that were not judged.
    pub errors: Vec<String>,
}

/// `confirmed in try 2 of 5: …`, or `not confirmed in 5 tries, …`.
impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shown {
            Some(shown) => {
                let strikes = match shown.strikes {
                    Strikes::Witness => "pinned to the witness",
                    Strikes::States => "by the states",
                };
                write!(
                    f,
                    "confirmed in try {}, {strikes} of {}: {}",
                    shown.number,
                    shown.replay_of,
                    shown.run.display()
                )?;
            }
            None => write!(
                f,
                "not confirmed in {}; every window counts in {}",
                count(self.tries as usize, "try"),
                self.struck
            )?,
        }
        match self.errors.as_slice() {
            [] => Ok(()),
            [first, ..] => write!(
                f,
                "; the harness failed in {}: {first}",
                count(self.errors.len(), "try")
            ),
        }
    }
}

/// Plays plans of simulated runs on real ensembles.
pub struct Confirmer {
    ensembles: Ensembles,
    out: PathBuf,
    tries: u32,
}

impl Confirmer {
    /// One that plays each plan up to `tries` times and writes the runs to `out`. It stops once `interrupt` is true.
    ///
    /// # Errors
    /// If no Docker engine answers, or an image cannot be prepared.
    pub async fn prepare(tries: u32, out: &Path, interrupt: watch::Receiver<bool>) -> Result<Self> {
        let place = docker::KIND.connect_to(&[]).await?;
        Ok(Self {
            ensembles: Ensembles::prepare(place, [None], out.to_path_buf(), interrupt).await?,
            out: out.to_path_buf(),
            tries,
        })
    }

    /// Whether the user wants it to stop.
    pub fn stopped(&self) -> bool {
        self.ensembles.stopped()
    }

    /// Prints what it confirms, and plays the plan of the simulated run in this folder until the anomaly shows, or the
    /// tries are over; also that of the run from which it was `shrunk_from`, if that is given. `None` if the user has
    /// stopped it.
    ///
    /// # Errors
    /// If a run cannot be read or does not have the anomaly, or the folder of runs cannot be read or written.
    pub async fn confirm(
        &self,
        run: &Path,
        shrunk_from: Option<&Path>,
        wanted: &WantedAnomaly,
    ) -> Result<Option<Confirmation>> {
        if self.stopped() {
            return Ok(None);
        }
        progress!("confirming {} of {}", wanted.anomaly, run.display());
        let mut all = Vec::new();
        for path in [Some(run), shrunk_from].into_iter().flatten() {
            let folder = Folder {
                path: path.to_path_buf(),
            };
            all.extend(cases(&folder.load()?, wanted, &folder.name())?);
        }
        let tries = all.into_iter().cycle().take(self.tries as usize);
        play(tries, wanted, &self.out, async |case| {
            self.ensembles.attempt(&case).await
        })
        .await
    }
}

/// Whether each plan that was to be confirmed was played and judged at least once.
///
/// # Errors
/// How the harness failed in all tries of the first that was not.
pub fn were_played<'a>(mut confirmations: impl Iterator<Item = &'a Confirmation>) -> Result<()> {
    match confirmations.find(|confirmation| confirmation.tries == 0) {
        Some(none) => bail!("a failure could not be played on a real ensemble: {none}"),
        None => Ok(()),
    }
}

/// The cases by which a run is played: pinned to the witness, and by states.
fn cases(record: &Record, wanted: &WantedAnomaly, name: &str) -> Result<[(Strikes, Case); 2]> {
    let case = admission::admit(record.plan.clone());
    let case = case.map_err(|why| anyhow!("the run {name} has no plan that could be run: it {why}"))?;
    let results = zooquake_checkers::check(record);
    let anomaly = results.anomalies.iter().find(|anomaly| wanted.is(anomaly));
    let anomaly = anomaly.with_context(|| format!("the run {name} does not show {}", wanted.anomaly))?;
    let pinned = case.replanned(pin(record, anomaly, name).plan.placed(On::Docker));
    let by_states = case.changed(|plan| Plan {
        replay_of: Some(name.to_string()),
        ..plan.placed(On::Docker)
    });
    Ok([(Strikes::Witness, pinned), (Strikes::States, by_states)])
}

async fn play(
    tries: impl Iterator<Item = (Strikes, Case)>,
    wanted: &WantedAnomaly,
    out: &Path,
    mut run: impl AsyncFnMut(Case) -> Result<RunOutcome>,
) -> Result<Option<Confirmation>> {
    let mut confirmation = Confirmation {
        confirmed: false,
        tries: 0,
        struck: 0,
        shown: None,
        errors: Vec::new(),
    };
    for (number, (strikes, case)) in (1..).zip(tries) {
        let replay_of = case.plan().replay_of.clone().unwrap_or_default();
        match run(case).await? {
            RunOutcome::Interrupted => return Ok(None),
            RunOutcome::Failed { error, .. } => confirmation.errors.push(error),
            RunOutcome::Judged { run, results } => {
                confirmation.tries += 1;
                confirmation.struck += u32::from(all_count(&results));
                if results.anomalies.iter().any(|anomaly| wanted.is(anomaly)) {
                    confirmation.shown = Some(ConfirmingTry {
                        number,
                        strikes,
                        replay_of,
                        run: out.join(run),
                    });
                    confirmation.confirmed = true;
                    break;
                }
            }
        }
    }
    Ok(Some(confirmation))
}

fn all_count(results: &Results) -> bool {
    results.windows.iter().all(|window| window.counts)
}

#[cfg(test)]
mod tests;
