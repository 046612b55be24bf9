//! Lists in the order in which their items came first.

use std::fmt::Display;

/// Different items, at most so many.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>, most: usize) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if found.len() < most && !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Values by their keys.
pub fn by_key<K: PartialEq, V>(pairs: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// `a`, `a and b`, `a, b and c`.
pub fn in_sentence(items: &[impl Display]) -> String {
    match items {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => format!("{} and {last}", joined(first, ", ")),
    }
}

/// Items in one text.
pub fn joined(items: impl IntoIterator<Item = impl Display>, separator: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(separator)
}
