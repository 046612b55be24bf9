//! Runs on networks: played whole, in a moment.

use super::progress::{Progress, intent};
use super::provenance::ProvenanceNotes;
use super::store::Store;
use crate::planning::case::Case;
use anyhow::{Error, Result};
use zooquake_network::play;

/// Plays the plan of a case, and keeps what is recorded.
///
/// # Errors
/// If the plan is none for a network, or the record cannot be kept.
pub(super) fn attempt(case: &Case, store: &Store, quiet: bool) -> Result<()> {
    let (plan, mut progress) = (case.plan(), Progress::new(case.backend(), quiet));
    let (name, shown) = (plan.workload.name(), store.shown());
    progress.say(&format!("{name} in {shown}: {}", intent(case)));
    ProvenanceNotes::begin(plan, store)?;
    let record = play::play(plan).map_err(Error::msg)?;
    let mut events = store.history()?;
    record.events.into_iter().try_for_each(|event| events.append(event))?;
    store.messages(&record.messages)
}
