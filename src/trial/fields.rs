//! The fields that checks rest on, in what clients answer and report: by the same table as the checkers.

use super::conversation::{Talk, TimedLine};
use super::{SentenceResult, Trial, sentences};
use serde_json::Value;
use zooquake_history::operation::{FieldSource, RequiredField};
use zooquake_history::protocol::{Message, Outcome};

impl Trial {
    /// The fields that a client is asked for and has not declared that it cannot give.
    fn asked_fields(&self) -> impl Iterator<Item = &'static RequiredField> {
        let all = self.family.spec.required(&self.plan.workload);
        all.filter(|field| field.cannot.is_none_or(|cannot| self.can(cannot.name())))
    }

    /// That an answer `ok` has the fields that checks rest on; but for those that need not be in each.
    pub(super) fn has_fields(&self, f: &str, value: &Value) -> Result<(), String> {
        let all = self.asked_fields().filter(|field| !field.once && is_of(field, f));
        all.filter(|field| !field.is_given(value))
            .try_for_each(|field| Err(lacks(field, &format!("`{f}` was answered {value}"))))
    }

    /// Holds all that both clients answered and reported against the table.
    pub(super) fn fields(&mut self) {
        let talks: Vec<&Talk> = self.former.iter().chain(&self.clients).collect();
        let lines: Vec<(Option<&str>, TimedLine)> = talks.iter().flat_map(|talk| talk.with_operations()).collect();
        let (mut looked_at, mut seen) = (0, None);
        for field in self.asked_fields() {
            let given = lines
                .iter()
                .filter_map(|(f, heard)| Some((value_of(field, *f, heard)?, heard)));
            let given: Vec<(bool, &TimedLine)> = given.map(|(value, heard)| (field.is_given(value), heard)).collect();
            looked_at += given.len();
            let excused = field.once && given.iter().any(|(is_given, _)| *is_given);
            let first = given.iter().find(|(is_given, _)| !is_given && !excused);
            seen = seen.or(first.map(|(_, heard)| lacks(field, &heard.line)));
        }
        let seen: SentenceResult = match seen {
            Some(lack) => Err(lack),
            None => Ok(format!("{looked_at} were looked at")),
        };
        self.note(sentences::FIELDS, seen);
    }
}

/// Whether an answer `ok` to an operation is to have a field.
fn is_of(field: &RequiredField, f: &str) -> bool {
    matches!(field.of, FieldSource::Answer(of) if of.contains(&f))
}

/// The value of a line that is to have a field: an answer `ok` to the operation `f`, or a notice. An answer without any
/// value breaks the sentence of its operation.
fn value_of<'a>(field: &RequiredField, f: Option<&str>, heard: &'a TimedLine) -> Option<&'a Value> {
    match heard.message.as_ref()? {
        Message::Reply {
            outcome: Outcome::Ok,
            value,
            ..
        } => Some(value).filter(|value| !value.is_null() && f.is_some_and(|f| is_of(field, f))),
        Message::Notice { notice, value } => {
            Some(value).filter(|_| matches!(field.of, FieldSource::Notice(name) if name == notice))
        }
        _ => None,
    }
}

fn lacks(field: &RequiredField, said: &str) -> String {
    let declare = field
        .cannot
        .map(|cannot| format!("; `hello` does not declare \"cannot\":[\"{}\"]", cannot.name()))
        .unwrap_or_default();
    format!(
        "{said}, without `{}`, on which `{}` rests{declare}",
        field.name(),
        field.check
    )
}
