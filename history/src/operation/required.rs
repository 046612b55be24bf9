//! The fields that checks rest on: which answer `ok`, or notice, is to have each, the check that needs it, what its
//! absence makes, and the word by which a client declares that it cannot give it.
//!
//! Each family has a table of them ([`Family::fields`](super::Family)), by which `zooquake try` holds a client against
//! the protocol, and the checkers a run of a user's own recipe. A field that is absent, or cannot be read, is no
//! answer: it is a reason against `valid`, and accuses nobody. `null` is an answer where the field may be `null`.

use super::JsonNode;
use crate::plan::Workload;
use crate::protocol::ClientLimit;

/// A field that answers, or notices, are to have.
#[derive(Debug, Clone, Copy)]
pub struct RequiredField {
    /// What is to have it.
    pub of: FieldSource,
    /// Its name, after those of the fields that it lies in. A list on the way stands for each of its entries.
    pub path: &'static [&'static str],
    /// What may stand in it.
    pub content: FieldContent,
    /// How a client declares that it cannot give it; `None` if a client has to.
    pub cannot: Option<ClientLimit>,
    /// Whether the transaction logs may show it instead.
    pub logged: bool,
    /// Whether a client that gives it in one answer may lack it in others.
    pub once: bool,
    /// Whether what lacks it is doubted by the family's own checkers, with a reason that names it, in whatever history.
    pub doubted: bool,
    /// The check that rests on it.
    pub check: &'static str,
    /// What that still judges without it, or does not; empty where another field of the answer has the words for that.
    pub still: &'static str,
    /// Whether it is asked for in runs of a workload of the family.
    pub asked: fn(&Workload) -> bool,
}

/// What is to have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldSource {
    /// The answers `ok` to these operations.
    Answer(&'static [&'static str]),
    /// The notices of this name.
    Notice(&'static str),
    /// The answers `ok` to an operation, whose number in the field a notice of the same process had contained before,
    /// in a field of that name.
    Announced {
        /// What was answered.
        f: &'static str,
        /// What had to come before that.
        notice: &'static str,
        /// Whether it has to come while the operation is pending.
        within: bool,
    },
}

/// What may stand in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldContent {
    Number,
    NumberOrNull,
    Flag,
    Text,
    /// A session, as `0x…`.
    Session,
    List,
    ListOrNull,
    Object,
    ObjectOrNull,
    /// A znode with its `czxid`.
    Znode,
}

impl FieldContent {
    /// Whether a value is one.
    pub fn holds<V: JsonNode>(self, value: &V) -> bool {
        match self {
            Self::Number => value.integer().is_some(),
            Self::NumberOrNull => value.integer().is_some() || value.is_null(),
            Self::Flag => value.boolean().is_some(),
            Self::Text => value.text().is_some(),
            Self::Session => value.text().is_some_and(is_session),
            Self::List => value.list().is_some(),
            Self::ListOrNull => value.list().is_some() || value.is_null(),
            Self::Object => value.is_object(),
            Self::ObjectOrNull => value.is_object() || value.is_null(),
            Self::Znode => super::CZXID.read_from(value).is_some(),
        }
    }
}

/// Whether a text is a session's number, in hexadecimal digits.
fn is_session(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).is_ok_and(|number| number != 0)
}

impl RequiredField {
    /// A field that each client has to give.
    pub const fn new(
        of: FieldSource,
        path: &'static [&'static str],
        content: FieldContent,
        check: &'static str,
    ) -> Self {
        Self {
            of,
            path,
            content,
            cannot: None,
            logged: false,
            once: false,
            doubted: false,
            check,
            still: "",
            asked: |_| true,
        }
    }

    /// The same, which a client may declare that it cannot give; what is not judged then.
    pub const fn unless(self, cannot: ClientLimit, still: &'static str) -> Self {
        Self {
            cannot: Some(cannot),
            still,
            ..self
        }
    }

    /// The same, doubted by the family's own checkers.
    pub const fn doubted(self) -> Self {
        Self { doubted: true, ..self }
    }

    /// The same, of some workloads of the family.
    pub const fn asked(self, asked: fn(&Workload) -> bool) -> Self {
        Self { asked, ..self }
    }

    /// Its name for texts: `czxid`, `view.members.path`.
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    /// Whether a value has it. One that has nothing of what the field lies in lacks that, and not the field.
    pub fn is_given<V: JsonNode>(&self, value: &V) -> bool {
        given(value, self.path, self.content)
    }
}

fn given<V: JsonNode>(value: &V, path: &[&str], content: FieldContent) -> bool {
    match path {
        [] => content.holds(value),
        [name] => value.named(name).is_some_and(|value| content.holds(value)),
        [name, rest @ ..] => value.named(name).is_none_or(|inner| match inner.list() {
            Some(all) => all.iter().all(|entry| given(entry, rest, content)),
            None => !inner.is_object() || given(inner, rest, content),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldContent, FieldSource, RequiredField};
    use crate::operation::FAMILIES;
    use serde_json::json;

    #[test]
    fn a_field_is_given_by_what_can_be_read_alone() {
        let field = |path, content| RequiredField::new(FieldSource::Answer(&["f"]), path, content, "check");
        let deep = field(&["view", "members", "path"], FieldContent::Text);
        let cases = [
            (field(&["zxid"], FieldContent::Number), json!({"zxid": 7}), true),
            (field(&["zxid"], FieldContent::Number), json!({"zxid": "7"}), false),
            (field(&["zxid"], FieldContent::Number), json!(null), false),
            (
                field(&["item"], FieldContent::NumberOrNull),
                json!({"item": null}),
                true,
            ),
            (field(&["item"], FieldContent::NumberOrNull), json!({}), false),
            (
                field(&["session"], FieldContent::Session),
                json!({"session": "0x1f"}),
                true,
            ),
            (
                field(&["session"], FieldContent::Session),
                json!({"session": "mine"}),
                false,
            ),
            (
                field(&["removed"], FieldContent::Znode),
                json!({"removed": {"czxid": 5}}),
                true,
            ),
            (
                field(&["removed"], FieldContent::Znode),
                json!({"removed": {"path": "/a"}}),
                false,
            ),
            (
                deep,
                json!({"view": {"members": [{"path": "/a"}, {"path": "/b"}]}}),
                true,
            ),
            (deep, json!({"view": {"members": [{"path": "/a"}, {}]}}), false),
            (deep, json!({"view": {"members": null}}), true),
            (deep, json!({}), true),
        ];
        for (field, value, wanted) in cases {
            assert_eq!(field.is_given(&value), wanted, "{} of {value}", field.name());
        }
    }

    #[test]
    fn what_is_to_have_a_field_is_an_operation_or_a_control_request() {
        use crate::operation::control::f;
        // Families share tables: that of grants names operations of locks and of elections.
        let operations: Vec<&str> = FAMILIES.iter().flat_map(|family| family.ops).map(|op| op.f).collect();
        let known = |of: &&str| operations.contains(of) || f::ALL.contains(of) || *of == f::VIEW;
        for family in FAMILIES {
            for field in family.fields.iter().copied().flatten() {
                let ops = match field.of {
                    FieldSource::Answer(ops) => ops,
                    FieldSource::Announced { ref f, .. } => std::slice::from_ref(f),
                    FieldSource::Notice(_) => &[],
                };
                assert!(ops.iter().all(known), "{}: {}", family.name, field.name());
            }
        }
    }
}
