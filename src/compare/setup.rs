//! What is compared: subjects, under which faults, with which plans.

use super::order::{Turn, turns};
use crate::campaign::spec::RunSpec;
use crate::campaign::values::clocks;
use crate::naming;
use crate::run::draw;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zooquake_checkers::plan::{DrawnFor, Timing, Workload};
use zooquake_checkers::sample;

/// What all runs of a comparison have in common, and what they differ in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The family.
    pub family: String,
    /// What is compared.
    pub subjects: Vec<Subject>,
    /// Kinds of fault joined by `+`, or `none`; each is a comparison by itself.
    pub faults: Vec<String>,
    /// What plans are drawn from, one for each round.
    pub seeds: Vec<u64>,
    /// Milliseconds of operations and faults in each run.
    pub time_ms: u64,
    /// Clients.
    pub clients: usize,
}

/// One of the things compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// `fenced`, ….
    pub variant: String,
    /// The ZooKeeper asked for; `None` for the project's choice.
    pub zookeeper: Option<String>,
    /// Clocks of the ensemble.
    pub timing: Timing,
    /// Servers that vote.
    pub servers: usize,
}

impl Setup {
    /// The workload of a subject.
    ///
    /// # Errors
    /// If the variant does not exist (any more): what is said to the user.
    pub fn workload(&self, subject: usize) -> Result<Workload, String> {
        naming::workload(&format!("{}/{}", self.family, self.subjects[subject].variant))
    }

    /// A subject's run: its plan is drawn for the first of the smallest ensembles whose clients have the same words for what
    /// they do. So windows and cycles are the same for all of these.
    ///
    /// # Errors
    /// If a variant does not exist (any more): what is said to the user.
    pub fn spec(&self, subject: usize, faults: usize, seed: u64) -> Result<RunSpec, String> {
        let own = self.workload(subject)?;
        let mut kin = subject;
        for other in (0..self.subjects.len()).rev() {
            let alike = draw::alike(&self.workload(other)?, &own);
            if alike && self.subjects[other].servers <= self.subjects[kin].servers {
                kin = other;
            }
        }
        let (subject, kin) = (&self.subjects[subject], &self.subjects[kin]);
        Ok(RunSpec {
            faults: Some(self.faults[faults].replace('+', ",")),
            time: Some(Duration::from_millis(self.time_ms)),
            seed: Some(seed),
            servers: Some(subject.servers),
            clients: self.clients,
            timing: Some(subject.timing),
            zookeeper: subject.zookeeper.clone(),
            drawn_for: Some(DrawnFor {
                servers: kin.servers,
                timing: kin.timing,
            }),
            ..RunSpec::new(own.name())
        })
    }

    /// Refuses what is there twice, which would be compared with itself, and variants that do different things, such as a
    /// queue and a barrier.
    ///
    /// # Errors
    /// What is said to the user.
    pub fn check(&self) -> Result<(), String> {
        for (n, faults) in self.faults.iter().enumerate() {
            if self.faults[..n].contains(faults) {
                return Err(format!("the faults {faults} are there twice"));
            }
        }
        let kind = |subject: usize| self.workload(subject).map(|workload| sample::kind(&workload));
        for (n, subject) in self.subjects.iter().enumerate() {
            if self.subjects[..n].contains(subject) {
                return Err(format!("{} is there twice", self.label(n)));
            }
            let (first, other) = (kind(0)?, kind(n)?);
            if first != other {
                return Err(format!(
                    "{} is measured in {}, {} in {}: give --variants that can be compared",
                    self.subjects[0].variant, first.units, subject.variant, other.units
                ));
            }
        }
        Ok(())
    }

    /// All runs, each with its name.
    ///
    /// # Errors
    /// If a variant does not exist (any more): what is said to the user.
    pub fn specs(&self) -> Result<Vec<(String, RunSpec)>, String> {
        let named = |turn: Turn| {
            let seed = self.seeds[turn.round];
            let name = format!(
                "{} under {}, seed {seed}",
                self.label(turn.subject),
                self.faults[turn.faults]
            );
            Ok((name, self.spec(turn.subject, turn.faults, seed)?))
        };
        turns(self).into_iter().map(named).collect()
    }

    /// What tells a subject from the others: its variant if there are several, and whatever else differs.
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
            parts.push(clocks(&this.timing));
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
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        settings.push(("seeds".to_string(), seeds.join(", ")));
        if let Some(first) = self.subjects.first() {
            let all = |same: &dyn Fn(&Subject) -> bool| self.subjects.iter().all(same);
            if all(&|other| other.servers == first.servers) {
                settings.push(("servers".to_string(), first.servers.to_string()));
            }
            if all(&|other| other.timing == first.timing) {
                settings.push(("tickTime/syncLimit/session timeout".to_string(), clocks(&first.timing)));
            }
        }
        settings
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::campaign::spec::tests::{assert_same, run_again};
    use crate::campaign::values::timing;
    use crate::cli::again;
    use std::collections::BTreeSet;
    use zooquake_checkers::plan::Plan;

    /// A comparison of these locks.
    pub fn setup(variants: &[&str], faults: &[&str], seeds: &[u64]) -> Setup {
        let subject = |variant: &&str| Subject {
            variant: (*variant).into(),
            zookeeper: None,
            timing: Timing::default(),
            servers: 3,
        };
        Setup {
            family: "lock".into(),
            subjects: variants.iter().map(subject).collect(),
            faults: faults.iter().map(ToString::to_string).collect(),
            seeds: seeds.to_vec(),
            time_ms: 20_000,
            clients: 5,
        }
    }

    fn plan(setup: &Setup, subject: usize, faults: usize, seed: u64) -> Plan {
        setup.spec(subject, faults, seed).unwrap().plan().unwrap()
    }

    #[test]
    fn all_subjects_run_the_same_plan() {
        let mut setup = setup(&["predecessor", "fenced"], &["pause+kill", "partition"], &[7]);
        setup.subjects[1].servers = 5;
        setup.subjects[1].zookeeper = Some("trixie".into());
        for faults in 0..2 {
            let (one, two) = (plan(&setup, 0, faults, 7), plan(&setup, 1, faults, 7));
            assert!(!one.windows.is_empty());
            assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
            assert_eq!((one.cluster.servers, two.cluster.servers), (3, 5));
            assert_eq!(two.cluster.image.as_deref(), Some("trixie"));
            assert_eq!(two.workload.name(), "lock/fenced");
            assert_eq!(one.faults.len(), if faults == 0 { 2 } else { 1 });
        }
        assert_ne!(plan(&setup, 0, 0, 7), plan(&setup, 0, 0, 8));
        setup.subjects[1].timing.session_ms = 4000;
        let (one, two) = (plan(&setup, 0, 0, 7), plan(&setup, 1, 0, 7));
        assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
    }

    #[test]
    fn variants_that_are_alike_have_one_plan() {
        for first in naming::variants().iter().map(|name| naming::workload(name).unwrap()) {
            let draw = |workload: &Workload| {
                let spec = RunSpec {
                    seed: Some(7),
                    timing: Some(Timing::default()),
                    faults: Some(crate::faults::names().join(",")),
                    ..RunSpec::new(workload.name())
                };
                spec.plan().unwrap()
            };
            let of_first = draw(&first);
            for other in naming::variants().iter().map(|name| naming::workload(name).unwrap()) {
                if draw::alike(&first, &other) {
                    let of_other = Plan {
                        workload: first.clone(),
                        ..draw(&other)
                    };
                    assert_same(&of_other, &of_first, &other.name());
                }
            }
        }
    }

    #[test]
    fn the_line_of_every_run_runs_its_plan() {
        let families: BTreeSet<String> = naming::variants()
            .iter()
            .map(|name| name.split('/').next().unwrap().to_string())
            .collect();
        for family in families {
            let prefix = format!("{family}/");
            let names = naming::variants();
            let names: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(&prefix)).collect();
            let mut setup = setup(&names, &["none", "pause", "kill+partition+drop-reply"], &[1, 2]);
            setup.family = family;
            // Each in another size and with other clocks than the one before.
            let mut others = setup.subjects.clone();
            others.iter_mut().for_each(|subject| {
                subject.servers = 5;
                subject.timing = timing("500/4/4000").unwrap();
            });
            setup.subjects.extend(others);
            for (name, spec) in setup.specs().unwrap() {
                let plan = spec.plan().unwrap();
                let line = again::drawn(&plan).unwrap_or_else(|| panic!("{name} has no line"));
                assert_same(&run_again(&line), &plan, &line);
            }
        }
    }

    #[test]
    fn what_clients_have_other_words_for_is_drawn_for_them() {
        let mut setup = setup(&["fifo", "double-barrier"], &["kill"], &[7]);
        setup.family = "queue".into();
        let (one, two) = (plan(&setup, 0, 0, 7), plan(&setup, 1, 0, 7));
        assert_ne!(one.windows, two.windows);
        let alone = draw::plan(
            7,
            setup.workload(1).unwrap(),
            two.cluster.clone(),
            20_000,
            &["kill".into()],
        );
        assert_eq!(two, alone);
    }

    #[test]
    fn nothing_is_compared_with_itself_or_with_something_else() {
        let refused = |setup: Setup| setup.check().unwrap_err();
        assert_eq!(
            setup(&["predecessor", "fenced"], &["none", "pause"], &[1]).check(),
            Ok(())
        );
        assert!(refused(setup(&["fenced", "fenced"], &["none"], &[1])).contains("fenced is there twice"));
        assert!(refused(setup(&["fenced"], &["none", "none"], &[1])).contains("none are there twice"));
        let queues = Setup {
            family: "queue".into(),
            ..setup(&["fifo", "claimed", "barrier"], &["none"], &[1])
        };
        assert!(refused(queues).contains("fifo is measured in items, barrier in rounds"));
    }

    #[test]
    fn a_label_says_what_differs() {
        let mut setup = setup(&["fenced", "fenced"], &["none"], &[1]);
        setup.subjects[1].servers = 5;
        setup.subjects[1].timing.session_ms = 4000;
        assert_eq!(setup.label(1), "250/4/4000, 5 servers");
        assert_eq!(super::tests::setup(&["fenced"], &[], &[]).label(0), "fenced");
    }
}
