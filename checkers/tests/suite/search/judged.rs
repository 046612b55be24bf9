//! From the text of a history to its verdict.

use super::{told, with_budget};
use crate::expect::{explains, kinds, says_first};
use zooquake_checkers::search::{Budget, HistoryTerms, InitialValue, ModelKind, Notation, infer, judge};
use zooquake_checkers::{Results, Verdict, inferred_plan};
use zooquake_history::{History, edn::parse_edn, event::parse_jsonl, textlog::parse_log};

/// What is found in these events, each after a `;`. `0 add 1 -> 1` is an operation that is answered at once.
pub fn maps(kind: ModelKind, events: &str) -> Results {
    told(&history(events), kind)
}

fn history(events: &str) -> History {
    let mut text = String::new();
    for event in events.split(';').map(str::trim).filter(|event| !event.is_empty()) {
        let (told, answered) = event
            .split_once(" -> ")
            .map_or((event, None), |(asked, told)| (asked, Some(told)));
        let mut words = told.splitn(if answered.is_some() { 3 } else { 4 }, ' ');
        let mut word = || words.next().unwrap_or("nil");
        let process = word();
        let kind = if answered.is_some() { "invoke" } else { word() };
        let (f, value) = (word(), word());
        text += &format!("{{:process {process} :type :{kind} :f :{f} :value {value}}}\n");
        if let Some(answered) = answered {
            text += &format!("{{:process {process} :type :ok :f :{f} :value {answered}}}\n");
        }
    }
    let (history, damage) = parse_edn(text.as_bytes());
    assert_eq!(damage, None, "{text}");
    history
}

/// What is found in a log of these events, each after a `;`.
pub fn log(events: &str) -> Results {
    let text: String = events
        .split("; ")
        .map(|line| format!("INFO jepsen.util - {line}\n"))
        .collect();
    let (history, damage) = parse_log(text.as_bytes());
    assert_eq!(damage, None, "{text}");
    with_budget(|budget| judge(&history, Vec::new(), ModelKind::REGISTER, Notation::Log, budget))
}

#[test]
fn a_stale_read_is_told_with_what_it_contradicts() {
    let results = maps(ModelKind::REGISTER, "0 write 3 -> 3; 1 read -> 0; 2 read -> 3");
    assert_eq!(results.verdict, Verdict::Invalid);
    assert_eq!(results.anomalies.len(), 1, "{:?}", results.anomalies);
    let anomaly = &results.anomalies[0];
    assert_eq!((anomaly.kind.as_str(), anomaly.advisory), ("not-linearizable", false));
    assert_eq!(anomaly.witness, [0, 1, 2, 3]);
    explains(anomaly, "the read of 0 by process 1 (events 2 to 3)");
    explains(anomaly, "the write of 3 by process 0 (events 0 to 1)");
}

#[test]
fn nil_is_unknown_in_edn_and_a_value_in_logs() {
    let edn = "0 write 3 -> 3; 1 read -> nil";
    assert_eq!(maps(ModelKind::REGISTER, edn).verdict, Verdict::Valid);
    let read = "1 :invoke :read nil; 1 :ok :read nil";
    let written = format!("0 :invoke :write 3; 0 :ok :write 3; {read}");
    assert_eq!(log(&written).verdict, Verdict::Invalid);
    assert_eq!(log(read).verdict, Verdict::Valid, "nil is what it begins with");
}

#[test]
fn a_failed_cas_says_something_in_logs_only() {
    let edn = "0 write 3 -> 3; 1 invoke cas [3 4]; 1 fail cas [3 4]";
    assert_eq!(maps(ModelKind::REGISTER, edn).verdict, Verdict::Valid);
    let logged = "0 :invoke :write 3; 0 :ok :write 3; 1 :invoke :cas [3 4]; 1 :fail :cas [3 4]";
    assert_eq!(log(logged).verdict, Verdict::Invalid);
    // Also of the value with which it began.
    let failed = "1 :invoke :cas [3 4]; 1 :fail :cas [3 4]";
    let read = |value: u8| format!("0 :invoke :read nil; 0 :ok :read {value}");
    assert_eq!(log(&format!("{failed}; {}", read(3))).verdict, Verdict::Invalid);
    assert_eq!(log(&format!("{}; {failed}", read(3))).verdict, Verdict::Invalid);
    assert_eq!(log(&format!("{failed}; {}", read(5))).verdict, Verdict::Valid);
}

#[test]
fn what_failed_did_not_happen_and_what_is_unknown_may_have() {
    // What the register had before it was overwritten, nobody knows: that may have been a 3, too.
    let with = |end: &str| {
        let events = format!("2 write 1 -> 1; 0 invoke write 3; {end}; 1 read -> 3");
        maps(ModelKind::REGISTER, &events).verdict
    };
    assert_eq!(with("0 info write :timed-out"), Verdict::Valid);
    assert_eq!(with("0 fail write 3"), Verdict::Invalid);
    let read = maps(ModelKind::REGISTER, "0 invoke read; 0 fail read");
    assert_eq!(read.verdict, Verdict::Valid);
}

#[test]
fn a_beginning_that_is_stated_is_that_of_every_key() {
    let with = |initial: &str, events: &str| {
        let initial: InitialValue = initial.parse().expect("a value");
        let terms = HistoryTerms {
            initial: Some(&initial),
            ..Notation::Maps.into()
        };
        let history = history(events);
        with_budget(|budget| judge(&history, Vec::new(), ModelKind::REGISTER, terms, budget)).verdict
    };
    let events = "0 read -> 0; 1 write 7 -> 7; 2 invoke write 0; 2 fail write 0; 0 read -> 7";
    let keyed = "0 read [a nil] -> [a 0]; 0 read [b nil] -> [b 0]";
    for (initial, verdict) in [
        ("0", Verdict::Valid),
        ("nil", Verdict::Invalid),
        ("null", Verdict::Invalid),
        ("7", Verdict::Invalid),
    ] {
        assert_eq!(with(initial, events), verdict, "{initial}");
        assert_eq!(with(initial, keyed), verdict, "{initial}");
    }
    assert!("[1".parse::<InitialValue>().is_err());
    assert_eq!(ModelKind::REGISTER.beginning(), None);
    assert!(ModelKind::MUTEX.beginning().is_some());
}

#[test]
fn our_own_values_have_fields() {
    let line = |index: usize, process: usize, rest: &str| {
        format!("{{\"index\":{index},\"time\":{index},\"process\":{process},{rest}}}\n")
    };
    let write = [
        line(0, 0, r#""type":"invoke","f":"write","value":{"value":7}"#),
        line(1, 0, r#""type":"ok","f":"write","value":{"value":7,"mzxid":5}"#),
        line(2, 1, r#""type":"invoke","f":"cas","value":{"from":7,"to":8}"#),
        line(3, 1, r#""type":"ok","f":"cas","value":{"from":7,"to":8}"#),
        line(4, 1, r#""type":"invoke","f":"read","value":{}"#),
    ];
    let ended = |value: &str| {
        let end = line(5, 1, &format!(r#""type":"ok","f":"read","value":{{"value":{value}}}"#));
        let (history, damage) = parse_jsonl((write.concat() + &end).as_bytes());
        assert_eq!(damage, None);
        assert_eq!(infer(&history), Some(ModelKind::REGISTER));
        told(&history, ModelKind::REGISTER).verdict
    };
    assert_eq!(ended("8"), Verdict::Valid);
    assert_eq!(ended("7"), Verdict::Invalid);
    assert_eq!(ended("null"), Verdict::Invalid, "null is what it began with");
}

const BOTH: &str = "0 acquire -> nil; 1 acquire -> nil";
const DOUBLE: (Verdict, &[&str]) = (Verdict::Invalid, &["double-grant"]);

#[test]
fn a_lost_lease_is_no_double_grant_unless_the_mutex_is_strict() {
    let failed = "0 invoke release; 0 fail release nil :error [:not-found \"no such lease\"]";
    let events = format!("{BOTH}; {failed}");
    let lost = maps(ModelKind::MUTEX, &events);
    assert_eq!((lost.verdict, lost.anomalies.len()), (Verdict::Valid, 0));
    let note = "note: lease lost: process 0 was granted at event 1";
    assert!(lost.reasons[0].starts_with(note), "{:?}", lost.reasons);
    let strict = maps(ModelKind::MUTEX_STRICT, &events);
    assert_eq!((strict.verdict, kinds(&strict).as_slice()), DOUBLE);
}

#[test]
fn a_grant_within_a_certain_hold_is_a_double_grant() {
    let results = maps(ModelKind::MUTEX, &format!("{BOTH}; 0 release -> nil"));
    assert_eq!((results.verdict, kinds(&results).as_slice()), DOUBLE);
    assert_eq!(results.anomalies[0].witness, [0, 1, 2, 3, 4, 5]);
    let overlapping = "0 acquire -> nil; 0 invoke release; 1 acquire -> nil; 0 ok release";
    let early = maps(ModelKind::MUTEX, overlapping).verdict;
    assert_eq!(early, Verdict::Valid, "released before it was answered");
}

#[test]
fn what_cannot_be_judged_is_unknown_with_the_reason() {
    let reason = |kind, events| {
        let results = maps(kind, events);
        assert_eq!(results.verdict, Verdict::Unknown);
        results.reasons.join("; ")
    };
    assert!(reason(ModelKind::REGISTER, "").contains("holds no operation"));
    assert!(reason(ModelKind::REGISTER, "0 invoke append 3").contains("no register can append"));
    assert!(reason(ModelKind::MUTEX, "0 invoke read").contains("no mutex can read"));
    assert!(reason(ModelKind::REGISTER, "0 invoke cas 3").contains("no pair of values"));
    assert!(reason(ModelKind::REGISTER, "0 invoke read; 0 invoke read").contains("while that of event 0 is in flight"));
    assert!(reason(ModelKind::REGISTER, "0 ok read 3").contains("without having invoked it"));
    let (read, damage) = (history("0 read -> 0"), vec!["line 3, column 1: cut off".to_owned()]);
    let cut = with_budget(|budget| judge(&read, damage, ModelKind::REGISTER, Notation::Maps, budget));
    assert_eq!(cut.verdict, Verdict::Unknown, "what is missing might convict");
}

#[test]
fn a_budget_that_runs_out_says_what_to_do() {
    let read = history("0 write 1 -> 1");
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: 0,
        expired: &mut || false,
    };
    let results = judge(&read, Vec::new(), ModelKind::REGISTER, Notation::Maps, &mut budget);
    assert_eq!(results.verdict, Verdict::Unknown);
    says_first(&results, &["ran out of memory", "--memory"]);
}

#[test]
fn a_witness_that_may_not_be_minimal_says_so() {
    // No value is written once, so that it takes a search.
    let values = [0, 1, 2, 7, 8].into_iter().cycle().take(20);
    let writes: String = values.map(|value| format!("0 write {value} -> {value};")).collect();
    let flip = "0 invoke write 7; 1 invoke write 8; 0 ok write 7; 1 ok write 8; 2 read -> 7; 3 read -> 8";
    let history = history(&(writes + flip));
    let with = |steps: u64| {
        let mut budget = Budget {
            steps,
            bytes: 1 << 30,
            expired: &mut || false,
        };
        judge(&history, Vec::new(), ModelKind::REGISTER, Notation::Maps, &mut budget)
    };
    let just = (1..).map(with).find(|results| results.verdict == Verdict::Invalid);
    let just = &just.expect("some budget suffices for the search").anomalies[0];
    explains(just, "The budget ran out before it was known");
    let all = &with(1_000_000).anomalies[0];
    assert!(!all.why.contains("budget"), "{}", all.why);
    assert_eq!(all.witness, [44, 45, 46, 47], "both writes ended before the reads");
    assert!(just.witness.len() > all.witness.len() && all.witness.iter().all(|at| just.witness.contains(at)));
}

#[test]
fn what_processes_with_names_did_is_not_left_out_in_silence() {
    // What the reader found was written by one of them.
    let results = maps(ModelKind::REGISTER, "0 write 1 -> 1; c1 write 5 -> 5; 0 read -> 5");
    assert_eq!((results.verdict, results.anomalies.len()), (Verdict::Unknown, 0));
    let nothing = "nothing was judged: event 2 is a write of process c1, and 1 more event like it: processes of clients have numbers";
    assert_eq!(results.reasons[0], nothing);
    let alone = inferred_plan::check(&history("c1 write 5 -> 5"), Vec::new()).expect_err("it is of no family");
    assert_eq!(
        alone,
        "the history holds no operation of a process with a number: event 0, write, is of process c1"
    );
    // What the nemesis did is no operation, nor is what else is reported of others.
    let others = "0 write 1 -> 1; :nemesis info write 7; :checker info note 7; 0 read -> 1";
    let results = maps(ModelKind::REGISTER, others);
    assert_eq!((results.verdict, results.reasons.len()), (Verdict::Valid, 0));
}

#[test]
fn remarks_of_clients_are_counted_and_no_reason() {
    let remarks = |events: &str| {
        let results = maps(ModelKind::REGISTER, events);
        assert_eq!(results.verdict, Verdict::Valid, "{results:?}");
        results.reasons
    };
    let one = "0 write 1 -> 1; 1 info note 3; 0 read -> 1";
    let sentence =
        "note: event 2 was not read, a note of process 1 that answers no request and is of no operation of the model";
    assert_eq!(remarks(one), [sentence]);
    assert_eq!(
        remarks(&format!("{one}; 7 info crash; 1 info note 4")),
        [format!("{sentence}, and 2 more events like it")]
    );
}
