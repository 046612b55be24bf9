//! Histories without a plan: what was promised is inferred from what was asked and answered.
//!
//! Where nothing shows it, only what every promise of the family has is judged, and a reason states it. The verdict is
//! never `valid`: which faults were asked for stands in the plan. Families read from the operations what they show
//! (`Inference`).

use crate::family_checks::{FamilyChecks, answers, invocations, known};
use crate::search::{Budget, HistoryTerms, ModelKind, is_of_named_process};
use crate::verdict::{NOTE, verdict};
use crate::{Results, Verdict, families, register, search};
use std::collections::BTreeMap;
use zooquake_history::operation::MZXID;
use zooquake_history::operation::grant::{ACCEPTED, TOKEN, f};
use zooquake_history::plan::{Plan, Resource, Target, Trigger, Window, Workload};
use zooquake_history::{Event, EventType, History, Record};

/// Judges a history that has no plan: by `kind`; else, if it is written as ours are, by what it shows to be
/// promised; else by search, as what its operations show. `damage`: what of it could not be read.
pub fn judge<'a>(
    history: &History,
    damage: Vec<String>,
    kind: Option<ModelKind>,
    terms: impl Into<HistoryTerms<'a>>,
    budget: &mut Budget<'_>,
) -> Results {
    let ours = kind.is_none() && is_ours(history);
    if let Some(named) = kind.or_else(|| search::infer(history).filter(|_| !ours)) {
        let mut results = search::judge(history, damage, named, terms, budget);
        if kind.is_none() {
            results.model = Some(named.to_string());
            results.reasons.push(format!(
                "{NOTE}judged as a {named}, as its operations show; --model names another model"
            ));
        }
        return results;
    }
    check(history, damage.clone()).unwrap_or_else(|what| Results {
        verdict: Verdict::Unknown,
        reasons: damage.into_iter().chain([what]).collect(),
        ..Results::default()
    })
}

/// What a history that has no plan is searched as, for a picture of it, and the names of the operations that count if
/// others are left out; `None` if it is judged by checkers of a family that has no such order.
pub fn subject(history: &History, kind: Option<ModelKind>) -> Option<(ModelKind, Option<&'static [&'static str]>)> {
    if let Some(kind) = kind {
        return Some((kind, None));
    }
    match infer(history) {
        Some(promise) => register::operations_in_order(&promise.plan).map(|only| (ModelKind::REGISTER, Some(only))),
        None => search::infer(history).map(|kind| (kind, None)),
    }
}

/// Judges a history of ours that has no plan; `damage`: what of it could not be read.
///
/// # Errors
/// Its operations are not written as those of any family are.
pub fn check(history: &History, damage: Vec<String>) -> Result<Results, String> {
    let promise = infer(history).ok_or_else(|| unjudged(history))?;
    let mut record = Record {
        plan: promise.plan,
        history: history.clone(),
        damage,
        ..Record::default()
    };
    record
        .damage
        .push(format!("plan.json is missing: {}", promise.basis.join("; ")));
    let mut results = families::check(&record);
    for (kind, on) in promise.family.needs_plan {
        unjudge(&mut results, kind, on);
    }
    Ok(results)
}

/// Takes back an anomaly that depends on something that only the plan has.
fn unjudge(results: &mut Results, kind: &str, on: &str) {
    let all = results.anomalies.len();
    results.anomalies.retain(|anomaly| anomaly.kind != kind);
    if results.anomalies.len() < all {
        let what = format!("{kind} was not judged: it depends on {on}, which only the plan states");
        results.reasons.insert(0, what);
        results.verdict = verdict(&results.anomalies, &results.reasons);
    }
}

/// Whether a history is written as ours are: its operations name what those of some family name.
pub fn is_ours(history: &History) -> bool {
    infer(history).is_some()
}

/// Why nothing judges a history: what its operations are.
pub fn unjudged(history: &History) -> String {
    let mut names: Vec<&str> = invocations(history).map(|event| event.f.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => no_operation(history),
        names => format!(
            "no checker judges the operations {}: name their model with --model ({}); without it only histories of \
             zooquake's own families are judged",
            names.join(", "),
            ModelKind::names()
        ),
    }
}

/// That a history holds no operation, with the first request of a process that has a name.
fn no_operation(history: &History) -> String {
    let request = |event: &&Event| is_of_named_process(event) && event.kind == EventType::Invoke;
    let mut requests = history.events.iter().filter(request);
    match requests.next() {
        Some(first) => format!(
            "the history holds no operation of a process with a number: event {}, {}, is of process {}",
            first.index, first.f, first.process
        ),
        None => "the history holds no operation".to_owned(),
    }
}

/// A plan that has all that is known of a history's promise.
#[derive(Debug)]
struct Promise {
    family: &'static FamilyChecks,
    plan: Plan,
    /// From what in the history it was inferred, in words.
    basis: Vec<&'static str>,
}

fn infer(history: &History) -> Option<Promise> {
    let mut families = families::FAMILIES.iter();
    let (family, inference) = families.find_map(|family| Some((family, (family.infer)(history)?)))?;
    let mut basis = vec![inference.basis];
    let mut workload = Workload {
        family: family.spec.name.to_owned(),
        variant: inference.variant.to_owned(),
        promise: "inferred from the history".to_owned(),
        ..Workload::default()
    };
    if family.spec.grants && family.spec.grant_ops().works == f::WRITE {
        workload.resource = resource(history, &mut basis);
        workload.fenced = answers(history).any(|event| known(event, TOKEN.any()));
    }
    let windows = windows(history);
    let mut faults: Vec<String> = windows.iter().map(|window| window.fault.clone()).collect();
    faults.sort_unstable();
    faults.dedup();
    let plan = Plan {
        workload,
        faults,
        windows,
        ..Plan::default()
    };
    Some(Promise { family, plan, basis })
}

/// Where the resource is, by the fields of its writes. If none shows it, the resource is taken to be in ZooKeeper,
/// where writes without an `mzxid` have no known order.
fn resource(history: &History, basis: &mut Vec<&'static str>) -> Resource {
    let writes = || answers(history).filter(|event| event.f == f::WRITE);
    if writes().any(|event| known(event, MZXID.any())) {
        basis.push("writes name their transactions, so the resource is in ZooKeeper");
        Resource::Zookeeper
    } else if writes().any(|event| known(event, ACCEPTED.any())) {
        basis.push("writes state that they were accepted, so the resource is outside ZooKeeper");
        Resource::External
    } else {
        if writes().next().is_some() {
            basis.push("nothing shows where the resource is, so the order of writes was not judged");
        }
        Resource::Zookeeper
    }
}

/// A window for each fault in the history.
fn windows(history: &History) -> Vec<Window> {
    let mut faults: BTreeMap<usize, &str> = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.is_of("nemesis")) {
        if let Some(id) = event.window().and_then(|id| usize::try_from(id).ok()) {
            faults.entry(id).or_insert(&event.f);
        }
    }
    let window = |(id, fault): (usize, &str)| Window {
        id,
        fault: fault.to_owned(),
        target: Target::Client,
        payload: None,
        trigger: Trigger::At { at_ms: 0 },
        duration_ms: 0,
        beside: false,
    };
    faults.into_iter().map(window).collect()
}
