//! Operations that are still pending after recovery though they wait for nobody. No anomaly is made of them; but a run in
//! which one hangs says too little.

use crate::findings::Findings;
use crate::liveness;
use crate::run::Run;

/// Adds a reason for each.
pub fn check(run: &Run<'_>, out: &mut Findings) {
    let Some(recovered) = run.phase("recovered") else {
        return;
    };
    let last = run.events.len() - 1;
    let end = run.phase("audit").filter(|&audit| audit > recovered).unwrap_or(last);
    for op in &run.ops.work {
        let Some(asked) = op.invoke.filter(|&asked| asked < end) else {
            continue;
        };
        if liveness::pending_until(run, op, recovered, end).is_some() {
            let since = run.at(asked);
            out.reasons.push(format!(
                "the {} of {} sent at {since} was still pending after recovery",
                op.f, op.node
            ));
        }
    }
}
