//! What is compared: subjects, under which faults, with which plans.

use super::order::{Turn, turns};
use crate::backends::{self, BackendKind};
use crate::planning::spec::RunSpec;
use crate::planning::values::timing_text;
use crate::planning::{drawing, names};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zooquake_history::plan::{DrawnFor, On, Timing, Workload};

/// What all runs of a comparison have in common, and what they differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub family: String,
    /// What is compared.
    pub subjects: Vec<Subject>,
    /// Kinds of fault joined by `+`, or `none`; each is a comparison by itself.
    pub faults: Vec<String>,
    /// What plans are drawn from, one for each round.
    pub seeds: Vec<u64>,
    /// Milliseconds of operations and faults in each run.
    pub time_ms: u64,
    pub clients: usize,
    /// Where it runs; left out for a real ensemble.
    #[serde(default, skip_serializing_if = "On::is_real")]
    pub on: On,
}

/// One of the things compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// `fenced`, ….
    pub variant: String,
    /// The folder of its recipe; `None` for one that is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The ZooKeeper asked for; `None` for the project's choice.
    pub zookeeper: Option<String>,
    /// Clocks of the ensemble.
    pub timing: Timing,
    /// Servers that vote.
    pub servers: usize,
}

/// A setup with the workloads of its subjects.
#[derive(Debug)]
pub struct ResolvedSetup {
    pub setup: Setup,
    pub workloads: Vec<Workload>,
}

impl ResolvedSetup {
    /// A subject's run: its plan is drawn for the first of the smallest ensembles whose clients have the same words for
    /// what they do. So windows and cycles are the same for all of these.
    pub fn spec(&self, turn: Turn) -> RunSpec {
        let Turn {
            faults, subject, seed, ..
        } = turn;
        let (setup, own) = (&self.setup, &self.workloads[subject]);
        let mut kin = subject;
        for other in (0..setup.subjects.len()).rev() {
            let alike = drawing::alike(&self.workloads[other], own);
            if alike && setup.subjects[other].servers <= setup.subjects[kin].servers {
                kin = other;
            }
        }
        let (subject, kin) = (&setup.subjects[subject], &setup.subjects[kin]);
        RunSpec {
            faults: Some(setup.faults[faults].replace('+', ",")),
            time: Some(Duration::from_millis(setup.time_ms)),
            seed: Some(seed),
            servers: Some(subject.servers),
            clients: Some(setup.clients),
            timing: Some(subject.timing),
            zookeeper: subject.zookeeper.clone(),
            on: Some(setup.on).filter(|on| !on.is_real()),
            drawn_for: Some(DrawnFor {
                servers: kin.servers,
                timing: kin.timing,
            }),
            ..RunSpec::new(subject.folder.clone().unwrap_or_else(|| own.name()))
        }
    }

    /// All runs, each with its name.
    pub fn specs(&self) -> Vec<(String, RunSpec)> {
        let turns = turns(&self.setup).into_iter();
        turns.map(|turn| (self.setup.name(turn), self.spec(turn))).collect()
    }
}

impl Setup {
    /// Looks its variants up.
    ///
    /// # Errors
    /// If one does not exist (any more): the message for the user.
    pub fn resolve(&self) -> Result<ResolvedSetup, String> {
        let workload = |subject: &Subject| match &subject.folder {
            Some(folder) => names::workload(folder),
            None => names::workload(&format!("{}/{}", self.family, subject.variant)),
        };
        Ok(ResolvedSetup {
            setup: self.clone(),
            workloads: self.subjects.iter().map(workload).collect::<Result<_, _>>()?,
        })
    }

    /// Where it runs.
    pub fn backend(&self) -> &'static BackendKind {
        backends::kind(self.on)
    }

    /// Refuses what is there twice, which would be compared with itself.
    ///
    /// # Errors
    /// If anything is there twice: the message for the user.
    pub fn check(&self) -> Result<(), String> {
        for (n, faults) in self.faults.iter().enumerate() {
            if self.faults[..n].contains(faults) {
                return Err(format!("the faults {faults} are there twice"));
            }
        }
        for (n, subject) in self.subjects.iter().enumerate() {
            if self.subjects[..n].contains(subject) {
                return Err(format!("{} is there twice", self.label(n)));
            }
        }
        Ok(())
    }

    /// A run in words.
    pub fn name(&self, turn: Turn) -> String {
        let Turn {
            faults, subject, seed, ..
        } = turn;
        format!("{} under {}, seed {seed}", self.label(subject), self.faults[faults])
    }

    /// The parts of a subject that differ from the others: variant, ZooKeeper, timing, number of servers; the variant
    /// if none does.
    pub fn label(&self, subject: usize) -> String {
        let this = &self.subjects[subject];
        let differs = |same: &dyn Fn(&Subject) -> bool| !self.subjects.iter().all(same);
        let mut parts = Vec::new();
        if differs(&|other| other.variant == this.variant) {
            parts.push(this.variant.clone());
        }
        if differs(&|other| other.zookeeper == this.zookeeper) {
            parts.push(
                this.zookeeper
                    .clone()
                    .unwrap_or_else(|| "ZooKeeper as usual".to_string()),
            );
        }
        if differs(&|other| other.timing == this.timing) {
            parts.push(timing_text(&this.timing));
        }
        if differs(&|other| other.servers == this.servers) {
            parts.push(format!("{} servers", this.servers));
        }
        match parts.is_empty() {
            true => this.variant.clone(),
            false => parts.join(", "),
        }
    }

    /// What all runs have in common, each a name and a value.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut settings = vec![
            (
                "runs".to_string(),
                format!("{} of each subject under each kind of faults", self.seeds.len()),
            ),
            ("time".to_string(), format!("{} s", self.time_ms as f64 / 1000.0)),
            ("clients".to_string(), self.clients.to_string()),
        ];
        let backend = self.backend();
        if backend.capabilities.virtual_time {
            settings.push((
                "on".to_string(),
                format!("{} ensembles, in virtual time", backend.adjective),
            ));
        }
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        settings.push(("seeds".to_string(), seeds.join(", ")));
        if let Some(first) = self.subjects.first() {
            let all = |same: &dyn Fn(&Subject) -> bool| self.subjects.iter().all(same);
            if all(&|other| other.servers == first.servers) {
                settings.push(("servers".to_string(), first.servers.to_string()));
            }
            if all(&|other| other.timing == first.timing) {
                settings.push((
                    "tickTime/syncLimit/session timeout".to_string(),
                    timing_text(&first.timing),
                ));
            }
        }
        settings
    }
}

#[cfg(test)]
pub mod tests;
