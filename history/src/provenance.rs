//! What recorded a run: which zooquake, on what, which ZooKeeper. No verdict rests on it.

use crate::schema::schema_like;
use crate::value::{Fields, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The content of `provenance.json`: an object of JSON, kept as it was recorded.
///
/// Entries of other versions stay, and all are written in the order of their names, so that each version copies it to
/// the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Provenance(Fields);

schema_like!(Provenance, BTreeMap<String, serde_json::Value>);

impl TryFrom<Value> for Provenance {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Object(entries) => Ok(Self(entries)),
            _ => Err("it is no object"),
        }
    }
}

impl Provenance {
    /// The most bytes of a file that is taken for one: results contain a copy of it.
    pub const MOST_BYTES: usize = 64 << 10;

    /// The version of zooquake that recorded, such as `0.1.0`.
    pub const ZOOQUAKE: &'static str = "zooquake";
    /// The commit that this zooquake was built from; absent where its build had none.
    pub const COMMIT: &'static str = "commit";
    /// The name of the backend: `docker` or `sim`.
    pub const ON: &'static str = "on";
    /// The engine of the run's containers, with its version; absent where there are no containers.
    pub const ENGINE: &'static str = "engine";
    /// The versions of ZooKeeper that the servers reported, a list; absent where none did, and of simulated ones.
    pub const ZOOKEEPER: &'static str = "zookeeper";
    /// The engine's id of the image that the clients of a recipe of one's own ran in, as the plan pins it.
    pub const RECIPE: &'static str = "recipe";

    /// Sets an entry.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name, value);
    }

    /// The text of an entry; `None` if it is absent or no text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The versions of ZooKeeper; none if the entry is absent or no list.
    pub fn zookeeper(&self) -> Vec<&str> {
        let list = self.0.get(Self::ZOOKEEPER).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The zooquake that recorded, as `0.1.0` or `0.1.0 (3f2a91c)`; `None` if its version is absent.
    pub fn recorder(&self) -> Option<String> {
        let version = self.text(Self::ZOOQUAKE)?;
        Some(match self.text(Self::COMMIT) {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        })
    }

    /// Whether it was certainly another zooquake that recorded: its version differs, or both commits are given and
    /// differ.
    pub fn differs_from(&self, version: &str, commit: Option<&str>) -> bool {
        let other_version = self.text(Self::ZOOQUAKE).is_some_and(|recorded| recorded != version);
        let recorded = self.text(Self::COMMIT);
        other_version || matches!((recorded, commit), (Some(recorded), Some(commit)) if recorded != commit)
    }
}
