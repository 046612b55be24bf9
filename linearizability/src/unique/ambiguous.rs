//! Values that were written more than once: which of the writes was read is unknown.

use super::{Action, RegisterAccess, RegisterValue};
use std::collections::{BTreeMap, HashSet};

/// Leaves out the accesses to values that more than one operation can have written; `known` holds further such values.
/// Whatever order fits all operations fits these, too: nothing that is left found such a value, or left one.
pub fn left_out<A: RegisterAccess>(all: Vec<A>, known: &HashSet<i64>) -> (Vec<A>, Vec<i64>) {
    let mut writers: BTreeMap<i64, usize> = BTreeMap::new();
    for value in all.iter().filter_map(|access| access.action().written().flatten()) {
        *writers.entry(value).or_default() += 1;
    }
    writers.retain(|value, count| *count > 1 || known.contains(value));
    let ambiguous = |value: i64| writers.contains_key(&value) || known.contains(&value);
    let keep = |access: A| {
        let known = |value: RegisterValue| !value.is_some_and(ambiguous);
        let action = match access.action() {
            Action::Cas { from, to } => match (known(from), known(Some(to))) {
                (true, true) => access.action(),
                (false, true) => Action::Write(to),
                (true, false) if access.certain() => Action::Read(from),
                _ => return None,
            },
            Action::Read(value) => Some(Action::Read(value)).filter(|_| known(value))?,
            Action::Write(value) => Some(Action::Write(value)).filter(|_| known(Some(value)))?,
            Action::Begin => Action::Begin,
        };
        Some(action)
    };
    let kept = all
        .into_iter()
        .filter_map(|access| Some(access.with_action(keep(access)?)))
        .collect();
    (kept, writers.into_keys().collect())
}
