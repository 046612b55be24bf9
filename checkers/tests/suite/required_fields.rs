//! Each row of the tables of required fields, taken out of runs that have it: nothing that is absent convicts, all that
//! rests on other evidence still does, and a reason names client and field, unless the client had declared it.

mod runs;

use runs::{FieldRun, RUNS};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use zooquake_checkers::{Anomaly, Results, Verdict, check};
use zooquake_history::operation::{FAMILIES, FieldContent, FieldSource, RequiredField};
use zooquake_history::protocol::ClientLimit;
use zooquake_history::{Event, EventType, Process, Record};

/// How a field is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// It is not there.
    Missing,
    /// It is null, which is no answer.
    Null,
    /// Something else stands in its place.
    Unreadable,
}

impl Absence {
    const ALL: [Self; 3] = [Self::Missing, Self::Null, Self::Unreadable];

    /// Whether a field can be absent so: null may be an answer.
    fn is_of(self, field: &RequiredField) -> bool {
        self != Self::Null || !field.content.holds(&Value::Null)
    }

    /// What stands in place of the field.
    fn instead(self, field: &RequiredField) -> Option<Value> {
        match self {
            Self::Missing => None,
            Self::Null => Some(Value::Null),
            Self::Unreadable => Some(unreadable(field.content)),
        }
    }
}

/// A row of a family's table, for messages and for what convictions rest on: `acquire czxid`.
fn name(field: &RequiredField) -> String {
    let of = match field.of {
        FieldSource::Answer(of) => of.join(","),
        FieldSource::Notice(notice) => format!("notice {notice}"),
        FieldSource::Announced { f, notice, .. } => format!("{f} after {notice}"),
    };
    format!("{of} {}", field.name())
}

/// The events from which the field is taken, by client.
fn places(record: &Record, field: &RequiredField) -> BTreeMap<String, Vec<usize>> {
    let named = |event: &Event| matches!(event.process, Process::Name(_));
    let is_of = |event: &&Event| match field.of {
        FieldSource::Answer(of) => event.kind == EventType::Ok && of.contains(&event.f.as_str()),
        FieldSource::Notice(name) => named(event) && event.kind == EventType::Info && event.f == name,
        FieldSource::Announced { notice, .. } => named(event) && event.kind == EventType::Info && event.f == notice,
    };
    let announced = matches!(field.of, FieldSource::Announced { .. });
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for event in record.history.events.iter().filter(is_of) {
        let mut value = json(event);
        if let Some(node) = event
            .node
            .as_ref()
            .filter(|_| announced || take(&mut value, field.path, None))
        {
            places.entry(node.to_string()).or_default().push(event.index);
        }
    }
    places
}

fn json(event: &Event) -> Value {
    serde_json::from_str(&event.value.to_string()).expect("it is JSON")
}

/// Takes the field out of a value, of all entries of a list, or puts something else in its place; whether it was there.
fn take(value: &mut Value, path: &[&str], instead: Option<&Value>) -> bool {
    let (first, rest) = path.split_first().expect("a name");
    let Some(fields) = value.as_object_mut() else {
        return false;
    };
    match (fields.get_mut(*first), rest) {
        (None, _) => false,
        (Some(_), []) => {
            fields.remove(*first);
            fields.extend(instead.map(|value| ((*first).to_owned(), value.clone())));
            true
        }
        (Some(Value::Array(all)), _) => {
            let taken: Vec<bool> = all.iter_mut().map(|entry| take(entry, rest, instead)).collect();
            taken.contains(&true)
        }
        (Some(inner), _) => take(inner, rest, instead),
    }
}

/// What is no value of the field.
fn unreadable(content: FieldContent) -> Value {
    match content {
        FieldContent::Text | FieldContent::Object | FieldContent::ObjectOrNull => json!(7),
        FieldContent::List | FieldContent::ListOrNull => json!(7),
        FieldContent::Znode => json!({ "path": "/removed/x" }),
        FieldContent::Number | FieldContent::NumberOrNull | FieldContent::Flag | FieldContent::Session => json!("?"),
    }
}

/// The record without the field in what this client answered.
fn without(record: &Record, field: &RequiredField, at: &[usize], how: Absence) -> Record {
    let mut record = record.clone();
    for &at in at {
        let event = &mut record.history.events[at];
        if let FieldSource::Announced { .. } = field.of {
            event.f = "remark".into();
            continue;
        }
        let mut value = json(event);
        assert!(
            take(&mut value, field.path, how.instead(field).as_ref()),
            "{}",
            name(field)
        );
        event.value = value.into();
    }
    record
}

/// The record in which this client had declared what it cannot give.
fn declared(record: &Record, client: &str, cannot: &[ClientLimit]) -> Record {
    let mut record = record.clone();
    let mut hellos = 0;
    for event in &mut record.history.events {
        if event.f == "hello" && event.is_of(client) {
            let mut value = json(event);
            let words: Vec<&str> = cannot.iter().map(|cannot| cannot.name()).collect();
            value["cannot"] = json!(words);
            event.value = value.into();
            hellos += 1;
        }
    }
    assert!(hellos > 0, "{client} says no hello");
    record
}

/// The anomalies that convict, by name and witness.
fn convicting(results: &Results) -> BTreeSet<(String, Vec<usize>)> {
    let found = results.anomalies.iter().filter(|anomaly| !anomaly.advisory);
    let claim = |anomaly: &Anomaly| (anomaly.kind.clone(), anomaly.witness.clone());
    found.map(claim).collect()
}

/// Whether a reason against `valid` names a client and a field.
fn named(results: &Results, client: &str, field: &RequiredField) -> bool {
    let word = match field.of {
        FieldSource::Announced { notice, .. } => notice,
        FieldSource::Answer(_) | FieldSource::Notice(_) => field.path.last().expect("a name"),
    };
    let names = |reason: &String| {
        let of_client = reason.split(|c: char| !c.is_alphanumeric()).any(|part| part == client);
        !reason.starts_with("note: ") && of_client && reason.contains(word)
    };
    results.reasons.iter().any(names)
}

/// What is wrong with the judgement of a run that was valid, without the field.
fn of_valid(record: &Record, field: &RequiredField, client: &str, at: &[usize], how: Absence) -> Vec<String> {
    let spoilt = without(record, field, at, how);
    let mut wrong = Vec::new();
    let results = check(&spoilt);
    if !results.anomalies.is_empty() {
        wrong.push(format!("it convicts: {:?}", results.anomalies));
    } else if results.verdict != Verdict::Unknown || !named(&results, client, field) {
        wrong.push(format!("{}, not named: {:?}", results.verdict, results.reasons));
    }
    match field.cannot {
        Some(cannot) => {
            let results = check(&declared(&spoilt, client, &[cannot]));
            let listed = results.not_judged.iter().any(|left| {
                let name = *field.path.last().expect("a name");
                left.check == field.check && left.why.contains(client) && left.why.contains(name)
            });
            // What is given and cannot be read was not left out.
            let forbidden = how != Absence::Unreadable && results.verdict != Verdict::Valid;
            if forbidden || !results.anomalies.is_empty() {
                wrong.push(format!(
                    "declared: {}: {:?} {:?}",
                    results.verdict, results.reasons, results.anomalies
                ));
            } else if !listed && how != Absence::Unreadable && (field.doubted || !field.still.is_empty()) {
                wrong.push(format!("declared, and not listed: {:?}", results.not_judged));
            }
            let others: Vec<ClientLimit> = ClientLimit::ALL.into_iter().filter(|other| *other != cannot).collect();
            let results = check(&declared(&spoilt, client, &others));
            if results.verdict != Verdict::Unknown || !named(&results, client, field) {
                wrong.push(format!("others declared: {}: {:?}", results.verdict, results.reasons));
            }
        }
        None => {
            let results = check(&declared(&spoilt, client, &ClientLimit::ALL));
            if results.verdict != Verdict::Unknown || !named(&results, client, field) {
                wrong.push(format!("all declared: {}: {:?}", results.verdict, results.reasons));
            }
        }
    }
    wrong
}

/// What is wrong with the judgement of a run that was convicted, without the field: whom it convicts anew, or, where
/// nothing rests on the field, whom no more. `lost`: whether some conviction was.
fn of_convicted(record: &Record, spoilt: &Record, rests: bool, lost: &mut bool) -> Vec<String> {
    let (before, after) = (convicting(&check(record)), convicting(&check(spoilt)));
    let mut wrong = Vec::new();
    let anew: Vec<_> = after
        .difference(&before)
        .filter(|(kind, _)| !before.iter().any(|(other, _)| other == kind))
        .collect();
    if !anew.is_empty() {
        wrong.push(format!("it convicts anew: {anew:?}"));
    }
    let kinds =
        |claims: &BTreeSet<(String, Vec<usize>)>| claims.iter().map(|(kind, _)| kind.clone()).collect::<BTreeSet<_>>();
    let fewer = !kinds(&before).is_subset(&kinds(&after));
    *lost |= fewer;
    if fewer && !rests {
        wrong.push(format!("it convicts no more: {before:?}, {after:?}"));
    }
    wrong
}

/// A row in a run, and what is wrong there.
fn judge_row(run: &FieldRun, record: &Record, field: &RequiredField) -> Vec<String> {
    let mut all = Vec::new();
    let rests = run.rests.contains(&name(field).as_str());
    let mut lost = false;
    for (client, at) in places(record, field) {
        for how in Absence::ALL.into_iter().filter(|how| how.is_of(field)) {
            let wrong = match run.convicts {
                "" => of_valid(record, field, &client, &at, how),
                _ => of_convicted(record, &without(record, field, &at, how), rests, &mut lost),
            };
            let place = format!("{} [{}] {} of {client}, {how:?}", run.family, run.convicts, name(field));
            all.extend(wrong.into_iter().map(|wrong| format!("{place}: {wrong}")));
        }
    }
    if rests && !lost {
        all.push(format!(
            "{} [{}]: nothing rests on {}",
            run.family,
            run.convicts,
            name(field)
        ));
    }
    all
}

#[test]
fn each_run_is_judged_as_it_should_be() {
    let mut wrong = Vec::new();
    for run in RUNS {
        let results = check(&(run.record)());
        let kinds: BTreeSet<String> = convicting(&results).into_iter().map(|(kind, _)| kind).collect();
        let wanted: BTreeSet<String> = run.convicts.split_whitespace().map(str::to_owned).collect();
        if (results.verdict == Verdict::Valid) != wanted.is_empty() || kinds != wanted {
            wrong.push(format!(
                "{} [{}]: {} {:?} {:?}",
                run.family, run.convicts, results.verdict, results.anomalies, results.reasons
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_field_that_is_absent_convicts_nobody_and_is_named() {
    let mut wrong = Vec::new();
    let mut rested: BTreeSet<(usize, &str)> = BTreeSet::new();
    for family in FAMILIES {
        for field in family.fields.iter().copied().flatten() {
            let mut taken = false;
            for (number, run) in RUNS.iter().enumerate().filter(|(_, run)| run.family == family.name) {
                let record = (run.record)();
                if !(field.asked)(&record.plan.workload) || places(&record, field).is_empty() {
                    continue;
                }
                taken |= run.convicts.is_empty();
                rested.extend(
                    run.rests
                        .iter()
                        .filter(|rests| **rests == name(field))
                        .map(|rests| (number, *rests)),
                );
                wrong.extend(judge_row(run, &record, field));
            }
            if !taken {
                wrong.push(format!("{}: no valid run has {}", family.name, name(field)));
            }
        }
    }
    for (number, run) in RUNS.iter().enumerate() {
        let unknown = run.rests.iter().filter(|rests| !rested.contains(&(number, **rests)));
        wrong.extend(unknown.map(|rests| format!("{} [{}]: there is no row {rests}", run.family, run.convicts)));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
