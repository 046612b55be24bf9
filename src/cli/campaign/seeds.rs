//! Seeds in a campaign file: listed, or drawn anew for each night.

use crate::nightly::seeds::{DrawnSeeds, MOST, SeedOrigin, SeedSource};
use toml::{Table, Value};

/// The value of the campaign's `seeds`.
///
/// # Errors
/// What is wrong with it, and the way out.
pub fn source(value: &Value) -> Result<SeedSource, String> {
    match value {
        Value::Table(keys) => drawn(keys).map(SeedSource::Drawn),
        Value::Integer(number) => Err(format!(
            "give a list such as [{number}], or {{ count = {number}, from = \"date\" }}"
        )),
        other => listed(other).map(SeedSource::Listed),
    }
}

/// A list of seeds, each once.
///
/// # Errors
/// What is wrong with it, and the way out.
pub fn listed(value: &Value) -> Result<Vec<u64>, String> {
    let values = match value {
        Value::Array(values) if !values.is_empty() => values,
        Value::Array(_) => return Err("give at least one".to_string()),
        _ => return Err("pinned seeds are a list, such as seeds = [7]".to_string()),
    };
    let seed = |value: &Value| {
        let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
        let shown = value
            .as_integer()
            .map_or("this".to_string(), |number| format!("`{number}`"));
        number.ok_or_else(|| format!("{shown} is no seed: a seed is a whole number from 0"))
    };
    let seeds: Result<Vec<u64>, String> = values.iter().map(seed).collect();
    Ok(super::unique(seeds?))
}

fn drawn(keys: &Table) -> Result<DrawnSeeds, String> {
    if let Some(other) = keys.keys().find(|key| !["count", "from"].contains(&key.as_str())) {
        return Err(format!(
            "there is no key `{other}` here: give {{ count = 4, from = \"date\" }}"
        ));
    }
    let count = keys.get("count").and_then(Value::as_integer);
    let count = count.and_then(|count| u64::try_from(count).ok());
    let count = count.filter(|count| (1..=MOST).contains(count));
    let count = count.ok_or_else(|| format!("`count` is how many seeds each night has: give 1 to {MOST}"))?;
    match keys.get("from").and_then(Value::as_str) {
        Some("date") => Ok(DrawnSeeds {
            count,
            from: SeedOrigin::Date,
        }),
        _ => Err("`from` is what the seeds are drawn from: give from = \"date\"".to_string()),
    }
}
