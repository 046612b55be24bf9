//! Clients of the family `membership` that each break one sentence.

use super::{Say, TrialProxy, broken, ends, hidden, says};
use serde_json::{Value, json};

/// What breaks a sentence, and that sentence alone.
fn breakers() -> Vec<(&'static str, TrialProxy)> {
    vec![
        ("member", says(|said| ends(said, "not-registered", "info"))),
        ("member", says(|said| ends(said, "registered already", "ok"))),
        (
            "view",
            says(|said| {
                if said["value"]["registered"].is_object() {
                    said["value"]["registered"] = Value::Null;
                }
                Say::It
            }),
        ),
        ("view-shown", says(|said| hidden(said["notice"] == "view"))),
        (
            "view-shown",
            says(|said| {
                if said["notice"] == "view" {
                    said["value"]["n"] = 1.into();
                }
                Say::It
            }),
        ),
        (
            "view-follows",
            says(|said| {
                let value = &mut said["value"];
                let view = if value.get("view").is_some() {
                    &mut value["view"]
                } else {
                    value
                };
                if view["members"].is_array() {
                    view["members"] = json!([]);
                }
                Say::It
            }),
        ),
    ]
}

#[test]
fn each_broken_sentence_about_groups_is_named_and_no_other() {
    for (sentence, between) in breakers() {
        assert_eq!(broken("membership/cached", between), [sentence]);
    }
}
