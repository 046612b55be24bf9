//! Clients of the history that the plan does not have: what they were to do, and how many may hold at a time, is not
//! known of them.

use crate::analysis::{RecordView, ops};
use crate::text::few;
use std::collections::BTreeSet;
use zooquake_history::Process;

/// A reason that names them; `None` if there are none, of a plan that was not read, and of scenes, which have no
/// clients.
pub fn reason(record: &RecordView<'_>) -> Option<String> {
    if !(record.plan.has_known_format() && record.plan.scenes.is_empty()) {
        return None;
    }
    let planned: BTreeSet<String> = record.plan.cluster.client_names().into_iter().collect();
    let events = record.history.events.iter();
    let clients = events.filter_map(|event| match event.process {
        Process::Number(_) => Some(ops::node(event)),
        Process::Name(_) => ops::named_client(event),
    });
    let strange: BTreeSet<&str> = clients.filter(|client| !planned.contains(*client)).collect();
    let strange: Vec<&str> = strange.into_iter().collect();
    let words = || {
        format!(
            "the history has operations of {}, which the plan does not have",
            few(&strange)
        )
    };
    (!strange.is_empty()).then(words)
}
