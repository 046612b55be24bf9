//! What anomalies come from, where the evidence proves it or leaves few possibilities.
//!
//! A checker gives an anomaly the cause that it finds in its own evidence. When all have run, [`close`] looks at what
//! stands in whose way: who waits behind a znode inherits its cause, and anomalies of one znode, transaction or window
//! have one root. [`record`] is a cause as results have it, [`subject`] what an anomaly is about.

pub mod orphan;
pub mod overwrite;
mod queue_order;
mod queued_znodes;
pub mod record;
pub mod removal;
mod root;
pub mod subject;
mod wait_state;
mod waiting;

use crate::analysis::Analysis;
use crate::findings::Findings;

/// Adds the causes that rest on several anomalies, decides what is accepted because of them, and puts the anomalies in
/// their order: not advisory before advisory, roots by their witnesses, and what follows from a root behind it.
pub fn close(run: &Analysis<'_>, found: &mut Findings) {
    waiting::add(run, found);
    root::link(&mut found.anomalies, &found.subjects);
    root::sort(&mut found.anomalies);
}
