//! Histories of each model as they are written down: what they mean, and what is found in them.
//!
//! Each has a line: the model, what is found, and the events after a `|`. What is found is `valid`, or an anomaly with
//! the events of its witness, or `unknown` with words of the reason.

use super::judged::maps;
use super::told;
use zooquake_checkers::search::{ModelKind, infer};
use zooquake_checkers::{Results, Verdict};
use zooquake_history::edn::parse_edn;
use zooquake_history::jsonl::parse_json;
use zooquake_history::textlog::{parse_log, parse_txt};

fn judged(model: &str, events: &str) -> Results {
    let kind: ModelKind = model.parse().expect("it is a model");
    maps(kind, events)
}

/// Holds each line of a table against what is found.
#[track_caller]
pub fn table(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, events) = line.split_once('|').expect("a line has events");
        let (model, wanted) = head.trim().split_once(' ').expect("and what is found");
        let results = judged(model, events);
        let found = match results.anomalies.as_slice() {
            [] => results.verdict.to_string(),
            [one] => format!("{} {:?}", one.kind, one.witness),
            several => panic!("{line}: {several:?}"),
        };
        match wanted.trim().split_once(": ") {
            Some((verdict, because)) => {
                let said = results.reasons.iter().any(|reason| reason.contains(because));
                assert!(found == verdict && said, "{line}: {results:?}");
            }
            None => assert_eq!(found, wanted.trim(), "{line}: {results:?}"),
        }
    }
}

#[test]
fn names_and_numbers() {
    for name in ["semaphore:3", "fifo-queue", "unique-ids", "cas-register"] {
        assert!(name.parse::<ModelKind>().is_ok(), "{name}");
    }
    let wrong = |name: &str| name.parse::<ModelKind>().expect_err("it is none");
    assert!(wrong("semaphore").contains("semaphore:3"));
    assert!(wrong("semaphore:0").contains("not a number from 1"));
    assert!(wrong("set:3").contains("takes no number"));
    assert!(wrong("pebble").contains("fifo-queue"));
    let same = "semaphore:3".parse::<ModelKind>().map(|kind| kind.to_string());
    assert_eq!(same.as_deref(), Ok("semaphore:3"));
}

#[test]
fn fifo_queues() {
    let both = "0 enqueue 1 -> 1; 0 enqueue 2 -> 2";
    table(&format!(
        "
        fifo-queue      valid                           | {both}; 1 dequeue -> 1; 1 dequeue -> 2
        fifo-queue      reordered [0, 1, 4, 5]          | {both}; 1 dequeue -> 2; 1 dequeue -> 1
        unordered-queue valid                           | {both}; 1 dequeue -> 2; 1 dequeue -> 1
        fifo-queue      duplicate-delivery [4, 5, 6, 7] | {both}; 1 dequeue -> 1; 1 dequeue -> 1
        fifo-queue      phantom-item [6, 7]             | {both}; 1 dequeue -> 1; 1 dequeue -> 3
        fifo-queue      reordered [0, 1, 4, 5]          | {both}; 1 dequeue -> 2
        fifo-queue      valid                           | {both}; 2 invoke dequeue; 1 dequeue -> 2; 2 info dequeue
        fifo-queue      reordered [0, 1, 6, 7]          | {both}; 2 invoke dequeue; 2 fail dequeue; 1 dequeue -> 2
        fifo-queue      lost-item [0, 1, 4, 5]          | {both}; 1 dequeue -> nil
        fifo-queue      unknown: order among each other | {both}; 1 drain -> [1 2]
        unordered-queue valid                           | {both}; 1 drain -> [1 2]"
    ));
}

#[test]
fn total_queues() {
    // A dequeue of unknown outcome may have taken it; and an enqueue may go on while its item is drained.
    table(
        "
        total-queue     valid                           | 0 enqueue 1 -> 1; 1 drain -> [1]
        total-queue     lost-item [0, 1, 2, 3]          | 0 enqueue 1 -> 1; 1 drain -> []
        total-queue     phantom-item [2, 3]             | 0 enqueue 1 -> 1; 1 drain -> [1 2]
        total-queue     unknown: no drain               | 0 enqueue 1 -> 1
        total-queue     valid                           | 2 invoke dequeue; 2 info dequeue; 0 enqueue 1 -> 1; 1 drain -> []
        total-queue     valid                           | 0 enqueue 1 -> 1; 1 dequeue -> 1; 1 drain -> [1]
        unordered-queue duplicate-delivery [2, 3, 4, 5] | 0 enqueue 1 -> 1; 1 dequeue -> 1; 1 drain -> [1]
        unordered-queue valid                           | 1 invoke drain; 0 invoke enqueue 1; 1 ok drain [1]; 0 ok enqueue 1; 1 drain -> []",
    );
    let said = judged("total-queue", "0 enqueue 1 -> 1; 1 dequeue -> 1; 1 drain -> [1]").reasons;
    assert!(said[0].contains("1 delivery repeated"), "{said:?}");
}

#[test]
fn sets() {
    let apart = "0 invoke add 1; 1 invoke add 2; 2 invoke read; 3 invoke read; 2 ok read #{1}; 3 ok read #{2}; 0 ok add 1; 1 ok add 2";
    table(
        "
        set valid                         | 0 add 1 -> 1; 1 read -> #{1}; 0 add 2 -> 2
        set valid                         | 0 add [1] -> [1]; 0 add 2 -> 2; 1 read -> [2 (1)]
        set lost-element [0, 1, 4, 5]     | 0 add 1 -> 1; 0 add 2 -> 2; 1 read -> #{2}
        set phantom-element [2, 3]        | 0 add 1 -> 1; 1 read -> #{1 2}
        set valid                         | 0 invoke add 1; 0 info add 1; 1 read -> #{}; 1 read -> #{1}
        set unknown: answered with no set | 0 read -> 3",
    );
    table(&format!("set not-linearizable [2, 3, 4, 5] | {apart}"));
}

#[test]
fn counters() {
    table(
        "
        counter valid                                | 0 add 1 -> 1; 0 add 1 -> 1; 1 read -> 2
        counter lost-increment [0, 1, 2, 3, 4, 5]    | 0 add 1 -> 1; 0 add 1 -> 1; 1 read -> 1
        counter phantom-increment [4, 5]             | 0 add 1 -> 1; 0 add 1 -> 1; 1 read -> 3
        counter not-linearizable [4, 5, 6, 7]        | 0 add 1 -> 1; 0 add 1 -> 1; 1 read -> 2; 1 read -> 1
        counter valid                                | 0 invoke add 5; 0 info add 5; 1 read -> 0; 1 read -> 5
        counter not-linearizable [2, 3]              | 0 invoke add 5; 0 info add 5; 1 read -> 3",
    );
}

#[test]
fn generators_of_ids() {
    table(
        "
        id-generator valid                     | 0 generate -> 1; 1 generate -> 2
        id-generator duplicate-id [0, 1, 2, 3] | 0 generate -> \"a\"; 1 generate -> \"a\"",
    );
}

#[test]
fn mutexes_with_tokens() {
    let holds = |one: &str, other: &str| {
        format!("0 acquire -> {one}; 0 release -> nil; 1 acquire -> {other}; 1 release -> nil")
    };
    for (found, one, other) in [
        ("valid", "1", "2"),
        ("valid", "{:fence 1}", "{:fence 7}"),
        ("fencing-regression [0, 1, 4, 5]", "2", "1"),
        ("fencing-regression [0, 1, 4, 5]", "2", "2"),
        ("unknown: name no token", "2", "nil"),
    ] {
        table(&format!("fenced-mutex {found} | {}", holds(one, other)));
    }
    table("fenced-mutex double-grant [0, 1, 2, 3, 4, 5] | 0 acquire -> 1; 1 acquire -> 2; 0 release -> nil");
}

#[test]
fn permits() {
    let holds = |count: u8| {
        let each = |f| (0..count).map(move |process| format!("{process} {f} -> nil"));
        each("acquire").chain(each("release")).collect::<Vec<_>>().join("; ")
    };
    let mode = |one: &str, other: &str| {
        format!("0 acquire {one} -> {one}; 1 acquire {other} -> {other}; 0 release {one} -> {one}; 1 release -> nil")
    };
    for (found, events) in [
        ("semaphore:3 valid", holds(3)),
        ("semaphore:2 double-grant [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", holds(3)),
        (
            "semaphore:2 unknown: no number of permits",
            "0 acquire :much -> nil".to_owned(),
        ),
        ("rwlock valid", mode(":read", ":read")),
        ("rwlock double-grant [0, 1, 2, 3, 4, 5]", mode(":read", ":write")),
        ("rwlock double-grant [0, 1, 2, 3, 4, 5]", mode(":write", ":read")),
        (
            "rwlock unknown: names neither read nor write",
            "0 acquire -> nil".to_owned(),
        ),
    ] {
        table(&format!("{found} | {events}"));
    }
}

#[test]
fn permits_in_maps() {
    let one = "0 acquire {:permits 2} -> {:permits 2}; 1 acquire {:permits 1} -> {:permits 1}";
    let back = "0 release {:permits 2} -> {:permits 2}; 1 release {:permits 1} -> {:permits 1}";
    let named = |rest: &str| format!("0 acquire {{:client \"a\" :permits 2}} -> nil; {rest}");
    let mode = |one: &str, other: &str| {
        format!(
            "0 acquire {{:mode {one}}} -> nil; 1 acquire {{:mode {other} :client 7}} -> nil; 0 release {{:client 3}} -> nil"
        )
    };
    for (found, events) in [
        ("semaphore:3 valid", format!("{one}; {back}")),
        ("semaphore:2 double-grant [0, 1, 2, 3, 4, 5]", format!("{one}; 0 release {{:permits 2}} -> nil")),
        // The client alone is of one permit.
        (
            "semaphore:2 valid",
            "0 acquire {:client 1} -> {:client 1 :uid 4}; 1 acquire {:client 2} -> {:client 2}; 0 release {:client 1} -> nil; 1 release -> nil"
                .to_owned(),
        ),
        (
            "semaphore:1 double-grant [0, 1, 2, 3, 4, 5]",
            "0 acquire {:client 1} -> nil; 1 acquire {:client 2} -> nil; 0 release {:client 1} -> nil; 1 release -> nil"
                .to_owned(),
        ),
        (
            "semaphore:2 double-grant [0, 1, 2, 3, 4, 5]",
            named("1 acquire {:client \"b\"} -> nil; 0 release {:permits 2} -> {:client \"a\"}; 1 release {:client \"b\"} -> nil"),
        ),
        // A release of another client, or of another number, is of no hold that is known.
        (
            "semaphore:2 valid",
            named("0 release {:client \"b\" :permits 2} -> nil; 1 acquire {:client \"c\"} -> nil; 0 release {:client \"a\" :permits 2} -> nil"),
        ),
        (
            "semaphore:2 valid",
            named("0 release {:client \"a\"} -> nil; 1 acquire {:permits 1} -> nil; 0 release {:permits 2} -> nil"),
        ),
        // What is not read as a number of permits.
        ("semaphore:2 unknown: no number of permits", "0 acquire {:permits :all} -> nil".to_owned()),
        ("semaphore:2 unknown: no number of permits", "0 acquire {:permits 0} -> nil".to_owned()),
        ("semaphore:2 unknown: no number of permits", "0 acquire {:client 1 :count 2} -> nil".to_owned()),
        ("semaphore:2 unknown: no number of permits", "0 acquire -> {:left 1}".to_owned()),
        ("semaphore:2 unknown: was sent for 1 of the permits", "0 acquire -> {:permits 2}".to_owned()),
        ("semaphore:2 unknown: was sent for 2 of the permits", named("1 acquire {:permits 2} -> {:permits 1}")),
        // One client of several processes: a hold of its is certain at no moment.
        (
            "semaphore:1 unknown: several processes name one: process 0 at event 0, process 1 at event 2",
            "0 acquire {:client 1} -> nil; 1 acquire {:client 1} -> nil; 0 release {:client 1} -> nil; 1 release {:client 1} -> nil"
                .to_owned(),
        ),
        (
            "semaphore:1 double-grant [2, 3, 4, 5, 6, 7]",
            "9 invoke acquire {:client 1}; 9 info acquire :timed-out; 0 acquire {:client 2} -> nil; \
             1 acquire {:client 3} -> nil; 0 release -> nil; 1 release -> nil"
                .to_owned(),
        ),
        ("rwlock valid", mode(":read", "\"shared\"")),
        ("rwlock double-grant [0, 1, 2, 3, 4, 5]", mode(":write", ":read")),
        ("rwlock unknown: names neither read nor write", mode(":much", ":read")),
    ] {
        table(&format!("{found} | {events}"));
    }
    // Under keys.
    let keys = "0 acquire [:a {:permits 2}] -> [:a {:permits 2}]; 1 acquire [:b {:permits 2}] -> nil; \
                0 release [:a {:permits 2}] -> nil; 1 release [:b {:permits 2}] -> nil";
    table(&format!("semaphore:2 valid | {keys}"));
    let same = keys.replace(":b", ":a");
    table(&format!("semaphore:2 double-grant [0, 1, 2, 3, 4, 5] | {same}"));
}

#[test]
fn permits_in_maps_are_those_of_every_notation() {
    // The second hold begins within the first one.
    let events = [
        (0, "acquire", 2),
        (1, "acquire", 1),
        (0, "release", 2),
        (1, "release", 1),
    ];
    let lines = |line: &dyn Fn(u8, &str, &str, u8) -> String| -> Vec<String> {
        let both = |(process, f, permits)| ["invoke", "ok"].map(|kind| line(process, kind, f, permits));
        events.into_iter().flat_map(both).collect()
    };
    let edn = lines(&|process, kind, f, permits| {
        format!("{{:process {process} :type :{kind} :f :{f} :value {{:client \"c{process}\", :permits {permits}}}}}\n")
    });
    let text = lines(&|process, kind, f, permits| format!("{process}\t:{kind}\t:{f}\t{{:permits {permits}}}\n"));
    let log: Vec<String> = text.iter().map(|line| format!("INFO  jepsen.util - {line}")).collect();
    let json = lines(&|process, kind, f, permits| {
        format!(
            r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{{"client":{process},"permits":{permits}}}}}"#
        )
    });
    for (name, (history, damage)) in [
        ("EDN", parse_edn(edn.concat().as_bytes())),
        ("history.txt", parse_txt(text.concat().as_bytes())),
        ("jepsen.log", parse_log(log.concat().as_bytes())),
        ("an array", parse_json(format!("[{}]", json.join(",")).as_bytes())),
        ("JSON lines", parse_json(json.join("\n").as_bytes())),
    ] {
        assert_eq!(damage, None, "{name}");
        assert_eq!(infer(&history), None, "{name}");
        for (model, kinds) in [("semaphore:3", &[][..]), ("semaphore:2", &["double-grant"])] {
            let results = told(&history, model.parse().expect("it is a model"));
            let found: Vec<&str> = results.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
            assert_eq!(found, kinds, "{name} {model}: {results:?}");
            assert_eq!(
                results.verdict == Verdict::Valid,
                kinds.is_empty(),
                "{name} {model}: {results:?}"
            );
        }
    }
}

#[test]
fn what_grants_several_at_once_is_not_taken_for_a_mutex() {
    let inferred = |value: &str| {
        let text = format!(
            "{{:process 0 :type :invoke :f :acquire :value {value}}}{{:process 0 :type :ok :f :acquire :value {value}}}"
        );
        let (history, damage) = parse_edn(text.as_bytes());
        assert_eq!(damage, None);
        infer(&history)
    };
    for value in ["nil", ":a", "[:a nil]", "{:client 3}", "[1 2 3]"] {
        assert_eq!(inferred(value), Some(ModelKind::MUTEX), "{value}");
    }
    for value in [
        "2",
        "{:permits 1}",
        "{\"permits\" 1}",
        "[:a {:permits 2}]",
        ":read",
        "{:mode :write}",
        "[:a :read]",
    ] {
        assert_eq!(inferred(value), None, "{value}");
    }
}

#[test]
fn mutexes_that_are_acquired_again() {
    let again = "0 acquire -> nil; 0 acquire -> nil; 0 release -> nil";
    // In the last one it may have been lost between the two.
    table(&format!(
        "
        reentrant-mutex valid                           | {again}; 0 release -> nil; 1 acquire -> nil
        reentrant-mutex double-grant [0, 1, 6, 7, 8, 9] | {again}; 1 acquire -> nil; 0 release -> nil
        reentrant-mutex valid                           | 0 acquire -> nil; 1 acquire -> nil; 0 acquire -> nil; 0 release -> nil"
    ));
}

#[test]
fn keys_are_objects_of_their_own() {
    table("set lost-element [0, 1, 4, 5] | 0 add [1 7] -> [1 7]; 1 read [2 nil] -> [2 #{}]; 1 read [1 nil] -> [1 #{}]");
}

#[test]
fn barriers() {
    let both = "0 invoke enter 1; 1 invoke enter 1; 0 ok enter 1; 1 ok enter 1";
    table(&format!(
        "
        barrier:2 valid                                 | {both}; 0 invoke leave 1; 1 invoke leave 1; 0 ok leave 1; 1 ok leave 1
        barrier:2 early-release [0, 1]                  | 0 enter 1 -> 1; 1 enter 1 -> 1
        barrier:2 early-release [0, 2]                  | 0 invoke enter 1; 1 invoke enter 2; 0 ok enter 1
        barrier:2 valid                                 | 1 invoke enter 1; 1 info enter 1; 0 enter 1 -> 1
        barrier:2 valid                                 | 1 invoke enter 1; 1 fail enter 1; 0 enter 1 -> 1
        barrier:2 early-release [1, 3, 4, 5, 6, 7]      | {both}; 0 leave 1 -> 1; 1 leave 1 -> 1
        barrier:2 valid                                 | {both}; 0 leave 1 -> 1; 1 invoke leave 1; 1 info leave 1
        barrier:2 early-release [1, 3, 4, 5, 8, 9]      | {both}; 0 leave 1 -> 1; 1 invoke leave 1; 1 fail leave 1; 1 leave 1 -> 1
        barrier:2 valid                                 | {both}; 0 leave 1 -> 1; 1 invoke leave 1; 1 fail leave 1
        barrier:2 valid                                 | {both}; 1 invoke leave 1; 1 fail leave 1; 0 invoke leave 1; 1 leave 1 -> 1; 0 ok leave 1
        barrier:2 unknown: names no round               | 0 enter -> 1
        barrier:2 unknown: a barrier has no operation   | 0 join 1 -> 1"
    ));
    // One member is inside in the first part of the leave, another one in the second.
    table(
        "barrier:1 early-release [0, 1, 4, 5, 6, 7, 8, 9, 10, 11] | 1 enter 1 -> 1; 0 enter 1 -> 1; 0 invoke leave 1; \
         2 enter 1 -> 1; 1 invoke leave 1; 0 ok leave 1; 2 invoke leave 1; 1 ok leave 1; 2 ok leave 1",
    );
}

#[test]
fn atomic_commits() {
    let begun = "0 begin [7 [:a :b]] -> [7 [:a :b]]";
    let yes = "1 vote [7 :a :yes] -> [7 :a :yes]";
    table(&format!(
        "
        atomic-commit valid                                | {begun}; {yes}; 2 vote [7 :b :yes] -> [7 :b :yes]; 1 decided [7 :a] -> [7 :a :commit]
        atomic-commit valid                                | {begun}; {yes}; 2 invoke vote [7 :b :yes]; 1 decided [7 :a] -> [7 :a :commit]
        atomic-commit commit-without-votes [0, 1, 6, 7]    | {begun}; {yes}; 2 invoke vote [7 :b :yes]; 2 fail vote [7 :b :yes]; 1 decided [7 :a] -> [7 :a :commit]
        atomic-commit commit-without-votes [0, 1, 4, 5]    | {begun}; {yes}; 1 decided [7 :a] -> [7 :a :commit]; 2 vote [7 :b :yes] -> [7 :b :yes]
        atomic-commit commit-without-votes [2, 3, 4]       | {yes}; 1 decided [7 :a] -> [7 :a :commit]; 2 invoke vote [7 :b :yes]
        atomic-commit commit-without-votes [0, 1, 2, 3]    | 1 vote [7 :a :yes] -> [7 :a :no]; 1 decided [7 :a] -> [7 :a :commit]
        atomic-commit valid                                | {yes}; 1 invoke vote [7 :a :no]; 1 info vote [7 :a :no]; 2 decided [7 :a] -> [7 :a :commit]
        atomic-commit split-decision [2, 3, 4, 5]          | {yes}; 1 decided [7 :a] -> [7 :a :commit]; 2 decided [7 :b] -> [7 :b :abort]
        atomic-commit decision-flip [2, 3, 4, 5]           | {yes}; 1 decided [7 :a] -> [7 :a :commit]; 2 decided [7 :a] -> [7 :a :abort]
        atomic-commit decision-flip [0, 1, 2, 3]           | 1 decided [7 nil] -> [7 nil :abort]; 1 decided [7 nil] -> [7 nil :commit]
        atomic-commit valid                                | {yes}; 1 decided [7 :a] -> [7 :a :commit]; 1 decided [8 :a] -> [8 :a :abort]
        atomic-commit unknown: neither commit nor abort    | 1 decided [7 :a] -> [7 :a nil]
        atomic-commit unknown: names no transaction        | 1 vote :yes -> :yes"
    ));
}
