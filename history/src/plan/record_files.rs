//! The files that the record of a run has once the run has ended.

use super::{Act, On, Plan};
use crate::node::Node;

/// What recorded the run.
pub const PROVENANCE: &str = "provenance.json";

/// The readings of the znode tree.
pub const TREE: &str = "tree.json";

/// The transactions of all servers' logs.
pub const TXNLOG: &str = "txnlog.jsonl";

/// What was read of each server's transaction logs.
pub const TXNLOGS: &str = "txnlogs.json";

/// The samples of the servers' states.
pub const SERVERS: &str = "servers.jsonl";

/// The messages of a network's nodes.
pub const MESSAGES: &str = "messages.jsonl";

/// The folder of logs.
const LOGS: &str = "logs";

/// The names of the files that the record of a plan's run has, beside plan and history, once the run has ended: those
/// of the evidence, and what recorded it. What no checker and no result reads (the clients' logs, the names of
/// containers) is not among them.
pub(super) fn of_plan(plan: &Plan) -> Vec<String> {
    let mut files = vec![PROVENANCE];
    match (plan.on, plan.scenes.is_empty()) {
        (On::Network, _) => files.push(MESSAGES),
        // Ensembles that follow one another have no tree and no order of transactions in common.
        (On::Docker | On::Sim, false) => files.push(SERVERS),
        (On::Docker | On::Sim, true) => files.extend([TREE, TXNLOG, TXNLOGS, SERVERS]),
    }
    let mut files: Vec<String> = files.into_iter().map(str::to_owned).collect();
    if plan.on.is_real() {
        files.extend(server_logs(plan));
    }
    files
}

/// The logs of the servers that are started: of a run of scenes, those of each scene in a folder of its own.
fn server_logs(plan: &Plan) -> Vec<String> {
    if plan.scenes.is_empty() {
        let servers = plan.cluster.ensemble();
        return servers.iter().map(|server| log_of(None, server)).collect();
    }
    let mut logs = Vec::new();
    for scene in &plan.scenes {
        let starts = scene.steps.iter().filter(|step| step.act == Act::Start);
        let started: Vec<&Node> = starts.flat_map(|step| &step.servers).collect();
        for server in plan.cluster.ensemble() {
            if started.contains(&&server) {
                logs.push(log_of(Some(&scene.name), &server));
            }
        }
    }
    logs
}

/// The name of a server's log, in the folder of its scene if it has one.
pub fn log_of(scene: Option<&str>, server: &Node) -> String {
    match scene {
        Some(scene) => format!("{LOGS}/{scene}/{server}.log"),
        None => format!("{LOGS}/{server}.log"),
    }
}

/// Whether a file of a record has this name.
pub fn is_name(file: &str) -> bool {
    [PROVENANCE, TREE, TXNLOG, TXNLOGS, SERVERS, MESSAGES].contains(&file) || server_log(file).is_some()
}

/// The scene, if there is one, and the server of a log; `None` if the name is that of no server's log.
pub fn server_log(file: &str) -> Option<(Option<&str>, &str)> {
    let within = file.strip_prefix(LOGS)?.strip_prefix('/')?.strip_suffix(".log")?;
    let (scene, server) = match within.rsplit_once('/') {
        Some((scene, server)) => (Some(scene), server),
        None => (None, within),
    };
    let number = server.strip_prefix('n')?;
    number.parse::<u32>().is_ok().then_some((scene, server))
}
