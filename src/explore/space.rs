//! What is explored: a variant, the size of its schedules, and the plan of each.

use crate::backends::sim;
use crate::faults::{Fault, Topology};
use crate::planning::case::Case;
use crate::planning::names::{self, NamedWorkload};
use crate::planning::{admission, drawing};
use serde::{Deserialize, Serialize};
use zooquake_history::plan::{ClientState, ClusterPlan, On, Plan, Trigger, Window};

/// The longest that the operations of a schedule may take, in milliseconds of virtual time: one that waits for ever is
/// ended.
const LONGEST_MS: u64 = 30_000;

/// Within so many milliseconds of the one before, or of the beginning, a window may strike.
const SPREAD_MS: u64 = 1_200;

/// The windows of a schedule are those that a long run has in its first rounds and later ones.
const ROUNDS: usize = 8;

/// How the schedules of a plan are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// One of each plan, at random.
    #[default]
    Walk,
    /// One of each plan, by priorities that fall at `depth` - 1 points.
    Pct {
        /// The depth of the failures looked for; at least 1.
        depth: u32,
    },
    /// All of a plan that have so many delays at most, and then those of the next plan.
    Exhaustive {
        /// The bound.
        delays: u32,
    },
}

/// The schedules of a variant. Each is drawn from a seed of its own, and so is the order in which things happen in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// `lock/protected`, ….
    pub variant: String,
    /// Servers, which all vote.
    pub servers: usize,
    pub clients: usize,
    /// Operations that each client is asked for before the faults are healed.
    pub ops: u64,
    /// Fault windows of a schedule.
    pub windows: usize,
    /// The kinds that they are drawn from.
    pub faults: Vec<String>,
    /// The seed of the first schedule; the next ones follow.
    pub seed: u64,
    /// How the schedules of a plan are chosen.
    #[serde(default)]
    pub search: Search,
}

/// A space with what its names stand for: its schedules are drawn from it.
#[derive(Clone)]
pub struct ResolvedSpace {
    pub space: Space,
    faults: Vec<&'static Fault>,
    topology: Topology,
    /// The case of a plan without windows: the others are of the same workload and cluster.
    bare: Case,
}

impl Space {
    /// Looks its names up.
    ///
    /// # Errors
    /// If the variant does not exist or cannot be simulated: the message for the user.
    pub fn resolve(&self) -> Result<ResolvedSpace, String> {
        let NamedWorkload { workload, subject } = names::named(&self.variant)?;
        admission::workload_on(&sim::KIND, &workload, subject)?;
        let cluster = ClusterPlan {
            servers: self.servers,
            clients: self.clients,
            timing: drawing::timing(&workload),
            ..ClusterPlan::default()
        };
        Ok(ResolvedSpace {
            space: self.clone(),
            faults: names::ensemble_faults(&self.faults),
            topology: Topology::new(&workload, &cluster),
            bare: Case::new(drawing::plan(self.seed, workload, cluster, LONGEST_MS, &[]))?,
        })
    }
}

impl ResolvedSpace {
    /// The same with another seed of its first schedule.
    pub fn beginning_at(self, seed: u64) -> Self {
        let space = Space { seed, ..self.space };
        Self { space, ..self }
    }

    /// The case of the schedule with this seed.
    pub fn case(&self, seed: u64) -> Case {
        let Plan { workload, cluster, .. } = self.bare.plan();
        let Space { ops, search, .. } = self.space;
        let mut plan = drawing::plan(seed, workload.clone(), cluster.clone(), LONGEST_MS, &[]);
        plan.on = On::Sim;
        for client in &mut plan.clients {
            client.ops = Some(ops);
            client
                .cycles
                .truncate(usize::try_from(ops).unwrap_or(usize::MAX).max(1));
        }
        if let Search::Exhaustive { .. } = search {
            // Clients that think do not meet within the window of the scheduler.
            let cycles = plan.clients.iter_mut().flat_map(|client| &mut client.cycles);
            cycles.for_each(|cycle| cycle.think_ms = 0);
        }
        plan.windows = self.windows(seed);
        plan.faults = plan.windows.iter().map(|window| window.fault.clone()).collect();
        plan.faults.sort_unstable();
        plan.faults.dedup();
        self.bare.replanned(plan)
    }

    fn windows(&self, seed: u64) -> Vec<Window> {
        // A stream of its own: what clients do depends on the seed alone.
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x77_1d_0e_5c);
        let mut from_ms = 0;
        let mut windows = Vec::new();
        for id in 1..=self.space.windows {
            let Some(fault) = rng.choice(&self.faults) else { break };
            let round = rng.usize(0..ROUNDS);
            from_ms += rng.u64(0..SPREAD_MS);
            windows.push(fault.draw(&mut rng, &self.topology, round, id, from_ms));
        }
        windows
    }
}

/// The state that a window waits for, in a word.
pub fn state(window: &Window) -> String {
    match &window.trigger {
        Trigger::At { .. } => "by the clock".to_string(),
        Trigger::State {
            state: ClientState::Asked(f),
            ..
        } => format!("in `{f}`"),
        Trigger::State {
            state: ClientState::Answered(f),
            ..
        } => format!("after `{f}`"),
        Trigger::State { state, .. } => format!("{state:?}").to_lowercase(),
        Trigger::Op { f, .. } => format!("in `{f}`"),
        Trigger::Count { .. } => "after operations".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            variant: "lock/protected".into(),
            servers: 3,
            clients: 5,
            ops: 8,
            windows: 2,
            faults: ["kill", "pause", "expire"].map(String::from).into(),
            seed: 1,
            search: Search::Walk,
        }
    }

    #[test]
    fn a_schedule_is_drawn_from_its_seed_and_has_the_size_that_was_asked_for() {
        let space = space().resolve().unwrap();
        let mut drawn = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let plan = space.case(seed).into_plan();
            assert_eq!(plan, space.case(seed).into_plan());
            assert_eq!((plan.windows.len(), plan.clients.len(), plan.on), (2, 5, On::Sim));
            assert!(plan.clients.iter().all(|client| client.ops == Some(8)));
            assert!(plan.windows.iter().all(|window| plan.faults.contains(&window.fault)));
            drawn.extend(plan.windows.iter().map(|window| (window.fault.clone(), state(window))));
        }
        assert!(drawn.len() > 5, "{drawn:?}");
    }

    #[test]
    fn what_cannot_be_simulated_has_no_space() {
        let refused = |variant: &str| {
            let space = Space {
                variant: variant.into(),
                ..space()
            };
            space.resolve().map(drop).unwrap_err()
        };
        assert!(refused("lock/crate").contains("client library"));
        assert!(refused("lock/protcted").contains("did you mean `lock/protected`"));
    }
}
