//! What a run is to do, in words.

use crate::backends;
use zooquake_history::plan::Plan;

/// What a run is to do, and about how long a real ensemble takes for it.
pub fn intent(plan: &Plan) -> String {
    /// Seconds that bringing up, recovery, the last reads and clearing away take.
    const AROUND: u64 = 20;
    let servers = plan.cluster.servers + plan.cluster.observers;
    if !plan.scenes.is_empty() {
        return format!("{} scenes on {servers} servers", plan.scenes.len());
    }
    let faults = match plan.faults.as_slice() {
        [] => "without faults".to_owned(),
        faults => format!("under {}", faults.join(", ")),
    };
    let seconds = plan.time_ms.div_ceil(1000);
    let about = match backends::capabilities(plan.on).virtual_time {
        true => String::new(),
        false => format!(", about {} s in all", seconds + AROUND),
    };
    let hosts = match plan.cluster.hosts.len() {
        0 => String::new(),
        hosts => format!(" on {hosts} hosts"),
    };
    format!(
        "{servers} servers, {} clients{hosts}, {seconds} s {faults}{about}",
        plan.cluster.clients
    )
}
