//! What is wanted of the judgement of a record.

use crate::script::number;
use std::collections::{BTreeSet, HashMap};
use zooquake_checkers::families;
use zooquake_checkers::{Anomaly, Results, Verdict, check};
use zooquake_history::{Event, EventType, Process, Record};

/// The names of the anomalies, in the order of the report; but for idle spells, which are tried in [`crate::idle`]: in
/// histories written by hand clients wait for as long as is convenient.
pub fn kinds(results: &Results) -> Vec<&str> {
    let kinds = results.anomalies.iter().map(|anomaly| anomaly.kind.as_str());
    kinds
        .filter(|kind| !["idle-lock", "leaderless"].contains(kind))
        .collect()
}

pub fn of_kind<'a>(results: &'a Results, kind: &str) -> Vec<&'a Anomaly> {
    let found = results.anomalies.iter();
    found.filter(|anomaly| anomaly.kind == kind).collect()
}

/// Asserts that the checks find anomalies of exactly these kinds.
#[track_caller]
pub fn found(record: &Record, wanted: &[&str]) -> Results {
    let results = check(record);
    assert_eq!(kinds(&results), wanted, "{results:#?}");
    results
}

/// The only anomaly of a record, which is of this kind.
#[track_caller]
pub fn one(record: &Record, kind: &str) -> Anomaly {
    found(record, &[kind]).anomalies.remove(0)
}

/// The only anomaly of a record, which is of this kind and has this witness.
#[track_caller]
pub fn one_by(record: &Record, kind: &str, witness: &[usize]) -> Anomaly {
    let anomaly = one(record, kind);
    assert_eq!(anomaly.witness, witness, "{anomaly:#?}");
    anomaly
}

/// The only anomaly of a record, whose witness convicts by itself, and no event of it can be left out.
#[track_caller]
pub fn proven(record: &Record, kind: &str) -> Anomaly {
    let anomaly = one(record, kind);
    minimal(record, &anomaly);
    anomaly
}

/// The same of one that has this witness.
#[track_caller]
pub fn proven_by(record: &Record, kind: &str, witness: &[usize]) -> Anomaly {
    let anomaly = one_by(record, kind, witness);
    minimal(record, &anomaly);
    anomaly
}

/// Wants no anomaly of a record.
#[track_caller]
pub fn none(record: &Record) -> Results {
    found(record, &[])
}

#[track_caller]
pub fn valid(record: &Record) -> Results {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Valid, "{results:#?}");
    results
}

/// Wants the verdict to be unknown for a reason that has these words.
#[track_caller]
pub fn unknown(record: &Record, reason: &str) -> Results {
    let results = check(record);
    assert_eq!(results.verdict, Verdict::Unknown, "{results:#?}");
    has_reason(&results, reason);
    results
}

/// How many reasons have these words.
pub fn count(results: &Results, words: &str) -> usize {
    results.reasons.iter().filter(|reason| reason.contains(words)).count()
}

/// Wants a reason to have these words.
#[track_caller]
pub fn has_reason(results: &Results, words: &str) {
    assert!(count(results, words) > 0, "{words:?} is not in {:#?}", results.reasons);
}

/// Wants the first reason to have all of these.
#[track_caller]
pub fn says_first(results: &Results, all: &[&str]) {
    let first = results.reasons.first().expect("a reason");
    all.iter()
        .for_each(|words| assert!(first.contains(words), "{words:?} is not in {first}"));
}

/// Wants no reason to have these words.
#[track_caller]
pub fn lacks_reason(results: &Results, words: &str) {
    assert!(count(results, words) == 0, "{words:?} is in {:#?}", results.reasons);
}

/// Wants the text of an anomaly, or of its cause, to have these words.
#[track_caller]
pub fn explains(anomaly: &Anomaly, words: &str) {
    let cause = anomaly.cause.as_ref().map_or("", |cause| cause.sentence.as_str());
    let has = anomaly.why.contains(words) || cause.contains(words);
    assert!(has, "{words:?} is not in {} {cause}", anomaly.why);
}

/// Wants the text of an anomaly, or of its cause, to have all of these.
#[track_caller]
pub fn explains_all(anomaly: &Anomaly, all: &[&str]) {
    for words in all {
        explains(anomaly, words);
    }
}

/// The record without the readings of the tree that the anomaly can do without.
pub fn least(record: &Record, anomaly: &Anomaly) -> Record {
    let same = |other: &Anomaly| other.property == anomaly.property && other.witness == anomaly.witness;
    let mut least = record.clone();
    for without in (0..record.tree.as_ref().map_or(0, |tree| tree.readings.len())).rev() {
        let mut fewer = least.clone();
        fewer.tree.as_mut().expect("a tree").readings.remove(without);
        if check(&fewer).anomalies.iter().any(same) {
            least = fewer;
        }
    }
    least
}

/// The witness convicts by itself, and without any event of it nothing does. Without the event that wrote it a
/// register's value is made up, which is another property.
#[track_caller]
pub fn minimal(record: &Record, anomaly: &Anomaly) {
    let property = |other: &Anomaly| other.property == anomaly.property || record.plan.workload.family != "register";
    minimal_as(record, anomaly, |other| other.kind == anomaly.kind && property(other));
}

/// The witness alone gives an anomaly that is the `same`, and without any event of it nothing does.
#[track_caller]
pub fn minimal_as(record: &Record, anomaly: &Anomaly, same: impl Fn(&Anomaly) -> bool) {
    minimal_beside(record, anomaly, &BTreeSet::new(), same);
}

/// The same beside events that are no part of a witness.
#[track_caller]
pub fn minimal_beside(record: &Record, anomaly: &Anomaly, beside: &BTreeSet<usize>, same: impl Fn(&Anomaly) -> bool) {
    let convicts = |keep: &BTreeSet<usize>| check(&only(record, &(keep | beside))).anomalies.iter().any(&same);
    let witness: BTreeSet<usize> = anomaly.witness.iter().copied().collect();
    assert!(convicts(&witness), "needs more: {anomaly:#?}");
    for event in &witness {
        let less = &witness - &BTreeSet::from([*event]);
        assert!(!convicts(&less), "does not need {event}: {anomaly:#?}");
    }
}

/// Wants twins of a history to have no anomaly. A line of the table is one of them: `FROM => TO | FROM => TO # what it
/// is`, where `TO` stands instead of `FROM`, which has to be there, wherever that is; without a `TO` it is left out.
#[track_caller]
pub fn innocent(record: impl Fn(&str) -> Record, text: &str, table: &str) {
    twins(text, table, |twin, row| {
        assert_eq!(kinds(&check(&record(twin))), [""; 0], "{row}\n{twin}")
    });
}

/// Wants twins of a history to have just this anomaly, with a witness that is minimal; see [`innocent`].
#[track_caller]
pub fn guilty(record: impl Fn(&str) -> Record, kind: &str, text: &str, table: &str) {
    twins(text, table, |twin, row| {
        let record = record(twin);
        assert_eq!(kinds(&check(&record)), [kind], "{row}\n{twin}");
        proven(&record, kind);
    });
}

/// Wants each of these edits of a history to make its verdict unknown, for a reason that has these words.
#[track_caller]
pub fn lacking(record: impl Fn(&str) -> Record, text: &str, cases: &[(&str, &str)]) {
    for (edits, reason) in cases {
        unknown(&record(&edited(text, edits)), reason);
    }
}

/// Judges the twins of a history, each with its row; see [`innocent`].
#[track_caller]
pub fn twins(text: &str, table: &str, judge: impl Fn(&str, &str)) {
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        judge(&edited(text, row.split('#').next().unwrap_or_default()), row);
    }
}

/// A text in which each `FROM => TO` is made, one after the other.
#[track_caller]
pub fn edited(text: &str, edits: &str) -> String {
    edits.split('|').fold(text.to_owned(), |text, edit| {
        let (from, to) = edit.split_once("=>").unwrap_or_else(|| panic!("{edit:?} is no edit"));
        assert!(text.contains(from.trim()), "{from:?} is not in {text}");
        text.replace(from.trim(), to.trim())
    })
}

/// Wants every checker that ran to be one of a family.
#[track_caller]
pub fn of_family(results: &Results, name: &str) {
    let family = families::family(name).expect("it is there");
    for checker in results.checkers.keys() {
        assert!(family.checkers.contains(&checker.as_str()), "{checker}");
    }
}

/// The record with only some of its events, under new indexes; the readings of the tree keep their places among them.
/// Each operation has a process of its own, so that what is left of a process pairs.
pub fn only(record: &Record, keep: &BTreeSet<usize>) -> Record {
    let mut small = record.clone();
    apart(&mut small.history.events);
    // The end of the run is none of what happened in it: without it the evidence would reach beyond the record. Nor are
    // the names of a network's nodes.
    let frame = |event: &Event| event.entered() == Some("done") || event.f == "nodes" && event.is_of("run");
    let kept = |event: &Event| keep.contains(&event.index) || frame(event);
    small.history.events.retain(kept);
    number(&mut small.history.events);
    for reading in small.tree.iter_mut().flat_map(|tree| &mut tree.readings) {
        reading.index = keep.range(..reading.index).count();
        reading.end_index = keep.range(..reading.end_index).count();
    }
    small
}

/// Gives each operation of a numbered process a process of its own.
fn apart(events: &mut [Event]) {
    let mut open: HashMap<Process, (Process, String)> = HashMap::new();
    for event in events {
        if let Process::Name(_) = event.process {
            continue;
        }
        let asked = open.remove(&event.process);
        let own = asked.filter(|(_, f)| event.kind != EventType::Invoke && *f == event.f);
        let own = own.map_or_else(|| Process::Number(event.index as u64), |(own, _)| own);
        let process = std::mem::replace(&mut event.process, own.clone());
        if event.kind == EventType::Invoke {
            open.insert(process, (own, event.f.to_string()));
        }
    }
}
