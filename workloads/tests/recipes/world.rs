//! A machine in virtual time, and the notices of the clients on it.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use zooquake_history::operation::membership::GroupView;
use zooquake_workloads::recipes::{Env, Notice};
use zooquake_workloads::zk::counted::Counters;
use zooquake_workloads::zk::{Connect, SharedValue, sim};

/// The machine. Clones share it.
#[derive(Clone, Default)]
pub struct RecipeWorld {
    machine: sim::World,
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Deref for RecipeWorld {
    type Target = sim::World;

    fn deref(&self) -> &sim::World {
        &self.machine
    }
}

impl RecipeWorld {
    /// What a recipe is given.
    pub fn env(&self, connect: Arc<dyn Connect>) -> Env {
        let notices = self.notices.clone();
        Env {
            client: "c1".into(),
            connect,
            host: Arc::new(self.machine.clone()),
            ensemble: None,
            server: Some("n1".into()),
            journal: None,
            notify: Arc::new(move |notice| notices.lock().unwrap().push(notice)),
            sessions: SharedValue::new(BTreeSet::new()),
            bug: None,
            counters: Counters::default(),
        }
    }

    /// The items that were named before they were taken.
    pub fn taking(&self) -> Vec<i64> {
        let taking = |notice: &Notice| match notice {
            Notice::Taking { item } => Some(*item),
            _ => None,
        };
        self.notices.lock().unwrap().iter().filter_map(taking).collect()
    }

    /// The views of a group that were shown.
    pub fn views(&self) -> Vec<GroupView> {
        let shown = |notice: &Notice| match notice {
            Notice::View(view) => Some(view.clone()),
            _ => None,
        };
        self.notices.lock().unwrap().iter().filter_map(shown).collect()
    }

    /// The grants that were reported as lost.
    pub fn lost(&self) -> Vec<String> {
        let lost = |notice: &Notice| match notice {
            Notice::Lost { grant, .. } => Some(grant.clone()),
            Notice::Session { .. } | Notice::Taking { .. } | Notice::View(_) => None,
        };
        self.notices.lock().unwrap().iter().filter_map(lost).collect()
    }
}
