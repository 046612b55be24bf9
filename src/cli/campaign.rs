//! Campaign files: TOML, read so that every mistake is named with its line.

use crate::nightly::campaign::{Campaign, EnsembleSettings, PinnedCells, matching};
use crate::nightly::seeds::{DrawnSeeds, MOST, SeedOrigin, SeedSource};
use crate::planning::values::{self, KeyText};
use crate::planning::{names, recipe, spec};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};
use toml::{Spanned, Table, Value};

/// The campaign of a night that is given none; it is the example that the documents show.
pub const EXAMPLE: &str = include_str!("../../docs/ci/nightly.toml");

/// The keys of a campaign file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Option<String>,
    variants: Vec<Spanned<String>>,
    faults: Vec<Spanned<String>>,
    seeds: Option<Spanned<toml::Value>>,
    cells: Option<Vec<PinnedKeys>>,
    time: Option<Spanned<String>>,
    servers: Option<Spanned<u64>>,
    observers: Option<Spanned<u64>>,
    clients: Option<Spanned<u64>>,
    timing: Option<Spanned<String>>,
    zookeeper: Option<Spanned<String>>,
    on: Option<Spanned<String>>,
}

/// The keys of cells beside the matrix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinnedKeys {
    variants: Vec<Spanned<String>>,
    faults: Vec<Spanned<String>>,
    seeds: Spanned<toml::Value>,
}

/// Reads a campaign from the text of its file; `called` is its name if it gives itself none, and folders of recipes lie
/// relative to `folder`.
///
/// # Errors
/// What is wrong with it, with the line.
pub fn read(text: &str, called: &str, folder: &Path) -> Result<Campaign, String> {
    let keys: Keys = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
    let file = CampaignFile(KeyText(text));
    let variants = file.variants("variants", &keys.variants, folder)?;
    let faults = file.faults("faults", &keys.faults)?;
    let seeds = file.one("seeds", keys.seeds.as_ref(), source)?;
    let mut cells = Vec::new();
    for keys in keys.cells.iter().flatten() {
        cells.push(PinnedCells {
            variants: file.variants("cells.variants", &keys.variants, folder)?,
            faults: file.faults("cells.faults", &keys.faults)?,
            seeds: listed(keys.seeds.get_ref()).map_err(|why| file.0.wrong(&keys.seeds, "cells.seeds", &why))?,
        });
    }
    let time = file.one("time", keys.time.as_ref(), |text| values::duration(text))?;
    let size = |key, value: Option<&Spanned<u64>>, read: fn(&str) -> Result<usize, String>| {
        file.one(key, value, |number| read(&number.to_string()))
    };
    let servers = size("servers", keys.servers.as_ref(), values::servers)?;
    let observers = size("observers", keys.observers.as_ref(), values::observers)?;
    let clients = size("clients", keys.clients.as_ref(), values::clients)?;
    let timing = file.one("timing", keys.timing.as_ref(), |text| values::timing(text))?;
    let zookeeper = file.one("zookeeper", keys.zookeeper.as_ref(), |text| values::zookeeper(text))?;
    let on = file.one("on", keys.on.as_ref(), |text| values::on(text))?;
    Ok(Campaign {
        name: keys.name.unwrap_or_else(|| called.to_string()),
        variants,
        faults,
        seeds: seeds.unwrap_or(SeedSource::Listed(vec![1])),
        cells,
        time_ms: time.unwrap_or(spec::TIME).as_millis() as u64,
        cluster: EnsembleSettings {
            servers: servers.unwrap_or(spec::SERVERS),
            observers: observers.unwrap_or_default(),
            clients: clients.unwrap_or(spec::CLIENTS),
            image: zookeeper,
            timing,
        },
        on: on.unwrap_or_default(),
    })
}

/// The folders of recipes that the text of a campaign file names; none if it cannot be read.
pub fn recipes(text: &str, folder: &Path) -> Vec<String> {
    let keys: Option<Keys> = toml::from_str(text).ok();
    let variants = keys.into_iter().flat_map(|keys| {
        let pinned = keys.cells.into_iter().flatten().flat_map(|cells| cells.variants);
        keys.variants.into_iter().chain(pinned)
    });
    variants
        .filter_map(|pattern| recipe_folder(pattern.get_ref(), folder))
        .collect()
}

/// The folder of the recipe that a pattern in a file in this folder stands for; `None` if it stands for built-in
/// variants.
fn recipe_folder(pattern: &str, folder: &Path) -> Option<String> {
    (names::built_in(pattern).is_none() && recipe::is_path_in(pattern, folder)).then(|| below(folder, pattern))
}

/// A path of a file in a folder, as it is seen from where this program runs: without `..` where the same folder has a
/// name without, and never the name of a built-in variant.
fn below(folder: &Path, path: &str) -> String {
    if folder.as_os_str().is_empty() || path.starts_with('/') {
        return path.to_string();
    }
    let joined = folder.join(path.trim_start_matches("./"));
    let short = normalized(&joined);
    // Behind a link, a parent is another folder than the one before it in the path.
    let same = matches!((joined.canonicalize(), short.canonicalize()), (Ok(long), Ok(short)) if long == short);
    let name = if same { short } else { joined }.to_string_lossy().into_owned();
    match names::built_in(&name) {
        Some(_) => format!("./{name}"),
        None => name,
    }
}

/// The path with each `..` resolved against the name before it, without a look at links; `.` if nothing is left. A `..`
/// with no name before it stays.
fn normalized(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        let named = matches!(short.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::ParentDir if named => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    if short.as_os_str().is_empty() {
        short.push(".");
    }
    short
}

/// Each value once, in the order of its first appearance.
fn unique<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// The text that keys were read from, for the lines in error messages.
struct CampaignFile<'a>(KeyText<'a>);

impl CampaignFile<'_> {
    fn one<T, U>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        read: impl Fn(&T) -> Result<U, String>,
    ) -> Result<Option<U>, String> {
        let read = |value: &Spanned<T>| read(value.get_ref()).map_err(|why| self.0.wrong(value, key, &why));
        value.map(read).transpose()
    }

    fn each<U>(
        &self,
        key: &str,
        values: &[Spanned<String>],
        read: impl Fn(&str) -> Result<U, String>,
    ) -> Result<Vec<U>, String> {
        if values.is_empty() {
            return Err(format!("`{key}` is empty: give at least one"));
        }
        let read = |value: &Spanned<String>| read(value.get_ref()).map_err(|why| self.0.wrong(value, key, &why));
        values.iter().map(read).collect()
    }

    fn faults(&self, key: &str, lists: &[Spanned<String>]) -> Result<Vec<String>, String> {
        let lists = self.each(key, lists, |list| names::faults(list).map(|kinds| kinds.join(",")))?;
        let named = |list: String| if list.is_empty() { "none".to_string() } else { list };
        Ok(unique(lists.into_iter().map(named)))
    }

    fn variants(&self, key: &str, patterns: &[Spanned<String>], folder: &Path) -> Result<Vec<String>, String> {
        let known = names::variants();
        let found = self.each(key, patterns, |pattern| {
            if let Some(path) = recipe_folder(pattern, folder) {
                return names::workload(&path).map(|_| vec![path]);
            }
            let present = names::built_in(pattern).map(|workload| workload.name());
            let found = matching(present.as_deref().unwrap_or(pattern), &known)?;
            match found.is_empty() {
                true => Err(names::unknown("variant", pattern, &known)),
                false => Ok(found.into_iter().cloned().collect::<Vec<String>>()),
            }
        })?;
        Ok(unique(found.into_iter().flatten()))
    }
}

#[cfg(test)]
mod tests;

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
    Ok(unique(seeds?))
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
