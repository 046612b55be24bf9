//! What records a run, and on what: kept from the beginning, and anew with all that becomes known of it.

use super::store::Store;
use crate::version;
use anyhow::Result;
use zooquake_checkers::ensemble;
use zooquake_history::plan::{On, Plan};
use zooquake_history::{Provenance, ServerSample};

/// The provenance of a run that goes on.
pub struct ProvenanceNotes {
    provenance: Provenance,
    on: On,
    store: Store,
}

impl ProvenanceNotes {
    /// Begins with what is known before anything is started.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(plan: &Plan, store: &Store) -> Result<Self> {
        let mut provenance = Provenance::default();
        provenance.set(Provenance::ZOOQUAKE, version::NUMBER);
        provenance.set(Provenance::ON, plan.on.name());
        let recipe = plan.workload.recipe.as_ref();
        let known = [
            (Provenance::COMMIT, version::COMMIT),
            (Provenance::RECIPE, recipe.and_then(|recipe| recipe.digest.as_deref())),
        ];
        for (name, value) in known {
            if let Some(value) = value {
                provenance.set(name, value);
            }
        }
        let notes = Self {
            provenance,
            on: plan.on,
            store: store.clone(),
        };
        notes.keep()?;
        Ok(notes)
    }

    /// Adds the engine that answered, if there is one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn engine(&mut self, engine: Option<String>) -> Result<()> {
        let Some(engine) = engine else { return Ok(()) };
        self.provenance.set(Provenance::ENGINE, engine);
        self.keep()
    }

    /// Adds the versions of ZooKeeper that real servers reported so far.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn servers(&mut self, samples: &[ServerSample]) -> Result<()> {
        let versions = ensemble::versions(Some(samples));
        if !self.on.is_real() || versions.is_empty() {
            return Ok(());
        }
        self.provenance.set(
            Provenance::ZOOKEEPER,
            versions.into_iter().collect::<zooquake_history::Value>(),
        );
        self.keep()
    }

    fn keep(&self) -> Result<()> {
        self.store.provenance(&self.provenance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::folder::Folder;
    use zooquake_history::plan::{RecipeSource, Workload};

    #[test]
    fn a_real_run_has_its_engine_its_zookeepers_and_the_image_of_its_recipe() {
        let plan = Plan {
            workload: Workload {
                recipe: Some(RecipeSource {
                    digest: Some("sha256:0a".into()),
                    ..RecipeSource::default()
                }),
                ..Workload::default()
            },
            ..Plan::default()
        };
        let out = tempfile::tempdir().unwrap();
        let folder = Folder::create(out.path(), &plan).unwrap();
        let mut notes = ProvenanceNotes::begin(&plan, &Store::Folder(folder.clone())).unwrap();
        let kept = || std::fs::read_to_string(folder.file("provenance.json")).unwrap();
        assert!(
            kept().contains(version::NUMBER) && kept().contains("sha256:0a"),
            "{}",
            kept()
        );
        assert!(!kept().contains("engine"), "{}", kept());
        notes.engine(Some("Docker 20.10.24".into())).unwrap();
        let sample = |version: &str| ServerSample {
            version: version.into(),
            ..ServerSample::default()
        };
        notes.servers(&[sample("3.9.3"), sample(""), sample("3.8.0")]).unwrap();
        let provenance: Provenance = serde_json::from_str(&kept()).unwrap();
        assert_eq!(provenance.text(Provenance::ENGINE), Some("Docker 20.10.24"));
        assert_eq!(provenance.text(Provenance::ON), Some("docker"));
        assert_eq!(provenance.zookeeper(), ["3.8.0", "3.9.3"]);
        assert_eq!(provenance.text(Provenance::COMMIT), version::COMMIT);
        assert!(!provenance.differs_from(version::NUMBER, version::COMMIT));
    }
}
