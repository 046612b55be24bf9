//! Requests and watch events that the clients counted.

use crate::analysis::Analysis;
use std::collections::HashMap;
use zooquake_history::EventType;
use zooquake_history::operation::control::f;

/// Requests and watch events of all clients until each last answered a `quiesce`. `None` if one counted nothing, or if
/// a process ended before, which took its counts with it.
pub fn request_counts(run: &Analysis<'_>) -> Option<(u64, u64)> {
    let (mut requests, mut events) = (0, 0);
    let mut quiet: HashMap<&str, usize> = HashMap::new();
    for op in run.ops.control.iter().filter(|op| op.f == f::QUIESCE) {
        let answered = op.end.filter(|&end| run.events[end].kind == EventType::Ok);
        quiet.extend(answered.map(|end| (op.node, end)));
    }
    for client in &run.clients.names {
        let last = *quiet.get(client.as_str())?;
        if run.clients.exits_of(client).first().is_some_and(|&at| at < last) {
            return None;
        }
        let counts = run.events[last].counts()?;
        requests = u64::saturating_add(requests, counts.requests());
        events = u64::saturating_add(events, counts.events);
    }
    (!run.clients.names.is_empty()).then_some((requests, events))
}
