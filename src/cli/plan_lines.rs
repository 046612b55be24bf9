//! A plan that is short enough to be read, in lines.

use crate::explore::space::state;
use zooquake_history::plan::Plan;

/// The windows and the clients of a plan, a line each.
pub fn plan_lines(plan: &Plan) -> Vec<String> {
    let windows = plan.windows.iter().map(|window| {
        format!(
            "window {}: {} for {} ms, {}",
            window.id,
            window.fault,
            window.duration_ms,
            state(window)
        )
    });
    let clients = (1..).zip(&plan.clients).map(|(number, client)| match client.ops {
        Some(0) => format!("c{number}: nothing before the faults are healed"),
        Some(ops) => format!("c{number}: {ops} operations"),
        None => format!("c{number}: as many operations as there is time for"),
    });
    windows.chain(clients).collect()
}
