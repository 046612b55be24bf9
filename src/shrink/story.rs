//! A plan that is short enough to be read, in lines.

use crate::explore::space::state;
use zooquake_checkers::Record;

/// The windows and the clients of a run's plan, a line each.
pub fn of(record: &Record) -> Vec<String> {
    let windows = record.plan.windows.iter().map(|window| {
        format!(
            "window {}: {} for {} ms, {}",
            window.id,
            window.fault,
            window.duration_ms,
            state(window)
        )
    });
    let clients = (1..)
        .zip(&record.plan.clients)
        .map(|(number, client)| match client.ops {
            Some(0) => format!("c{number}: nothing before the faults are healed"),
            Some(ops) => format!("c{number}: {ops} operations"),
            None => format!("c{number}: as many operations as there is time for"),
        });
    windows.chain(clients).collect()
}
