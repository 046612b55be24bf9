//! Each registered model has what help texts, lists, inference, benchmarks and inputs for fuzzing take from it.

use std::collections::HashSet;
use zooquake_linearizability::ModelKind;
use zooquake_linearizability::generate::{EventType, GeneratedEvent, GeneratedLoad, Object, Values, generate};

/// The load of `fuzz/seed.sh`.
const SEED: GeneratedLoad = GeneratedLoad::new(20, 5, 0.1, Values::Unique);

#[test]
fn each_model_has_a_line_of_help_and_is_named_in_the_book() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checking.md");
    let book = std::fs::read_to_string(book).expect("docs/checking.md");
    let (_, models) = book.split_once("\n## Models\n").expect("models");
    let (models, _) = models.split_once("\n## ").expect("another section");
    let mut names = HashSet::new();
    for model in ModelKind::listed() {
        let summary = model.summary;
        assert!(names.insert(model.name), "{model} is named twice");
        assert!((1..=92).contains(&summary.chars().count()), "{model}: {summary}");
        assert!(
            !summary.ends_with('.') && !summary.contains(char::is_control),
            "{model}: {summary}"
        );
        let number = if model.size.is_some() { ":N" } else { "" };
        let quoted = format!("`{}{number}`", model.name);
        assert!(models.contains(&quoted), "the section lacks {quoted}");
    }
    assert!(names.len() > 15, "{names:?}");
}

#[test]
fn each_simulation_has_a_name_of_a_model_and_a_number_that_is_generated() {
    let objects: Vec<Object> = Object::all().collect();
    let listed = ModelKind::listed().filter(|model| model.generated);
    assert_eq!(listed.count(), objects.len());
    for object in objects {
        let text = object.to_string();
        assert_eq!(text.parse::<Object>(), Ok(object));
        let kind: ModelKind = text.parse().expect("a model");
        assert_eq!(kind.to_string().contains(':'), object.size() > 0);
        for violation in [false, true] {
            generate(&SEED.options(object, 1, violation)).expect("the load suffices");
            let enough = |load: &GeneratedLoad| load.clients >= object.clients(violation) && load.ops >= 10;
            assert!(object.loads().iter().all(enough), "{object}");
        }
    }
}

/// What is inferred from a history.
fn inferred(history: &[GeneratedEvent]) -> Option<ModelKind> {
    let has = |name: &str| history.iter().any(|event| event.f == name);
    let any = |f: &str, kind: EventType, like: fn(&_) -> bool| {
        let mut those = history.iter().filter(|event| event.f == f && event.kind == kind);
        those.any(|event| like(&event.value))
    };
    ModelKind::infer(
        has,
        |like| any("acquire", EventType::Invoke, like),
        |like| any("read", EventType::Ok, like),
    )
}

#[test]
fn generated_histories_are_inferred_to_be_of_their_models() {
    for object in Object::all() {
        let wanted = match object.name() {
            // The operations do not show more than a mutex on a lease.
            "fenced-mutex" | "reentrant-mutex" | "semaphore" => Some("mutex"),
            // Nor what a queue promises, and how many members a barrier has; modes are of no mutex.
            "fifo-queue" | "unordered-queue" | "total-queue" | "barrier" | "rwlock" => None,
            name => Some(name),
        };
        let wanted = wanted.map(|name| name.parse::<ModelKind>().expect("a model"));
        for violation in [false, true] {
            let history = generate(&SEED.options(object, 2, violation)).expect("the load suffices");
            assert_eq!(inferred(&history), wanted, "{object}");
        }
    }
}

#[test]
fn a_history_that_is_inferred_has_operations_of_its_model() {
    for name in [
        "put", "append", "vote", "decided", "generate", "write", "cas", "acquire", "release",
    ] {
        let kind = ModelKind::infer(|other| other == name, |_| false, |_| false).expect("it is inferred");
        assert!(kind.operations().contains(&name), "{kind} has no {name}");
    }
    // Of what is added, and of several things, only reads decide.
    for names in [["add", "read"], ["add", "generate"], ["add", "vote"], ["add", "get"]] {
        assert_eq!(
            ModelKind::infer(|name| names.contains(&name), |_| false, |_| false),
            None,
            "{names:?}"
        );
    }
    let kind = |names: &[&str]| ModelKind::infer(|name| names.contains(&name), |_| false, |_| false);
    assert_eq!(kind(&["acquire", "release", "read", "write"]), Some(ModelKind::MUTEX));
    // What is only read may be of anything.
    for names in [&["read"][..], &["get"], &["read", "get"]] {
        assert_eq!(kind(names), None, "{names:?}");
    }
}
