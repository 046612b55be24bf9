//! The data that the timeline is drawn from: columns of numbers, because a page must stay small with 50 000 operations.
//!
//! Times are microseconds; columns of times and indexes hold differences to the entry before. What many operations
//! share (client, name, outcome, form of the details) is written once, in `classes`.

use super::ticket;
use crate::model::{DrawnOperation, DrawnWitness, OperationOutcome, Role, RunModel, subject_name};
use crate::svg::window;
use crate::{palette, text};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use zooquake_checkers::analysis::SessionEnd;
use zooquake_history::operation::barrier::MEMBER;
use zooquake_history::operation::commit::{DECISION, VOTE, VOTED};
use zooquake_history::operation::queue::ITEM;
use zooquake_history::operation::register::{FROM, TO, VALUE};
use zooquake_history::operation::{AnyType, Field};

/// The most operations that the timeline gets; of more, every so many-th.
const OPS: usize = 60_000;
/// The most different texts kept; beyond that they are left out, because each would stand in the page.
const TEXTS: usize = 2_000;

pub fn timeline(model: &RunModel<'_>) -> Value {
    let stride = model.ops.len().div_ceil(OPS).max(1);
    let shown: Vec<&DrawnOperation> = model.ops.iter().step_by(stride).collect();
    json!({
        "end": micros(model.end),
        "lanes": model.lanes.names.iter().map(|n| text::clip(n, 24)).collect::<Vec<_>>(),
        "ops": ops(model, &shown),
        "holds": holds(model),
        "bands": bands(model),
        "servers": servers(model),
        "sessions": sessions(model),
        "phases": model.phases.iter().map(|p| json!([p.name, micros(p.from)])).collect::<Vec<_>>(),
        "anomalies": anomalies(model, &shown),
        "ticket": ticket::markdown(model),
    })
}

fn micros(ns: u64) -> u64 {
    ns / 1000
}

fn ops(model: &RunModel<'_>, shown: &[&DrawnOperation<'_>]) -> Value {
    let mut names = Index::default();
    let mut errors = Index::default();
    let mut classes = Index::default();
    let mut class_rows: Vec<Value> = Vec::new();
    let mut details = Texts::default();
    let (mut class, mut error) = (Vec::new(), Vec::new());
    for (i, op) in shown.iter().enumerate() {
        let name = names.number(text::clip(op.f, 40));
        let role = if op.control { 4 } else { role_number(op.role) };
        let form = details.form(&detail(op));
        let row = json!([op.lane, name, role, op.outcome as u8, op.mark() as u8, form]);
        let k = classes.number(row.to_string());
        if k == class_rows.len() {
            class_rows.push(row);
        }
        class.push(k);
        if let Some(e) = op
            .answer
            .and_then(|a| a.error.as_deref())
            .filter(|_| error.len() < 20_000)
        {
            error.push(json!([i, errors.number(text::clip(e, 100))]));
        }
    }
    json!({
        "all": model.ops.len(),
        "names": names.values,
        "classes": class_rows,
        "outcomes": OperationOutcome::ALL.map(OperationOutcome::name),
        "marks": [model.terms.refused, Some(model.terms.took), Value::Null, model.terms.no],
        "class": class,
        "start": deltas(shown.iter().map(|op| micros(op.start))),
        "took": shown.iter().map(|op| op.latency().map_or(-1, |l| micros(l) as i64)).collect::<Vec<_>>(),
        "event": deltas(shown.iter().map(|op| op.invoke.index as u64)),
        "forms": details.forms.values,
        "numbers": details.numbers,
        "errors": errors.values,
        "error": error,
    })
}

fn role_number(role: Role) -> u8 {
    match role {
        Role::Wait => 0,
        Role::Work => 1,
        Role::Leave => 2,
        Role::Other => 3,
        Role::Take => 5,
    }
}

/// What a tooltip shows of an operation beside its name, outcome and times.
fn detail(op: &DrawnOperation<'_>) -> String {
    let field = |field: Field<AnyType>| {
        let of = |event: &zooquake_history::Event| {
            event.get(field).map(|v| match v {
                zooquake_history::Value::Null => "null".to_owned(),
                v => text::value(v, 16),
            })
        };
        op.answer.and_then(of).or_else(|| of(op.invoke))
    };
    let swap = field(FROM.any())
        .zip(field(TO.any()))
        .map(|(from, to)| format!("{from} → {to}"));
    let parts = [
        op.subject()
            .map(subject_name)
            .or_else(|| field(ITEM.any()).map(|_| "queue empty".into())),
        swap.or_else(|| field(VALUE.any())),
        field(MEMBER.any()).map(|n| format!("member {n}")),
        field(VOTED.any()).or_else(|| field(VOTE.any())),
        field(DECISION.any()),
    ];
    let known: Vec<_> = parts.into_iter().flatten().collect();
    if known.is_empty() {
        text::value(&op.invoke.value, 24)
    } else {
        known.join(" · ")
    }
}

fn holds(model: &RunModel<'_>) -> Value {
    let stride = model.holds.len().div_ceil(OPS / 2).max(1);
    let shown: Vec<_> = model.holds.iter().step_by(stride).collect();
    let mut ends = Index::default();
    let mut grants = Texts::default();
    let forms: Vec<_> = shown.iter().map(|h| grants.form(&h.name())).collect();
    let shared = shown.iter().any(|h| h.shared);
    let shared: Vec<_> = shown.iter().filter(|_| shared).map(|h| u8::from(h.shared)).collect();
    let ended: Vec<_> = shown.iter().map(|h| ends.number(h.ended_by.to_owned())).collect();
    json!({
        "lane": shown.iter().map(|h| h.lane).collect::<Vec<_>>(),
        "start": deltas(shown.iter().map(|h| micros(h.from))),
        "took": shown.iter().map(|h| h.until.map_or(-1, |u| micros(u.saturating_sub(h.from)) as i64)).collect::<Vec<_>>(),
        "shared": shared,
        "form": forms,
        "forms": grants.forms.values,
        "numbers": grants.numbers,
        "verb": model.terms.holds,
        "ended": ended,
        "ends": ends.values,
    })
}

fn bands(model: &RunModel<'_>) -> Value {
    let band = |b: &crate::model::Band| {
        json!({
            "label": b.label(),
            "class": palette::fault_class(&b.fault),
            "from": micros(b.from),
            "verified": b.verified.map(micros),
            "until": b.until.map(micros),
            "lanes": b.targets.iter().filter_map(|t| model.lanes.row_of(t)).collect::<Vec<_>>(),
            "counts": b.counts,
        })
    };
    model.bands.iter().take(2000).map(band).collect()
}

fn servers(model: &RunModel<'_>) -> Value {
    let server = |s: &crate::model::ServerLane| {
        let span = |p: &crate::model::ServerSpan| json!([p.mode, p.epoch, micros(p.from), micros(p.until)]);
        json!([s.name, s.spans.iter().take(2000).map(span).collect::<Vec<_>>()])
    };
    model.servers.iter().map(server).collect()
}

fn sessions(model: &RunModel<'_>) -> Value {
    let session = |s: &crate::model::DrawnSession| {
        let away = s.away.iter().map(|&(from, until)| json!([micros(from), micros(until)]));
        let moves = s.moves.iter().map(|&at| json!(micros(at)));
        let end = s.end.map(|end| u8::from(end == SessionEnd::Expired));
        json!([
            micros(s.from),
            s.until.map(micros),
            end,
            away.collect::<Vec<_>>(),
            moves.collect::<Vec<_>>(),
            s.words,
        ])
    };
    let lane =
        |lane: &crate::model::SessionLane| json!([lane.client, lane.sessions.iter().map(session).collect::<Vec<_>>()]);
    model.sessions.iter().map(lane).collect()
}

fn anomalies(model: &RunModel<'_>, shown: &[&DrawnOperation<'_>]) -> Value {
    // The place among the operations shown of the one that an event sent or ended.
    let mut places = HashMap::new();
    for (place, op) in shown.iter().enumerate() {
        places.insert(op.invoke.index, place);
        places.extend(op.answer.map(|answer| (answer.index, place)));
    }
    let anomaly = |a: &zooquake_checkers::Anomaly| {
        let witness = DrawnWitness::new(model, a);
        let steps = &witness.steps;
        let ops: BTreeSet<_> = steps.iter().filter_map(|s| places.get(&s.index)).collect();
        let (from, until) = window::span(model, &witness);
        json!({
            "kind": text::clip(&a.kind, 60),
            "advisory": a.advisory,
            "from": micros(from),
            "until": micros(until),
            "steps": steps.iter().map(|s| json!([s.number, micros(s.time), s.lane])).collect::<Vec<_>>(),
            "ops": ops,
        })
    };
    let listed = model.roots.iter().flat_map(|root| root.numbered());
    listed.map(|(_, listed)| anomaly(listed)).collect()
}

/// Differences between neighbours.
fn deltas(values: impl Iterator<Item = u64>) -> Vec<i64> {
    let mut before = 0;
    values
        .map(|v| {
            let v = i64::try_from(v).unwrap_or(i64::MAX);
            let delta = v - before;
            before = v;
            delta
        })
        .collect()
}

/// Numbers for strings, in the order of their first use.
#[derive(Default)]
struct Index {
    numbers: HashMap<String, usize>,
    values: Vec<String>,
}

impl Index {
    /// The number of a string.
    fn number(&mut self, value: String) -> usize {
        if let Some(n) = self.numbers.get(&value) {
            return *n;
        }
        self.numbers.insert(value.clone(), self.values.len());
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Texts that differ mostly in their numbers, such as the names of grants: `g17 · 31` is the form `g# · #` and two
/// numbers, each given as its difference to the last one in the same place of the same form.
#[derive(Default)]
struct Texts {
    /// The forms, by number.
    forms: Index,
    last: HashMap<(usize, usize), i64>,
    /// The numbers of all texts, in order.
    numbers: Vec<i64>,
}

impl Texts {
    /// The number of the text's form.
    fn form(&mut self, text: &str) -> usize {
        let (form, numbers) = split(text);
        let full = self.forms.values.len() >= TEXTS && !self.forms.numbers.contains_key(&form);
        if full {
            return self.forms.number(String::new());
        }
        let form = self.forms.number(form);
        for (place, n) in numbers.into_iter().enumerate() {
            let last = self.last.entry((form, place)).or_default();
            self.numbers.push(n - *last);
            *last = n;
        }
        form
    }
}

/// A text's form and numbers. Digits that a number would not give back, such as leading zeros, stay in the form; a `#`
/// of the text itself is written as its full-width twin.
fn split(text: &str) -> (String, Vec<i64>) {
    let mut form = String::new();
    let mut numbers = Vec::new();
    let text = text.replace('#', "＃");
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(rest.len(), |n| start + n);
        let digits = &rest[start..end];
        form.push_str(&rest[..start]);
        match digits.parse::<i64>() {
            Ok(n) if digits.len() < 16 && n.to_string() == digits => {
                numbers.push(n);
                form.push('#');
            }
            _ => form.push_str(digits),
        }
        rest = &rest[end..];
    }
    (form + rest, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_form_and_numbers() {
        assert_eq!(split("g17 · 31"), ("g# · #".into(), vec![17, 31]));
        assert_eq!(split("x-007#1"), ("x-007＃#".into(), vec![1]));
        assert_eq!(split("x-007"), ("x-007".into(), vec![]));
        assert_eq!(split("99999999999999999999"), ("99999999999999999999".into(), vec![]));
    }

    #[test]
    fn too_many_forms_are_left_out() {
        let mut texts = Texts::default();
        for i in 0..3 * TEXTS {
            let letters: String = i.to_string().bytes().map(|b| char::from(b + 17)).collect();
            texts.form(&letters);
        }
        assert_eq!(texts.forms.values.len(), TEXTS + 1);
    }
}
