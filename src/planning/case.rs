//! A plan with what its names stand for: each is looked up once, before anything of the plan is run.

use super::{names, scenes};
use crate::backends::{self, BackendKind};
use crate::faults::{self, Fault};
use std::fmt;
use zooquake_history::operation::{self, Family};
use zooquake_history::plan::{ConsensusGoal, Plan, Workload};
use zooquake_workloads::consensus::variants::{self, ConsensusVariant};
use zooquake_workloads::recipes;

/// What is run, with this program's entry of it.
#[derive(Clone, Copy)]
pub enum Subject {
    /// A built-in recipe, be it one with a planted bug.
    Recipe(&'static recipes::Variant),
    /// A recipe of the user's own: the plan's workload holds it.
    OwnRecipe,
    /// A run of scenes.
    Scenes(&'static scenes::Variant),
    /// A consensus protocol, be it one with a planted bug.
    Protocol(&'static ConsensusVariant),
}

/// A plan, and what its names stand for.
#[derive(Clone)]
pub struct Case {
    plan: Plan,
    subject: Subject,
    family: &'static Family,
    faults: Vec<Option<&'static Fault>>,
    backend: &'static BackendKind,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.plan).finish()
    }
}

impl Case {
    /// Looks the names of a plan up.
    ///
    /// # Errors
    /// If this program does not have what is to be run: what is wrong, as the end of a sentence about the plan.
    pub fn new(plan: Plan) -> Result<Self, String> {
        let (subject, family) = subject(&plan.workload)?;
        Ok(Self::of(plan, subject, family))
    }

    fn of(plan: Plan, subject: Subject, family: &'static Family) -> Self {
        Self {
            faults: plan.windows.iter().map(|window| faults::find(&window.fault)).collect(),
            backend: backends::kind(plan.on),
            plan,
            subject,
            family,
        }
    }

    /// The case of another plan of the same workload.
    #[must_use]
    pub fn replanned(&self, plan: Plan) -> Self {
        let of = |plan: &Plan| plan.workload.name();
        debug_assert_eq!(of(&plan), of(&self.plan), "another workload is another case");
        Self::of(plan, self.subject, self.family)
    }

    /// The case of its plan with a change, which keeps the workload.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(Plan) -> Plan) -> Self {
        Self::of(change(self.plan), self.subject, self.family)
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn into_plan(self) -> Plan {
        self.plan
    }

    pub fn subject(&self) -> Subject {
        self.subject
    }

    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The fault of each of its windows, in their order; `None` of one that strikes no ensemble.
    pub fn faults(&self) -> &[Option<&'static Fault>] {
        &self.faults
    }

    /// Where it runs.
    pub fn backend(&self) -> &'static BackendKind {
        self.backend
    }
}

/// What a plan's workload is, and of which family.
fn subject(workload: &Workload) -> Result<(Subject, &'static Family), String> {
    let (name, family) = (workload.name(), operation::family(&workload.family));
    let is_protocol = workload.goal != ConsensusGoal::Nothing;
    if workload.recipe.is_some() {
        let family = family.filter(|family| family.recipes);
        let family = family.ok_or_else(|| format!("is of {name:?}, of a family that this zooquake does not have"))?;
        let protocol = variants::variant(&workload.variant).filter(|_| is_protocol);
        return Ok((protocol.map_or(Subject::OwnRecipe, Subject::Protocol), family));
    }
    let subject = names::subject(&name).filter(|subject| is_protocol || !matches!(subject, Subject::Protocol(_)));
    subject
        .zip(family)
        .ok_or_else(|| format!("is of {name:?}, a variant that this zooquake does not have"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::spec::RunSpec;

    fn drawn(name: &str) -> Plan {
        RunSpec::new(name).plan().unwrap()
    }

    #[test]
    fn a_plan_of_what_this_program_does_not_have_is_no_case() {
        let refused = |name: &str, change: fn(&mut Workload)| {
            let mut plan = drawn(name);
            change(&mut plan.workload);
            Case::new(plan).unwrap_err()
        };
        for why in [
            refused("lock/fenced", |workload| workload.variant = "gone".into()),
            refused("lock/fenced", |workload| workload.family = "lok".into()),
            refused("consensus/paxos", |workload| workload.goal = ConsensusGoal::Nothing),
        ] {
            assert!(why.ends_with("a variant that this zooquake does not have"), "{why}");
        }
        let own = |workload: &mut Workload| {
            (workload.recipe, workload.family) = (Some(Default::default()), "ensemble".into());
        };
        assert!(refused("lock/fenced", own).contains("of a family that"));
    }

    #[test]
    fn a_changed_plan_has_the_faults_and_the_backend_of_its_own() {
        let case = Case::new(drawn("lock/fenced")).unwrap();
        assert!(
            case.faults()
                .iter()
                .zip(&case.plan().windows)
                .all(|(fault, window)| { fault.is_some_and(|fault| fault.kind.name == window.fault) })
        );
        let changed = case.changed(|mut plan| {
            plan.windows.truncate(1);
            plan.windows[0].fault = "none of ours".into();
            plan.placed(zooquake_history::plan::On::Sim)
        });
        assert!(matches!(changed.faults(), [None]) && changed.backend().capabilities.virtual_time);
    }
}
