//! A recipe that is not built in: what runs its clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What runs the clients of a user's own recipe. The rest of its `zooquake.toml` is the [workload](super::Workload).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecipeSource {
    /// The folder with its `zooquake.toml`, as it was given.
    pub folder: String,
    /// The name of the image that its clients run in; `None` if it is built, or nothing but the base of clients is
    /// needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The folder of its Dockerfile, relative to its own; `None` if nothing is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Program and arguments that make the files on the host before they are carried; none if nothing has to be made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<String>,
    /// Program and arguments of a client, started in the folder that its files are carried into.
    pub command: Vec<String>,
    /// The files that are carried into the image, relative to its folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carried: Vec<String>,
    /// How often a client may end by itself in one window of faults.
    pub max_restarts: u32,
    /// SHA-256 of every file of the folder, in lower-case hex, by its path relative to the folder.
    pub files: BTreeMap<String, String>,
    /// The engine's id of the image that the clients ran in; `None` before it was prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl RecipeSource {
    /// How often a client may end by itself in one window, if the recipe does not define it.
    pub const MAX_RESTARTS: u32 = 3;
}
