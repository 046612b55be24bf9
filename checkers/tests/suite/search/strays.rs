//! Completions whose invocation is missing: what they are of may have happened, and nothing that is valid without the
//! damage is convicted.

use super::judged::{log, maps};
use super::kinds::table;
use super::told;
use crate::expect::says_first;
use crate::script::number;
use fastrand::Rng;
use zooquake_checkers::Verdict;
use zooquake_checkers::generate::{Object, Options, Values, generate};
use zooquake_checkers::search::ModelKind;
use zooquake_history::{EventType, History, Process, Value};

#[test]
fn what_may_have_been_sent_before_explains_what_is_found() {
    table(
        "
        register        unknown: without having invoked it | 0 write 1 -> 1; 1 info write 3; 0 read -> 3
        register        unknown: without having invoked it | 0 write 1 -> 1; 0 read -> 3; 1 info write 3
        register        not-linearizable [0, 1, 3, 4]      | 0 write 1 -> 1; 1 info write 3; 0 read -> 4
        register        unknown: without having invoked it | 0 write 1 -> 1; 1 info cas [1 3]; 0 read -> 3
        register        valid                              | 0 write 1 -> 1; 1 info note 3; 0 read -> 1
        set             unknown: without having invoked it | 1 info add 3; 0 read -> #{3}
        set             phantom-element [1, 2]             | 1 info add 3; 0 read -> #{4}
        counter         unknown: without having invoked it | 1 info add 3; 0 read -> 3
        fifo-queue      unknown: without having invoked it | 1 info enqueue 3; 0 dequeue -> 3
        unordered-queue unknown: without having invoked it | 1 info enqueue 3; 0 dequeue -> 3
        total-queue     unknown: without having invoked it | 1 info enqueue 3; 0 dequeue -> 3; 0 dequeue -> 3
        total-queue     unknown: without having invoked it | 0 enqueue 1 -> 1; 1 info dequeue; 0 drain -> []
        fifo-queue      unknown: without having invoked it | 0 enqueue 1 -> 1; 1 info dequeue; 0 dequeue -> nil
        fifo-queue      unknown: without having invoked it | 0 enqueue 1 -> 1; 0 dequeue -> nil; 2 invoke drain; 1 info drain
        total-queue     lost-item [0, 1, 2, 3, 5, 6]       | 0 enqueue 1 -> 1; 0 enqueue 2 -> 2; 1 info dequeue; 0 drain -> []
        mutex           unknown: without having invoked it | 0 acquire -> nil; 0 info release; 1 acquire -> nil; 1 release -> nil
        mutex-strict    unknown: without having invoked it | 0 acquire -> nil; 2 info release; 1 acquire -> nil
        semaphore:1     unknown: without having invoked it | 0 acquire -> nil; 0 info release; 1 acquire -> nil; 0 release -> nil
        barrier:2       unknown: without having invoked it | 1 info enter 1; 0 enter 1 -> 1
        barrier:2       unknown: without having invoked it | 1 fail enter 1; 0 enter 1 -> 1
        atomic-commit   unknown: without having invoked it | 1 info vote [7 :a :yes]; 0 decided [7 :a] -> [7 :a :commit]
        atomic-commit   commit-without-votes [0, 1, 2]     | 1 info vote [7 :a :no]; 0 decided [7 :a] -> [7 :a :commit]
        id-generator    unknown: without having invoked it | 1 info generate; 0 generate -> 1",
    );
    let kv = |found: &str| {
        format!(
            "1 info append [\"x\" \"b\"]; 0 put [\"x\" \"a\"] -> [\"x\" \"a\"]; 0 get [\"x\" nil] -> [\"x\" \"{found}\"]"
        )
    };
    table(&format!(
        "
        kv unknown: without having invoked it | {}
        kv not-linearizable [3, 4]            | {}",
        kv("ab"),
        kv("c")
    ));
}

#[test]
fn an_error_in_place_of_the_value_may_have_been_any_value() {
    for stray in [
        "1 info write :timed-out",
        "1 info write nil",
        "1 info write \"timed out\"",
    ] {
        let results = maps(ModelKind::REGISTER, &format!("0 write 1 -> 1; {stray}; 0 read -> 3"));
        assert_eq!(results.verdict, Verdict::Unknown, "{stray}: {results:?}");
        let said = |words: &str| results.reasons.iter().any(|reason| reason.contains(words));
        assert!(
            said("the value of the write that event 2 completes is not known"),
            "{:?}",
            results.reasons
        );
    }
    // A value that others have, too, is one.
    let keyword = "0 write :a -> :a; 1 info write :b; 0 read -> :c";
    assert_eq!(maps(ModelKind::REGISTER, keyword).verdict, Verdict::Invalid);
    let logged =
        log("0 :invoke :write 1; 0 :ok :write 1; 1 :info :write :timed-out; 0 :invoke :read nil; 0 :ok :read 3");
    assert_eq!(logged.verdict, Verdict::Unknown);
    table(
        "
        set       unknown: is not known | 0 add 1 -> 1; 1 info add :timed-out; 0 read -> #{1 2}
        barrier:2 unknown: is not known | 1 info enter :timed-out; 0 enter 1 -> 1",
    );
}

#[test]
fn one_that_names_no_key_may_be_of_any() {
    let keys = "0 enqueue [:x 1] -> [:x 1]; 0 dequeue [:y nil] -> [:y nil]; 0 dequeue [:x nil] -> [:x nil]";
    let kind: ModelKind = "fifo-queue".parse().expect("it is a model");
    assert_eq!(maps(kind, keys).verdict, Verdict::Invalid);
    assert_eq!(maps(kind, &format!("1 info dequeue; {keys}")).verdict, Verdict::Unknown);
    let registers = "0 write [:x 1] -> [:x 1]; 0 read [:y nil] -> [:y 2]; 0 read [:x nil] -> [:x 1]";
    let results = maps(ModelKind::REGISTER, &format!("1 info read :timed-out; {registers}"));
    assert_eq!(results.verdict, Verdict::Unknown, "{results:?}");
    says_first(
        &results,
        &["process 1 completes read at event 0 without having invoked it"],
    );
}

#[test]
fn a_second_completion_of_another_value_is_of_another_operation() {
    let twice = |end: &str| format!("0 invoke write 5; 0 ok read 1; {end}; 1 read -> 7");
    table(&format!(
        "
        register unknown: without having invoked it | {}
        register not-linearizable [3, 4, 5, 6]      | {}; 1 read -> 9",
        twice("0 ok write 7"),
        twice("0 ok write 5")
    ));
}

/// A history of an object with one damage: of one operation that ended as `info`, or of one that was answered, the
/// invocation is missing. In place of its value may be an error, or nothing.
fn damaged(mut history: History, rng: &mut Rng) -> Option<History> {
    let ends = history
        .events
        .iter()
        .filter(|event| event.kind == EventType::Info || rng.u8(0..20) == 0);
    let ends: Vec<usize> = ends
        .filter(|event| event.kind != EventType::Invoke)
        .map(|event| event.index)
        .collect();
    let end = *rng.choice(&ends)?;
    let process = history.events[end].process.clone();
    let invoke = history.events[..end]
        .iter()
        .rposition(|event| event.process == process)?;
    match rng.u8(0..4) {
        _ if history.events[end].kind != EventType::Info => {}
        0 => history.events[end].value = Value::Null,
        1 => history.events[end].value = ":timed-out".into(),
        _ => {}
    }
    history.events.remove(invoke);
    number(&mut history.events);
    assert!(matches!(process, Process::Number(_)));
    Some(history)
}

#[test]
fn no_object_is_convicted_because_of_an_invocation_that_is_missing() {
    let histories = crate::histories(2_000);
    for object in Object::all() {
        let name = object.to_string();
        let kind: ModelKind = name.parse().expect("it is a model");
        let (mut rng, mut broken) = (Rng::with_seed(81), [0_u64; 2]);
        for seed in 0..histories {
            let violation = seed % 4 == 0;
            let options = Options {
                object,
                ops: rng.usize(10..16),
                clients: object.clients(true).max(4),
                unknown: 0.3,
                values: if rng.bool() { Values::Unique } else { Values::Of(3) },
                seed,
                violation,
            };
            let whole = generate(&options).expect("the options make sense");
            let Some(history) = damaged(whole, &mut rng) else {
                continue;
            };
            let results = told(&history, kind);
            if violation {
                broken[usize::from(results.verdict == Verdict::Invalid)] += 1;
                assert_ne!(results.verdict, Verdict::Valid, "{name}: {history:?}");
            } else {
                assert_eq!(results.verdict, Verdict::Unknown, "{name}: {history:?} {results:?}");
            }
        }
        let least = histories / 100;
        assert!(broken[1] > least, "{name} is convicted all the same: {broken:?}");
    }
}
