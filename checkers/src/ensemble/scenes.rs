//! Runs of scenes: whether each fresh ensemble elected the server that the plan names, by the rule that the plan names.
//!
//! Another outcome convicts nobody: the steps only make it likely that the votes meet as planned. So it is `unknown`,
//! and what convicts ZooKeeper are the anomalies of every run's ensemble.

use super::{Account, EnsembleElections, Suspicion, WallClock, accounts, versions};
use crate::analysis::RecordView;
use crate::family_checks::FamilyChecks;
use crate::record_gaps::FileNeeds;
use crate::verdict::{NOTE, verdict};
use crate::{Anomaly, Results, ensemble, record_gaps};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use zooquake_history::{
    Event, Node, Record, ServerSample, operation,
    plan::{Scene, Step},
    server_log::{ServerLog, ServerRole},
};

/// How many observers of a scene are named that did not observe; of more of them only the number.
const NAMED: usize = 20;

/// The family of scenes.
pub const FAMILY: FamilyChecks = FamilyChecks {
    spec: &operation::ensemble::FAMILY,
    check,
    checkers: &["scenes", "observers"],
    measures: None,
    infer: |_| None,
    needs_plan: &[],
};

/// The whole verdict over a run of scenes.
fn check(record: &Record) -> Results {
    let mut reasons = record.damage.clone();
    phases(record, &mut reasons);
    reasons.extend(record_gaps::reasons(&RecordView::new(record), FileNeeds::default()));
    let clock = WallClock::from_events(&record.history.events);
    let (mut told, mut anomalies) = (Vec::new(), Vec::new());
    let mut looked_at: BTreeMap<&str, usize> = BTreeMap::new();
    let told_of = SceneEvidence::new(record);
    let observers = record.plan.cluster.observers();
    let mut names = HashSet::new();
    for scene in &record.plan.scenes {
        // With two scenes of one name, the scene of a log or an event is ambiguous.
        if !names.insert(scene.name.as_str()) {
            reasons.push(format!("scene {}: the plan has several of this name", scene.name));
            continue;
        }
        let logs = record.scenes.get(&scene.name).map(Vec::as_slice).unwrap_or_default();
        let ensemble = EnsembleElections {
            logs,
            samples: told_of.samples(scene),
            clock: &clock,
        };
        match told_of
            .played(scene)
            .and_then(|leader| of_scene(scene, leader, &ensemble))
        {
            Ok(election) => told.push(election),
            Err(why) => reasons.push(format!("scene {}: {why}", scene.name)),
        }
        *looked_at.entry("observers").or_default() += observers.len();
        reasons.extend(silent(&observers, scene, logs));
        let (found, looked) = ensemble.judge();
        for (checker, looked) in ensemble::CHECKERS.iter().zip(looked) {
            *looked_at.entry(checker).or_default() += looked;
        }
        anomalies.extend(found.into_iter().map(|suspicion| anomaly(scene, suspicion)));
    }
    looked_at.insert("scenes", told.len());
    let checkers = looked_at.into_iter();
    reasons.sort_by_key(|reason| reason.starts_with(NOTE));
    Results {
        verdict: verdict(&anomalies, &reasons),
        anomalies,
        reasons,
        checkers: checkers
            .map(|(name, n)| (name.to_owned(), json!({ "looked_at": n })))
            .collect(),
        stats: BTreeMap::from([
            ("elections".to_owned(), json!(told)),
            ("events".to_owned(), json!(record.history.events.len())),
            ("zookeeper".to_owned(), json!(versions(record.servers.as_deref()))),
        ]),
        ..Results::default()
    }
}

/// The events of the history and the status answers of the servers, by scene.
struct SceneEvidence<'a> {
    /// By scene and step the event that ended it.
    done: HashMap<(&'a str, i64), &'a Event>,
    /// By scene the time of its first event and that of the next scene's, in nanoseconds since the run began.
    spans: HashMap<&'a str, (u64, u64)>,
    /// The status answers of all servers, in the order of time.
    samples: Vec<ServerSample>,
}

impl<'a> SceneEvidence<'a> {
    fn new(record: &'a Record) -> Self {
        let mut samples = record.servers.clone().unwrap_or_default();
        samples.sort_by_key(|sample| sample.time);
        let mut told = Self {
            done: HashMap::new(),
            spans: HashMap::new(),
            samples,
        };
        let mut last: Option<&str> = None;
        for event in record.history.events.iter().filter(|event| event.is_of("scene")) {
            let scene = event.scene();
            if let Some(before) = last.filter(|_| last != scene) {
                let (_, until) = told.spans.entry(before).or_default();
                *until = event.time.min(*until);
            }
            last = scene;
            let Some(scene) = scene else { continue };
            told.spans.entry(scene).or_insert((event.time, u64::MAX));
            if let Some(step) = event.step().filter(|_| event.phase() == Some("done")) {
                told.done.entry((scene, step)).or_insert(event);
            }
        }
        told
    }

    /// The status answers within the time of a scene: the servers of another scene have the same names.
    fn samples(&self, scene: &Scene) -> &[ServerSample] {
        let (from, until) = self.spans.get(scene.name.as_str()).copied().unwrap_or_default();
        let place = |time: u64| self.samples.partition_point(|sample| sample.time < time);
        &self.samples[place(from)..place(until.max(from))]
    }

    /// Whom the scene's last step saw elected, if the effect of every step was seen.
    fn played(&self, scene: &Scene) -> Result<&'a str, String> {
        let mut leader = None;
        for (number, Step { act, .. }) in (1..).zip(&scene.steps) {
            let act = act.name();
            let done = self.done.get(&(scene.name.as_str(), number));
            let event = done.ok_or_else(|| format!("step {number} ({act}) was not made"))?;
            if event.verified() != Some(true) {
                let detail = event.detail().unwrap_or("no reason is recorded");
                return Err(format!("step {number} ({act}) did not come about: {detail}"));
            }
            leader = event.leader();
        }
        Ok(leader.ok_or("it does not end with an election")?)
    }
}

fn anomaly(scene: &Scene, suspicion: Suspicion) -> Anomaly {
    Anomaly {
        kind: suspicion.kind.to_owned(),
        property: suspicion.property.to_owned(),
        advisory: false,
        accepted: false,
        witness: Vec::new(),
        span: None,
        stuck: None,
        cause: None,
        why: format!("In the scene {}: {}", scene.name, suspicion.why),
    }
}

fn phases(record: &Record, reasons: &mut Vec<String>) {
    let phase = |name: &str| {
        let mut events = record.history.events.iter();
        events.any(|event| event.entered() == Some(name))
    };
    if record.plan.scenes.is_empty() {
        reasons.push("the plan has no scenes".to_owned());
    }
    if phase("interrupted") {
        reasons.push("the run was interrupted".to_owned());
    }
    if !phase("done") {
        reasons.push("the run did not reach its end".to_owned());
    }
}

/// The election that a scene ended with, if it came about as planned; of the votes, those of the last step's servers.
fn of_scene(scene: &Scene, leader: &str, ensemble: &EnsembleElections<'_>) -> Result<Account, String> {
    let mut elections = accounts(ensemble).into_iter();
    let mut election = elections
        .rfind(|election| election.epoch.is_some())
        .ok_or("the servers' logs show no election")?;
    if election.winner != leader {
        return Err(format!(
            "{leader} leads, and the logs show the election of {}",
            election.winner
        ));
    }
    let last = scene.steps.last().into_iter().flat_map(|step| &step.servers);
    let part: BTreeSet<i64> = last.filter_map(sid).collect();
    if let Some(stranger) = election.counted.iter().find(|sid| !part.contains(sid)) {
        return Err(format!("the vote of n{stranger}, which had no part in it, was counted"));
    }
    let rule = election.rule.as_deref().unwrap_or("no rule that is known");
    if scene.winner != *leader || scene.rule != rule {
        return Err(format!(
            "{leader} won by {rule}, and not {} by {}: the votes did not meet as planned",
            scene.winner, scene.rule
        ));
    }
    election.votes.retain(|vote| part.contains(&vote.sid));
    election.scene = Some(scene.name.clone());
    Ok(election)
}

/// Why it is not certain that no observer has voted and the log of each shows it as observing, in words.
fn silent(observers: &[Node], scene: &Scene, logs: &[ServerLog]) -> Vec<String> {
    let looks = || {
        logs.iter()
            .flat_map(|log| log.looks().map(move |(_, look)| (log, look)))
    };
    let voted: BTreeSet<i64> = looks()
        .flat_map(|(_, look)| &look.seen)
        .map(|(_, message)| message.sid)
        .collect();
    let observing = looks().filter(|(_, look)| matches!(look.end, Some((_, ServerRole::Observing))));
    let observing: HashSet<Node> = observing.map(|(log, _)| log.server.as_str().into()).collect();
    let mut reasons = Vec::new();
    let mut unseen = 0;
    for observer in observers {
        if sid(observer).is_some_and(|id| voted.contains(&id)) {
            reasons.push(format!("scene {}: {observer}, an observer, has voted", scene.name));
        }
        if !observing.contains(observer) {
            unseen += 1;
            if unseen <= NAMED {
                reasons.push(format!("scene {}: {observer} was not seen to observe", scene.name));
            }
        }
    }
    if unseen > NAMED {
        reasons.push(format!(
            "scene {}: {} more observers were not seen to observe",
            scene.name,
            unseen - NAMED
        ));
    }
    reasons
}

/// The id of a server: the number in its name.
fn sid(server: &Node) -> Option<i64> {
    let number = server.number().filter(|_| server.is_server())?;
    i64::try_from(number).ok()
}
