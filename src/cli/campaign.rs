//! Campaign files: TOML, read so that every mistake is named with its line.

use crate::nightly::campaign::{Campaign, EnsembleSettings, matching};
use crate::planning::names;
use crate::planning::recipe;
use crate::planning::spec;
use crate::planning::values;
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};
use toml::Spanned;

/// The campaign of a night that is given none; it is the example that the documents show.
pub const EXAMPLE: &str = include_str!("../../docs/ci/nightly.toml");

/// The keys of a campaign file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Option<String>,
    variants: Vec<Spanned<String>>,
    faults: Vec<Spanned<String>>,
    seeds: Option<Spanned<Vec<u64>>>,
    time: Option<Spanned<String>>,
    servers: Option<Spanned<u64>>,
    observers: Option<Spanned<u64>>,
    clients: Option<Spanned<u64>>,
    timing: Option<Spanned<String>>,
    zookeeper: Option<Spanned<String>>,
    on: Option<Spanned<String>>,
}

/// Reads a campaign from the text of its file; `called` is its name if it gives itself none, and folders of recipes lie
/// relative to `folder`.
///
/// # Errors
/// What is wrong with it, with the line.
pub fn read(text: &str, called: &str, folder: &Path) -> Result<Campaign, String> {
    let keys: Keys = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
    let file = CampaignFile { text };
    let variants = file.variants(&keys.variants, folder)?;
    let faults = file.each("faults", &keys.faults, |list| {
        names::faults(list).map(|kinds| kinds.join(","))
    })?;
    let faults = faults
        .into_iter()
        .map(|list| if list.is_empty() { "none".to_string() } else { list });
    let seeds = match &keys.seeds {
        None => vec![1],
        Some(seeds) if seeds.get_ref().is_empty() => return Err(file.wrong(seeds, "seeds", "give at least one")),
        Some(seeds) => unique(seeds.get_ref().iter().copied()),
    };
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
        faults: unique(faults),
        seeds,
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
    let variants = keys.into_iter().flat_map(|keys| keys.variants);
    variants
        .filter_map(|pattern| recipe_folder(pattern.get_ref(), folder))
        .collect()
}

/// The folder of the recipe that a pattern in a file in this folder stands for; `None` if it stands for built-in
/// variants.
fn recipe_folder(pattern: &str, folder: &Path) -> Option<String> {
    let is = names::built_in(pattern).is_none() && recipe::is_path_in(pattern, folder);
    is.then(|| below(folder, pattern))
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
struct CampaignFile<'a> {
    text: &'a str,
}

impl CampaignFile<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, key: &str, why: &str) -> String {
        let before = self.text.get(..at.span().start).unwrap_or(self.text);
        format!("line {}, `{key}`: {why}", before.matches('\n').count() + 1)
    }

    fn one<T, U>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        read: impl Fn(&T) -> Result<U, String>,
    ) -> Result<Option<U>, String> {
        let read = |value: &Spanned<T>| read(value.get_ref()).map_err(|why| self.wrong(value, key, &why));
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
        let read = |value: &Spanned<String>| read(value.get_ref()).map_err(|why| self.wrong(value, key, &why));
        values.iter().map(read).collect()
    }

    fn variants(&self, patterns: &[Spanned<String>], folder: &Path) -> Result<Vec<String>, String> {
        let known = names::variants();
        let found = self.each("variants", patterns, |pattern| {
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
mod tests {
    use super::*;
    use crate::planning::feasibility;

    const SMALL: &str = "variants = [\"lock/fenced\"]\nfaults = [\"pause\", \"kill, partition\"]\n";

    #[test]
    fn the_example_is_a_campaign() {
        let campaign = read(EXAMPLE, "built-in", Path::new("")).unwrap();
        assert!(campaign.cells().len() >= 20, "{campaign:?}");
        for cell in campaign.cells() {
            let plan = campaign.spec(&cell, cell.seed).plan().unwrap();
            assert_eq!(feasibility::shortfalls(&plan), [""; 0], "{cell}");
        }
    }

    #[test]
    fn what_is_not_given_is_as_on_the_command_line() {
        let campaign = read(SMALL, "small", Path::new("")).unwrap();
        assert_eq!((campaign.name.as_str(), campaign.time_ms), ("small", 60_000));
        assert_eq!(campaign.seeds, [1]);
        assert_eq!(campaign.faults, ["pause", "kill,partition"]);
        assert_eq!((campaign.cluster.servers, campaign.cluster.clients), (3, 5));
        let more = format!(
            "{SMALL}name = \"n\"\nseeds = [3, 3, 4]\ntime = \"2m\"\nservers = 5\nclients = 7\ntiming = \"500/4/1000\"\n\
             zookeeper = \"zookeeper:3.9\"\n"
        );
        let campaign = read(&more, "small", Path::new("")).unwrap();
        assert_eq!(
            (campaign.seeds.as_slice(), campaign.time_ms),
            ([3, 4].as_slice(), 120_000)
        );
        assert_eq!((campaign.cluster.servers, campaign.cluster.clients), (5, 7));
        assert!(campaign.cluster.timing.unwrap().hazardous());
        assert_eq!(campaign.cluster.image.as_deref(), Some("zookeeper:3.9"));
    }

    #[test]
    fn stars_expand_and_nothing_comes_twice() {
        let campaign = read(
            "variants = [\"lock/fenced\", \"lock/*\"]\nfaults = [\"none\", \"none\"]",
            "x",
            Path::new(""),
        )
        .unwrap();
        assert_eq!(campaign.variants[0], "lock/fenced");
        assert_eq!(campaign.variants.iter().filter(|v| *v == "lock/fenced").count(), 1);
        assert!(campaign.variants.len() >= 5 && campaign.faults == ["none"]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let wrong = |text: &str, parts: &[&str]| {
            let said = read(text, "x", Path::new("")).unwrap_err();
            for part in parts {
                assert!(said.contains(part), "{said:?} should say {part:?}");
            }
        };
        wrong(&format!("{SMALL}colour = 3\n"), &["line 3", "colour", "variants"]);
        wrong(
            "faults = [\"pause\"]\nvariants = [\n  \"lock/fenced\",\n  \"lock/fencd\",\n]",
            &["line 4", "`variants`", "did you mean `lock/fenced`?"],
        );
        wrong(
            "variants = [\"lock/*\"]\nfaults = [\"pauze\"]",
            &["line 2", "did you mean `pause`?"],
        );
        wrong(&format!("{SMALL}time = \"soon\""), &["line 3", "`time`", "60s"]);
        wrong(&format!("{SMALL}servers = 2"), &["line 3", "1, 3 or 5"]);
        wrong(&format!("{SMALL}clients = 0"), &["line 3", "1 to 50"]);
        wrong(&format!("{SMALL}zookeeper = \"3.9.3\""), &["line 3", "zookeeper:3.9.3"]);
        wrong(&format!("{SMALL}seeds = []"), &["line 3", "at least one"]);
        wrong(&format!("{SMALL}seeds = [-1]"), &["line 3"]);
        wrong("variants = []\nfaults = [\"pause\"]", &["`variants` is empty"]);
        wrong("variants = [\"lock/*\"]", &["faults"]);
    }

    #[test]
    fn a_recipe_of_another_folder_is_named_normalized() {
        for (path, short) in [
            ("a/../b", "b"),
            ("a/..", "."),
            ("../../b", "../../b"),
            ("/a/b/../c", "/a/c"),
        ] {
            assert_eq!(normalized(Path::new(path)), Path::new(short));
        }
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for folder in ["nights", "mine", "far/nights", "far/mine"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::os::unix::fs::symlink(at("far/nights"), at("link")).unwrap();
        let named = |folder: &str, path: &str| PathBuf::from(below(&at(folder), path));
        assert_eq!(named("nights", "../mine"), at("mine"));
        assert_eq!(named("nights", "./x"), at("nights/x"));
        assert_eq!(named("link", "../mine"), at("link/../mine"), "that is far/mine");
        assert_eq!(
            named("nights", "../gone"),
            at("nights/../gone"),
            "it will be refused by the name that was given"
        );
    }
}
