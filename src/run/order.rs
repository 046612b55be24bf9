//! What a run needs besides its plan.

use super::folder::Folder;
use super::slot::Slot;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;
use zooquake_backend::Backend;
use zooquake_backend::images::Source;
use zooquake_history::plan::Plan;

/// What to run.
pub struct RunOrder {
    pub plan: Plan,
    /// The files of its recipe, if that is not built in; the run's folder keeps them.
    pub recipe: Option<Source>,
    /// Where it runs.
    pub backend: Arc<dyn Backend>,
    /// The folder of runs.
    pub out: PathBuf,
    /// Whether the cluster is left standing at the end.
    pub keep: bool,
    /// Whether no progress is printed.
    pub quiet: bool,
    /// Its room among the runs that go on at once.
    pub slot: Slot,
    /// Is sent the folder when that is made.
    pub begun: Option<watch::Sender<Option<Folder>>>,
    /// Becomes true when the user wants it to stop.
    pub interrupt: watch::Receiver<bool>,
}
