//! Counterexamples as runs.

use super::search::Counterexample;
use std::fs;
use std::io;
use std::path::Path;
use zooquake_history::jsonl::to_line;
use zooquake_history::plan::{ClientPlan, ClusterPlan, On, Plan, Scheduler};
use zooquake_history::{History, Record};
use zooquake_network::play;
use zooquake_network::tracing::TraceScript;
use zooquake_workloads::consensus::variants::ConsensusVariant;

/// The plan of a run of a variant in which what happens on a counterexample does, one thing a millisecond, and nothing
/// else. Nodes that the variant has beside those of the counterexample start, and take nothing.
pub fn plan(variant: &ConsensusVariant, seed: u64, cluster: &ClusterPlan, found: &Counterexample) -> Plan {
    let TraceScript { steps, windows, end_ms } = TraceScript::new(&found.items, &found.names);
    Plan {
        format: 1,
        on: On::Network,
        scheduler: Scheduler::Script(steps),
        seed,
        workload: variant.workload(),
        cluster: cluster.clone(),
        time_ms: end_ms,
        faults: windows.first().map(|window| window.fault.clone()).into_iter().collect(),
        windows,
        clients: vec![ClientPlan::default(); cluster.clients],
        ..Plan::default()
    }
}

/// Plays a plan on a network; its record.
///
/// # Errors
/// If it is no plan for a network.
pub fn record(plan: &Plan) -> Result<Record, String> {
    let played = play::play(plan)?;
    Ok(Record {
        plan: plan.clone(),
        history: History { events: played.events },
        messages: Some(played.messages),
        ..Record::default()
    })
}

/// Writes a record as the folder of a run, which `zooquake check` and `zooquake report` take: `plan.json`,
/// `history.jsonl` and `messages.jsonl`. The folder is made; files in it are replaced.
///
/// # Errors
/// If it cannot be written.
pub fn write(record: &Record, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let plan = serde_json::to_string_pretty(&record.plan)? + "\n";
    fs::write(folder.join("plan.json"), plan)?;
    let events: String = record.history.events.iter().map(to_line).collect();
    fs::write(folder.join("history.jsonl"), events)?;
    let messages: String = record.messages.iter().flatten().map(to_line).collect();
    fs::write(folder.join("messages.jsonl"), messages)
}
