//! The family `consensus`: protocols whose nodes agree on a value, on a leader, or on a log, on networks in virtual
//! time. No ZooKeeper takes part.
//!
//! [`judge`] has the properties, step by step, for searches too; here a history becomes steps, and violations become
//! anomalies in words.

pub mod judge;
mod leaders;
mod logs;
mod values;
mod violation;

use crate::analysis::Analysis;
use crate::family_checks::FamilyChecks;
use crate::findings::{Finding, Findings};
use crate::record_gaps::FileNeeds;
use crate::verdict::verdict;
use crate::{Results, cause, record_gaps};
pub use judge::{ConsensusJudge, ConsensusStep, NodeSets};
pub use leaders::LeadingNode;
pub use logs::LogDivergence;
use logs::LogGaps;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use violation::DIVERGING_REPLICAS;
pub use violation::{ConsensusViolation, Credentials, LeaderViolation, ViolationKind};
use zooquake_history::operation::consensus::{self, Announcement, NODES};
use zooquake_history::{Event, EventType, Node, Process, Record};

/// The family of consensus protocols.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &consensus::FAMILY,
    check,
    checkers: &[
        "disagreement",
        "invalid-value",
        "two-leaders",
        "two-ensemble-leaders",
        "lesser-vote-won",
        "lost-message",
        DIVERGING_REPLICAS,
        "no-decision",
        "no-leader",
    ],
    measures: None,
    infer: |_| None,
    needs_plan: &[],
};

/// The most violations of one kind that become anomalies; of more of them only the number.
const NAMED: usize = 20;

/// The whole verdict over a run of a consensus protocol.
fn check(record: &Record) -> Results {
    let run = Analysis::new(record);
    let mut found = Findings::default();
    let mut reasons = record.damage.clone();
    reasons.extend(record_gaps::file_reasons(&run.record, FileNeeds::default()));
    let names = node_names(run.events);
    if names.is_empty() {
        reasons.push("the history does not name the nodes of its network".to_owned());
    }
    let mut judge = ConsensusJudge::new(record.plan.workload.goal, NodeSets::from_names(&names));
    let mut steps: BTreeMap<&str, usize> = BTreeMap::new();
    let mut violations = Vec::new();
    for (place, step) in run.events.iter().flat_map(|event| steps_of(event, &names)) {
        *steps.entry(kind(step)).or_default() += 1;
        violations.extend(judge.take(place, step));
    }
    let end = run.phase("done");
    match (run.phase("recovered"), end) {
        (Some(healed), Some(end)) => violations.extend(judge.close(healed, end)),
        _ => reasons.push("the run did not reach its end: what comes about after healing was not judged".to_owned()),
    }
    if end.is_some() {
        violations.extend(judge.standing());
    }
    for violation in distinct(violations, &mut reasons) {
        let (kind, why) = (&violation.kind, violation.words(&names, &run));
        let finding = Finding::new(kind.anomaly(), kind.property(), violation.witness.clone(), why);
        let first = violation.witness.iter().min().map(|&place| run.events[place].time);
        match kind {
            _ if kind.property() == "liveness" => found.add_at_end(&run, finding, None),
            ViolationKind::DivergingReplicas(_) => found.add_at_end(&run, finding, first),
            _ => found.add(&run, finding),
        }
    }
    if let Some(gaps) = judge.log_gaps() {
        leave(gaps, &mut found);
    }
    for checker in FAMILY.checkers {
        found.ran(checker, steps.values().sum());
    }
    cause::close(&run, &mut found);
    reasons.extend(run.ops.misfit_reason(run.events));
    windows(&run, &mut reasons);
    close(&run, found, (reasons, steps, names))
}

/// The names of the nodes by their numbers; none if the history has no such event.
pub fn node_names(events: &[Event]) -> Vec<Node> {
    let listed = events.iter().find(|event| event.f == NODES && event.is_of("run"));
    let names = listed.and_then(|event| event.value.as_array());
    let node = |name: &zooquake_history::Value| name.as_str().map(Node::from);
    names.into_iter().flatten().filter_map(node).collect()
}

/// What that is called in which nodes of these names vote for a value: Fast Paxos, whose leaders are coordinators,
/// names it round, Paxos ballot.
pub fn voting_word(names: &[Node]) -> &'static str {
    match names.iter().any(|name| name.role() == Some("coordinator")) {
        true => "round",
        false => "ballot",
    }
}

/// What an event is to the judge, with its place.
fn steps_of(event: &Event, names: &[Node]) -> Vec<(usize, ConsensusStep)> {
    // Sets of nodes have 32 bits.
    let number = |name: &str| names.iter().take(32).position(|other| other == name);
    let node = |name: &str| number(name).and_then(|node| u8::try_from(node).ok());
    let place = event.index;
    if let Some((node, announcement)) = Announcement::read(event, names) {
        return vec![(place, ConsensusStep::Announcement { node, announcement })];
    }
    let value = event.content().and_then(|value| u32::try_from(value).ok());
    if let (EventType::Invoke | EventType::Ok, Process::Number(_)) = (event.kind, &event.process) {
        let client = event.node.as_deref().and_then(node);
        let step = client.zip(value).map(|(node, value)| match event.kind {
            EventType::Invoke => ConsensusStep::Request { node, value },
            _ => ConsensusStep::Announcement {
                node,
                announcement: Announcement::Answered { value },
            },
        });
        return step.map(|step| (place, step)).into_iter().collect();
    }
    if event.is_of("nemesis") && event.f == "kill" && event.phase() == Some("on") {
        let dead = event.target().unwrap_or_default().split(',').filter_map(node);
        return dead.map(|node| (place, ConsensusStep::Death { node })).collect();
    }
    Vec::new()
}

fn kind(step: ConsensusStep) -> &'static str {
    match step {
        ConsensusStep::Request { .. } => "requests",
        ConsensusStep::Announcement { .. } => "announcements",
        ConsensusStep::Death { .. } => "deaths",
    }
}

/// The violations, each kind of them at most so often as is named; a reason names how many more there are.
fn distinct(violations: Vec<ConsensusViolation>, reasons: &mut Vec<String>) -> Vec<ConsensusViolation> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for violation in violations {
        let count = counts.entry(violation.kind.anomaly()).or_default();
        *count += 1;
        if *count <= NAMED {
            kept.push(violation);
        }
    }
    for (kind, count) in counts.into_iter().filter(|(_, count)| *count > NAMED) {
        reasons.push(format!(
            "note: of {count} violations {kind} the first {NAMED} are named"
        ));
    }
    kept
}

/// What is not judged of the logs of replicas, as records of earlier versions lack it.
fn leave(gaps: LogGaps, found: &mut Findings) {
    if gaps.in_sync {
        let why = "the record does not have which replicas are in sync";
        found.leave(DIVERGING_REPLICAS, why.to_owned());
    }
    if gaps.rounds > 0 {
        let records = crate::text::count(gaps.rounds, "stored record");
        let why = format!("{records} without an epoch: what is before others of one epoch is still compared");
        found.leave(DIVERGING_REPLICAS, why);
    }
}

/// Each kind of fault that was asked for needs a window that hit something.
fn windows(run: &Analysis<'_>, reasons: &mut Vec<String>) {
    for fault in &run.record.plan.faults {
        let mut windows = run.windows.iter().filter(|window| window.fault == *fault);
        if !windows.any(|window| window.counts) {
            reasons.push(format!("no window of {fault} hit anything"));
        }
    }
}

fn close(
    run: &Analysis<'_>,
    found: Findings,
    (mut reasons, steps, names): (Vec<String>, BTreeMap<&str, usize>, Vec<Node>),
) -> Results {
    reasons.extend(found.reasons);
    reasons.sort_by_key(|reason| reason.starts_with("note: "));
    let stats: [(&str, Value); 5] = [
        ("events", json!(run.events.len())),
        ("nodes", json!(names)),
        ("steps", json!(steps)),
        ("windows", json!(run.windows.len())),
        (
            "windows_counting",
            json!(run.windows.iter().filter(|window| window.counts).count()),
        ),
    ];
    Results {
        on: run.record.plan.on,
        verdict: verdict(&found.anomalies, &reasons),
        anomalies: found.anomalies,
        reasons,
        not_judged: found.not_judged,
        windows: run.windows.clone(),
        checkers: found.checkers,
        stats: stats
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        ..Results::default()
    }
}

#[cfg(test)]
mod tests;
