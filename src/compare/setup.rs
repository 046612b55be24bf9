//! What is compared: subjects, under which faults, with which plans.

use super::order::{Turn, turns};
use crate::naming;
use crate::run::{draw, feasible};
use serde::{Deserialize, Serialize};
use zooquake_checkers::plan::{Cluster, Plan, Timing, Workload};

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

impl Subject {
    /// Its cluster.
    fn cluster(&self, clients: usize) -> Cluster {
        Cluster {
            servers: self.servers,
            observers: 0,
            clients,
            image: self.zookeeper.clone(),
            timing: self.timing,
        }
    }
}

impl Setup {
    /// The workload of a subject.
    ///
    /// # Errors
    /// If the variant does not exist (any more): what is said to the user.
    pub fn workload(&self, subject: usize) -> Result<Workload, String> {
        naming::workload(&format!("{}/{}", self.family, self.subjects[subject].variant))
    }

    /// The plan of a subject's run: that of the first subject with the smallest ensemble and the same words for what clients
    /// do, but for what is compared. So windows and cycles are the same for all of them.
    ///
    /// # Errors
    /// If a variant or a fault does not exist (any more): what is said to the user.
    pub fn plan(&self, subject: usize, faults: usize, seed: u64) -> Result<Plan, String> {
        let own = self.workload(subject)?;
        let kinds = naming::faults(&self.faults[faults].replace('+', ","))?;
        let mut kin = subject;
        for other in (0..self.subjects.len()).rev() {
            let alike = draw::alike(&self.workload(other)?, &own);
            if alike && self.subjects[other].servers <= self.subjects[kin].servers {
                kin = other;
            }
        }
        let drawn_for = self.subjects[kin].cluster(self.clients);
        let mut plan = draw::plan(seed, self.workload(kin)?, drawn_for, self.time_ms, &kinds);
        plan.workload = own;
        plan.cluster = self.subjects[subject].cluster(self.clients);
        Ok(plan)
    }

    /// Refuses what is there twice, which would be compared with itself.
    ///
    /// # Errors
    /// What is said to the user.
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

    /// The plans that cannot end valid, each with its name and why.
    ///
    /// # Errors
    /// If a variant or a fault does not exist (any more): what is said to the user.
    pub fn shortfalls(&self) -> Result<Vec<(String, Vec<String>)>, String> {
        let mut short = Vec::new();
        for turn in turns(self) {
            let (Turn { subject, faults, .. }, seed) = (turn, self.seeds[turn.round]);
            let shortfalls = feasible::shortfalls(&self.plan(subject, faults, seed)?);
            if !shortfalls.is_empty() {
                let name = format!("{} under {}, seed {seed}", self.label(subject), self.faults[faults]);
                short.push((name, shortfalls));
            }
        }
        Ok(short)
    }

    /// The shortest time in which all runs can end valid, in milliseconds; `None` if no time would do.
    pub fn enough_ms(&self) -> Option<u64> {
        let shortest = |turn: Turn| {
            feasible::shortest_ms(|time_ms| {
                let longer = Self {
                    time_ms,
                    ..self.clone()
                };
                let plan = longer.plan(turn.subject, turn.faults, self.seeds[turn.round]);
                plan.unwrap_or_default()
            })
        };
        turns(self)
            .into_iter()
            .try_fold(0, |enough, turn| Some(shortest(turn)?.max(enough)))
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

/// `250/4/2000`.
fn clocks(timing: &Timing) -> String {
    format!("{}/{}/{}", timing.tick_ms, timing.sync_limit, timing.session_ms)
}

#[cfg(test)]
pub mod tests {
    use super::*;

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

    #[test]
    fn all_subjects_run_the_same_plan() {
        let mut setup = setup(&["predecessor", "fenced"], &["pause+kill", "partition"], &[7]);
        setup.subjects[1].servers = 5;
        setup.subjects[1].zookeeper = Some("trixie".into());
        for faults in 0..2 {
            let (one, two) = (setup.plan(0, faults, 7).unwrap(), setup.plan(1, faults, 7).unwrap());
            assert!(!one.windows.is_empty());
            assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
            assert_eq!((one.cluster.servers, two.cluster.servers), (3, 5));
            assert_eq!(two.cluster.image.as_deref(), Some("trixie"));
            assert_eq!(two.workload.name(), "lock/fenced");
            assert_eq!(one.faults.len(), if faults == 0 { 2 } else { 1 });
        }
        assert_ne!(setup.plan(0, 0, 7), setup.plan(0, 0, 8));
        setup.subjects[1].timing.session_ms = 4000;
        let (one, two) = (setup.plan(0, 0, 7).unwrap(), setup.plan(1, 0, 7).unwrap());
        assert_eq!((&one.windows, &one.clients), (&two.windows, &two.clients));
    }

    #[test]
    fn what_clients_have_other_words_for_is_drawn_for_them() {
        let mut setup = setup(&["tutorial", "double"], &["kill"], &[7]);
        setup.family = "barrier".into();
        let (one, two) = (setup.plan(0, 0, 7).unwrap(), setup.plan(1, 0, 7).unwrap());
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
    fn nothing_is_compared_with_itself() {
        let refused = |setup: Setup| setup.check().unwrap_err();
        assert_eq!(
            setup(&["predecessor", "fenced"], &["none", "pause"], &[1]).check(),
            Ok(())
        );
        assert!(refused(setup(&["fenced", "fenced"], &["none"], &[1])).contains("fenced is there twice"));
        assert!(refused(setup(&["fenced"], &["none", "none"], &[1])).contains("none are there twice"));
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
