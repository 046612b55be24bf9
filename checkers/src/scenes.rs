//! Runs of scenes: whether each fresh ensemble elected whom the plan says, by the rule the plan says.
//!
//! Another outcome convicts nobody: the steps only make it likely that the votes meet as planned. So it is `unknown`, and
//! what convicts ZooKeeper are the anomalies of every run's ensemble.

use crate::Record;
use crate::ensemble::{self, Account, Clock, Ensemble, ServerLog, State, Suspicion, accounts};
use crate::evidence::ServerSample;
use crate::history::Event;
use crate::plan::{Scene, Step};
use crate::results::{Anomaly, Results, Verdict};
use crate::stats;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// What is looked at.
pub const CHECKERS: &[&str] = &["scenes", "observers"];

/// The whole verdict over a run of scenes.
pub fn check(record: &Record) -> Results {
    let mut reasons = record.damage.clone();
    phases(record, &mut reasons);
    let clock = Clock::of(&record.history.events);
    let (mut told, mut anomalies) = (Vec::new(), Vec::new());
    let mut looked_at: BTreeMap<&str, usize> = BTreeMap::new();
    for scene in &record.plan.scenes {
        let logs = record.scenes.get(&scene.name).map(Vec::as_slice).unwrap_or_default();
        let samples = samples(record, scene);
        let ensemble = Ensemble {
            logs,
            samples: &samples,
            clock: &clock,
        };
        match played(record, scene).and_then(|leader| of_scene(scene, &leader, &ensemble)) {
            Ok(election) => told.push(election),
            Err(why) => reasons.push(format!("scene {}: {why}", scene.name)),
        }
        *looked_at.entry("observers").or_default() += silent(record, scene, logs, &mut reasons);
        let (found, looked) = ensemble.judge();
        for (checker, looked) in ensemble::CHECKERS.iter().zip(looked) {
            *looked_at.entry(checker).or_default() += looked;
        }
        anomalies.extend(found.into_iter().map(|suspicion| anomaly(scene, suspicion)));
    }
    looked_at.insert("scenes", told.len());
    let checkers = looked_at.into_iter();
    Results {
        verdict: match (anomalies.is_empty(), reasons.is_empty()) {
            (false, _) => Verdict::Invalid,
            (true, false) => Verdict::Unknown,
            (true, true) => Verdict::Valid,
        },
        anomalies,
        reasons,
        checkers: checkers
            .map(|(name, n)| (name.to_owned(), json!({ "looked_at": n })))
            .collect(),
        stats: BTreeMap::from([
            ("elections".to_owned(), json!(told)),
            ("events".to_owned(), json!(record.history.events.len())),
            ("zookeeper".to_owned(), json!(stats::versions(record))),
        ]),
        ..Results::default()
    }
}

/// What the servers of a scene said of themselves: those of another scene have the same names.
fn samples(record: &Record, scene: &Scene) -> Vec<ServerSample> {
    let of_scenes = record.history.events.iter().filter(|event| event.on_lane("scene"));
    let own = |event: &&Event| event.str("scene") == Some(scene.name.as_str());
    let Some(from) = of_scenes.clone().find(own).map(|event| event.time) else {
        return Vec::new();
    };
    let mut later = of_scenes.filter(|event| event.time > from && !own(event));
    let until = later.next().map_or(u64::MAX, |event| event.time);
    let all = record.servers.iter().flatten();
    all.filter(|sample| from <= sample.time && sample.time < until)
        .cloned()
        .collect()
}

fn anomaly(scene: &Scene, suspicion: Suspicion) -> Anomaly {
    Anomaly {
        kind: suspicion.kind.to_owned(),
        property: suspicion.property.to_owned(),
        advisory: false,
        accepted: false,
        witness: Vec::new(),
        span: None,
        why: format!("In the scene {}: {}", scene.name, suspicion.why),
    }
}

fn phases(record: &Record, reasons: &mut Vec<String>) {
    let phase = |name: &str| {
        let mut events = record.history.events.iter();
        events.any(|event| event.on_lane("run") && event.f == "phase" && event.value.as_str() == Some(name))
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

/// The event that ended a step of a scene.
fn done<'a>(record: &'a Record, scene: &Scene, number: usize) -> Option<&'a Event> {
    let number = i64::try_from(number).ok();
    record.history.events.iter().find(|event| {
        event.on_lane("scene")
            && event.str("scene") == Some(scene.name.as_str())
            && event.int("step") == number
            && event.str("phase") == Some("done")
    })
}

/// Whom the scene's last step saw elected, if the effect of every step was seen.
fn played(record: &Record, scene: &Scene) -> Result<String, String> {
    let mut leader = None;
    for (at, Step { act, .. }) in scene.steps.iter().enumerate() {
        let (number, act) = (at + 1, act.name());
        let event = done(record, scene, number).ok_or(format!("step {number} ({act}) was not made"))?;
        if event.bool("verified") != Some(true) {
            let detail = event.str("detail").unwrap_or("no reason is told");
            return Err(format!("step {number} ({act}) did not come about: {detail}"));
        }
        leader = event.str("leader");
    }
    let leader = leader.ok_or("it does not end with an election")?;
    Ok(leader.to_owned())
}

/// The election that a scene ended with, if it came about as planned; of the votes, those of the last step's servers.
fn of_scene(scene: &Scene, leader: &str, ensemble: &Ensemble<'_>) -> Result<Account, String> {
    let mut elections = accounts(ensemble).into_iter();
    let mut election = elections
        .rfind(|election| election.epoch.is_some())
        .ok_or("the servers' logs tell of no election")?;
    if election.winner != leader {
        return Err(format!(
            "{leader} leads, and the logs tell of the election of {}",
            election.winner
        ));
    }
    let last = scene.steps.last().into_iter().flat_map(|step| &step.servers);
    let part: BTreeSet<i64> = last.filter_map(|name| sid(name)).collect();
    if let Some(stranger) = election.counted.iter().find(|sid| !part.contains(sid)) {
        return Err(format!("the vote of n{stranger} was counted, which had no part in it"));
    }
    let rule = election.rule.as_deref().unwrap_or("no rule that is known");
    if (leader, rule) != (scene.winner.as_str(), scene.rule.as_str()) {
        return Err(format!(
            "{leader} won by {rule}, and not {} by {}: the votes did not meet as planned",
            scene.winner, scene.rule
        ));
    }
    election.votes.retain(|vote| part.contains(&vote.sid));
    election.scene = Some(scene.name.clone());
    Ok(election)
}

/// Sees that no observer has voted, and each was heard to observe; returns how many were looked at.
fn silent(record: &Record, scene: &Scene, logs: &[ServerLog], reasons: &mut Vec<String>) -> usize {
    let observers = record.plan.cluster.observers();
    for observer in &observers {
        let id = sid(observer);
        let mut looks = logs.iter().flat_map(ServerLog::looks).map(|(_, look)| look);
        let voted = looks.any(|look| look.seen.iter().any(|(_, message)| Some(message.sid) == id));
        if voted {
            reasons.push(format!("scene {}: {observer}, an observer, has voted", scene.name));
        }
        let own = logs.iter().find(|log| log.server == *observer);
        let observed = own.is_some_and(|log| {
            log.looks()
                .any(|(_, look)| matches!(look.end, Some((_, State::Observing))))
        });
        if !observed {
            reasons.push(format!("scene {}: {observer} was not seen to observe", scene.name));
        }
    }
    observers.len()
}

/// The id of a server: the number in its name.
fn sid(name: &str) -> Option<i64> {
    name.strip_prefix('n')?.parse().ok()
}
