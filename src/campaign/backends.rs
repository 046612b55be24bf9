//! The backends of a campaign's runs: those of one Docker engine, or simulated ones.

use crate::run::simulated;
use crate::sim::SimBackend;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use zooquake_backend::Backend;
use zooquake_backend::docker::DockerBackend;
use zooquake_checkers::plan::{On, Plan};

/// Where the runs of a campaign take place.
pub enum Place {
    /// On a Docker engine that answers.
    Docker(DockerBackend),
    /// On simulated ensembles.
    Sim,
}

impl Place {
    /// The place of this kind.
    ///
    /// # Errors
    /// If it is a Docker engine, and none answers.
    pub async fn connect(on: On) -> Result<Self> {
        match on {
            On::Docker => Ok(Self::Docker(DockerBackend::connect().await?)),
            On::Sim => Ok(Self::Sim),
        }
    }

    /// What finds and removes the runs that were left there.
    pub fn cleaner(&self) -> Box<dyn Backend> {
        match self {
            Self::Docker(engine) => Box::new(engine.clone()),
            Self::Sim => Box::new(SimBackend::default()),
        }
    }

    /// The backends there for each ZooKeeper asked for; `None` is the project's choice. What is missing is pulled or built.
    ///
    /// # Errors
    /// If an image cannot be prepared.
    pub async fn prepare<'a>(self, asked: impl IntoIterator<Item = Option<&'a str>>) -> Result<Backends> {
        let engine = match self {
            Self::Docker(engine) => engine,
            Self::Sim => return Ok(Backends::Sim),
        };
        let asked: BTreeSet<Option<&str>> = asked.into_iter().collect();
        let mut of_images = Vec::new();
        for name in asked {
            let backend: Arc<dyn Backend> = Arc::new(engine.with_images(name).await?);
            of_images.push((name.map(String::from), backend));
        }
        Ok(Backends::Docker { engine, of_images })
    }
}

/// Backends that are ready.
pub enum Backends {
    /// Those of a Docker engine.
    Docker {
        /// The engine.
        engine: DockerBackend,
        /// One with the images of each ZooKeeper asked for.
        of_images: Vec<(Option<String>, Arc<dyn Backend>)>,
    },
    /// A simulated one for each run, seeded by its plan.
    Sim,
}

impl Backends {
    /// The backend of a plan's run.
    ///
    /// # Errors
    /// If the images of its ZooKeeper were not prepared.
    pub fn of(&self, plan: &Plan) -> Result<Arc<dyn Backend>> {
        match self {
            Self::Docker { of_images, .. } => {
                let prepared = of_images.iter().find(|(asked, _)| *asked == plan.cluster.image);
                let (_, backend) = prepared.context("its images were not prepared")?;
                Ok(Arc::clone(backend))
            }
            Self::Sim => Ok(Arc::new(simulated::backend(plan))),
        }
    }
}
