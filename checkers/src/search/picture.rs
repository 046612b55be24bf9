//! What a page shows of a history that is searched: its operations, and how far an order of them reaches.

use super::calls::{Calls, recorded};
use super::{HistoryTerms, short, unjudged};
use crate::Anomaly;
use std::collections::{HashMap, HashSet};
use zooquake_history::History;
use zooquake_linearizability::keys::{KeyedObject, Partition, partition};
use zooquake_linearizability::{Budget, Call, CallOrder, ModelKind, OrderTerms};
pub use zooquake_linearizability::{CallOutcome, Limit, OrderEnd};

/// How many operations of one object are shown at most.
pub const SHOWN: usize = 200;

/// How many are shown of all objects together, but of the first one.
const SHOWN_IN_ALL: usize = 600;

/// The most steps of the search for the order before an operation that is stuck: the proof stands without it.
const BESIDE_PROOF: u64 = 200_000;

/// What is to be shown of a history.
#[derive(Debug, Clone, Copy)]
pub struct PictureSubject<'a> {
    /// What it is a history of.
    pub kind: ModelKind,
    /// How it is to be read.
    pub terms: HistoryTerms<'a>,
    /// The names of the operations that count, where others are left out.
    pub only: Option<&'a [&'a str]>,
    /// What was found of it, which decides where to look.
    pub anomalies: &'a [Anomaly],
}

/// The objects of a history: those first of which something was found.
#[derive(Debug, Clone, Default)]
pub struct HistoryPicture {
    /// The model, as `--model` takes it.
    pub model: String,
    /// The objects that are shown.
    pub objects: Vec<ObjectPicture>,
    /// How many more there are, of which nothing was found or for which there was no place.
    pub left_out: usize,
}

/// Operations of one object: those around what was found of it, else the first ones.
#[derive(Debug, Clone)]
pub struct ObjectPicture {
    /// Its key, if there are several.
    pub key: Option<String>,
    /// The operations, by where they were sent.
    pub bars: Vec<OperationBar>,
    /// How many operations there are.
    pub operations: usize,
    /// The operation that cannot have its answer, by the first anomaly that has one, by its place among those shown.
    pub stuck: Option<usize>,
    /// The longest order that was found, or why there is none; where an operation is stuck, that of what was answered
    /// before it.
    pub order: Result<ObjectOrder, String>,
    /// What was found of it, by the places in the list given.
    pub anomalies: Vec<usize>,
}

#[derive(Debug, Clone)]
pub struct OperationBar {
    /// The process, which does one at a time.
    pub process: u64,
    /// Its name.
    pub f: String,
    /// What it was sent with; empty if that is nothing.
    pub asked: String,
    /// What it was answered with; empty if that is nothing.
    pub answered: String,
    /// The error that it was answered with.
    pub error: Option<String>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The event that sent it; its completion if that is missing.
    pub from: usize,
    /// The event that completed it, if it was.
    pub to: Option<usize>,
    /// Whether an anomaly rests on it.
    pub witness: bool,
}

/// How far an order of an object's operations reaches.
#[derive(Debug, Clone)]
pub struct ObjectOrder {
    /// The state at the beginning, in words.
    pub initial: String,
    /// The state after the last step, in words.
    pub last: String,
    /// The steps whose operations are shown, in order.
    pub steps: Vec<BarStep>,
    /// How many steps there are in all.
    pub length: usize,
    /// How many of them are of operations that certainly happened.
    pub reached: usize,
    /// How many an order of all has.
    pub certain: usize,
    /// The operations that have to be next and cannot be, by their places among those shown; none where the search for
    /// the order was given up.
    pub refused: Vec<usize>,
    /// Why it ends there.
    pub end: OrderEnd,
}

/// A step of an order.
#[derive(Debug, Clone)]
pub struct BarStep {
    /// The operation, by its place among those shown.
    pub bar: usize,
    /// Its number in the order, from 1 on.
    pub number: usize,
    /// The state after it, in words.
    pub state: String,
    /// Whether it certainly happened.
    pub certain: bool,
}

/// The operations of a history with the longest orders that the budget allows: each object has an equal share of the
/// steps that are left.
pub fn picture(history: &History, subject: PictureSubject<'_>, budget: &mut Budget<'_>) -> HistoryPicture {
    let mut calls = Calls::new(&history.events, subject.kind.operations()).all;
    if let Some(only) = subject.only {
        calls.retain(|call| only.contains(&call.f));
    }
    let (mut objects, keyed) = match partition(&calls) {
        Ok(Partition::Keyed(objects)) => (objects, true),
        _ => (Vec::new(), false),
    };
    if !keyed {
        let key = Default::default();
        objects.push(KeyedObject { key, calls });
    }
    let mut objects: Vec<(Vec<usize>, KeyedObject<'_>)> = objects
        .into_iter()
        .map(|object| (found(&object.calls, subject.anomalies), object))
        .collect();
    objects.sort_by_key(|(found, _)| found.is_empty());
    let all = objects.len();
    let mut place = SHOWN_IN_ALL;
    objects.retain(|(_, object)| {
        let fits = object.calls.len().min(SHOWN) <= place;
        place = place.saturating_sub(object.calls.len().min(SHOWN));
        fits
    });
    let left_out = all - objects.len();
    let mut shown = Vec::new();
    for (at, (anomalies, object)) in objects.iter().enumerate() {
        let stuck = stuck(&object.calls, anomalies, subject.anomalies);
        let most = if stuck.is_some() { BESIDE_PROOF } else { u64::MAX };
        let share = (budget.steps / (objects.len() - at) as u64).min(most);
        let mut own = Budget {
            steps: share,
            bytes: budget.bytes,
            expired: &mut *budget.expired,
        };
        let terms = OrderTerms {
            text: &text,
            before: stuck.map(|stuck| stuck.complete.unwrap_or(usize::MAX)),
        };
        let ordered = subject
            .kind
            .order(&object.calls, subject.terms.conventions(), terms, &mut own);
        budget.steps -= share - own.steps;
        let order = match ordered {
            Ok(Some(order)) => Ok(order),
            Ok(None) => Err(format!(
                "{} is judged without one order of all operations",
                with_article(&subject.kind.to_string())
            )),
            Err(error) => Err(unjudged(&error)),
        };
        let key = keyed.then(|| text(&object.key));
        shown.push(one(key, &object.calls, (order, stuck), anomalies, subject.anomalies));
    }
    HistoryPicture {
        model: subject.kind.to_string(),
        objects: shown,
        left_out,
    }
}

/// The name of a model in a sentence: `a total-queue`, `an atomic-commit`.
fn with_article(name: &str) -> String {
    match name.starts_with(['a', 'e', 'i', 'o']) {
        true => format!("an {name}"),
        false => format!("a {name}"),
    }
}

/// The operation that cannot have its answer, by the first of these anomalies that has one.
fn stuck<'c, 'a>(calls: &'c [Call<'a>], anomalies: &[usize], all: &[Anomaly]) -> Option<&'c Call<'a>> {
    let stuck = anomalies.iter().find_map(|&at| all[at].stuck)?;
    calls.iter().find(|call| call.invoke == stuck)
}

/// A value as sentences have it, cut where it is long; nil is `null`.
fn text(value: &zooquake_linearizability::Value) -> String {
    short(&recorded(value))
}

/// The anomalies whose witnesses hold an event of these operations.
fn found(calls: &[Call<'_>], anomalies: &[Anomaly]) -> Vec<usize> {
    let events: HashSet<usize> = calls
        .iter()
        .flat_map(|call| [Some(call.invoke), call.complete])
        .flatten()
        .collect();
    let of_these = |&at: &usize| anomalies[at].witness.iter().any(|event| events.contains(event));
    (0..anomalies.len()).filter(of_these).collect()
}

fn one(
    key: Option<String>,
    calls: &[Call<'_>],
    (order, stuck): (Result<CallOrder<'_>, String>, Option<&Call<'_>>),
    anomalies: &[usize],
    all: &[Anomaly],
) -> ObjectPicture {
    let witness: HashSet<usize> = anomalies.iter().flat_map(|&at| &all[at].witness).copied().collect();
    let in_witness = |call: &Call<'_>| {
        [Some(call.invoke), call.complete]
            .iter()
            .flatten()
            .any(|at| witness.contains(at))
    };
    let stuck = stuck.map(|stuck| stuck.invoke);
    let refused = order.as_ref().map_or(&[][..], refused);
    let last = stuck.or(refused.first().map(|first| first.invoke));
    let must = |call: &Call<'_>| in_witness(call) || last == Some(call.invoke);
    let shown = around(calls, must);
    let place: HashMap<usize, usize> = shown.iter().enumerate().map(|(bar, call)| (call.invoke, bar)).collect();
    ObjectPicture {
        key,
        bars: shown.iter().map(|call| bar(call, in_witness(call))).collect(),
        operations: calls.len(),
        stuck: stuck.and_then(|stuck| place.get(&stuck).copied()),
        order: order.map(|order| on_bars(&order, &place)),
        anomalies: anomalies.to_vec(),
    }
}

/// The operations to show: those that must be, and those that were sent nearest to the last of these; without such the
/// first ones.
fn around<'c, 'a>(calls: &'c [Call<'a>], must: impl Fn(&Call<'a>) -> bool) -> Vec<&'c Call<'a>> {
    let end = |call: &Call<'_>| call.complete.unwrap_or(call.invoke);
    let focus = calls.iter().filter(|call| must(call)).map(end).max().unwrap_or(0);
    let mut shown: Vec<&Call<'_>> = calls.iter().collect();
    shown.sort_by_key(|call| (!must(call), call.invoke.abs_diff(focus), call.invoke));
    shown.truncate(SHOWN);
    shown.sort_by_key(|call| call.invoke);
    shown
}

fn bar(call: &Call<'_>, witness: bool) -> OperationBar {
    let written = |value: &zooquake_linearizability::Value| match value.is_nil() {
        true => String::new(),
        false => text(value),
    };
    OperationBar {
        process: call.process,
        f: call.f.to_owned(),
        asked: written(&call.asked),
        answered: match call.outcome {
            CallOutcome::Ok => text(&call.answered),
            CallOutcome::Fail | CallOutcome::Info => written(&call.answered),
        },
        error: call.error.map(str::to_owned),
        outcome: call.outcome,
        from: call.invoke,
        to: call.complete,
        witness,
    }
}

/// The operations at which an order ends; none where a longer one may exist.
fn refused<'o, 'a>(order: &'o CallOrder<'a>) -> &'o [&'o Call<'a>] {
    match order.end {
        OrderEnd::Longest | OrderEnd::Whole => &order.refused,
        OrderEnd::GaveUp(_) => &[],
    }
}

/// An order, of which the steps of operations that are shown are kept.
fn on_bars(order: &CallOrder<'_>, place: &HashMap<usize, usize>) -> ObjectOrder {
    let step = |(at, step): (usize, &zooquake_linearizability::OrderStep<'_>)| {
        Some(BarStep {
            bar: *place.get(&step.call.invoke)?,
            number: at + 1,
            state: step.state.clone(),
            certain: step.certain,
        })
    };
    let refused = refused(order)
        .iter()
        .filter_map(|call| place.get(&call.invoke).copied());
    ObjectOrder {
        initial: order.initial.clone(),
        last: order.steps.last().map_or(&order.initial, |step| &step.state).clone(),
        steps: order.steps.iter().enumerate().filter_map(step).collect(),
        length: order.steps.len(),
        reached: order.steps.iter().filter(|step| step.certain).count(),
        certain: order.certain,
        refused: refused.collect(),
        end: order.end,
    }
}
