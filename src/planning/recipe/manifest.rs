//! `zooquake.toml`: what a recipe promises, and what runs it.

use super::is_name;
use crate::planning::names;
use crate::planning::values::KeyText;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;
use zooquake_backend::images;
use zooquake_checkers::families::FAMILIES;
use zooquake_history::plan::{AcceptedAnomaly, Capabilities, ConsensusGoal, RecipeSource, Resource, Workload};
use zooquake_workloads::recipes::{Variant, registry};

/// The keys of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: Option<Spanned<String>>,
    family: Spanned<String>,
    promise: Option<String>,
    resource: Option<Resource>,
    #[serde(default)]
    fenced: bool,
    contenders: Option<Vec<Spanned<String>>>,
    znodes: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    capabilities: Capabilities,
    #[serde(default)]
    known: Vec<ManifestAnomaly>,
    image: Option<Spanned<String>>,
    build: Option<Spanned<String>>,
    #[serde(default)]
    prepare: Vec<String>,
    command: Spanned<Vec<String>>,
    #[serde(default)]
    files: Vec<String>,
    max_restarts: Option<u32>,
}

/// An anomaly that the recipe is known for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestAnomaly {
    anomaly: Spanned<String>,
    faults: Spanned<Vec<String>>,
    reason: String,
    source: String,
}

/// The command that makes the files of a recipe: the program and its arguments; `None` if there is none, or the text is
/// wrong.
pub fn prepare(text: &str) -> Option<(String, Vec<String>)> {
    let keys: Keys = toml::from_str(text).ok()?;
    let (program, arguments) = keys.prepare.split_first()?;
    Some((program.clone(), arguments.to_vec()))
}

/// Reads the text of a folder's file. The recipe's folder and the hashes of its files are left empty.
///
/// # Errors
/// What is wrong with it, with the line.
pub fn read(text: &str, folder: &Path) -> Result<Workload, String> {
    let keys: Keys = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
    let text = KeyText(text);
    let model = model(&text, &keys)?;
    let recipe = recipe(&text, &keys)?;
    let parents = |given: &Option<Vec<Spanned<String>>>, key: &str, usual: &[&str]| match given {
        Some(paths) => paths.iter().map(|path| znode(&text, path, key)).collect(),
        None => Ok(usual.iter().map(ToString::to_string).collect()),
    };
    // In this order: the first mistake is the one that is named.
    Ok(Workload {
        goal: ConsensusGoal::Nothing,
        family: model.family.to_string(),
        contenders: parents(&keys.contenders, "contenders", model.contenders)?,
        znodes: parents(&keys.znodes, "znodes", model.znodes)?,
        variant: name(&text, &keys, folder)?,
        promise: keys.promise.unwrap_or_else(|| "a recipe that states no promise".into()),
        resource: keys.resource.unwrap_or(model.resource),
        fenced: keys.fenced,
        pinned: model.pinned,
        capabilities: Some(keys.capabilities),
        accepted: keys
            .known
            .into_iter()
            .map(|known| accepted(&text, known))
            .collect::<Result<_, _>>()?,
        recipe: Some(recipe),
    })
}

/// The built-in variant whose settings hold where the file gives none: the first of the family with the same
/// capabilities, or else the first of the family.
fn model(text: &KeyText<'_>, keys: &Keys) -> Result<&'static Variant, String> {
    let family = keys.family.get_ref().as_str();
    let of_family = || registry().iter().filter(|variant| variant.family == family);
    let alike = of_family().find(|variant| variant.capabilities == keys.capabilities);
    alike.or_else(|| of_family().next()).ok_or_else(|| {
        let mut families: Vec<String> = registry().iter().map(|variant| variant.family.to_string()).collect();
        families.dedup();
        text.wrong(&keys.family, "family", &names::unknown("family", family, &families))
    })
}

/// The recipe's name: that of its folder, if the file gives none.
fn name(text: &KeyText<'_>, keys: &Keys, folder: &Path) -> Result<String, String> {
    let family = keys.family.get_ref();
    let built_in = |name: &str| {
        registry()
            .iter()
            .any(|variant| variant.family == family && variant.name == name)
    };
    let rule = "a name has letters, digits, `-`, `_` and `.`, 64 at most, and begins with a letter or digit";
    let taken = |name: &str| format!("{family}/{name} is built in: give another `name`");
    match &keys.name {
        Some(name) if !is_name(name.get_ref()) => Err(text.wrong(name, "name", rule)),
        Some(name) if built_in(name.get_ref()) => Err(text.wrong(name, "name", &taken(name.get_ref()))),
        Some(name) => Ok(name.get_ref().clone()),
        None => {
            let whole = folder.canonicalize().map_err(|error| error.to_string())?;
            let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
            match name.filter(|name| is_name(name)) {
                Some(name) if built_in(&name) => Err(taken(&name)),
                Some(name) => Ok(name),
                None => Err(format!(
                    "the folder's name cannot be the recipe's, so give `name`: {rule}"
                )),
            }
        }
    }
}

fn znode(text: &KeyText<'_>, path: &Spanned<String>, key: &str) -> Result<String, String> {
    let good = |part: &str| !part.is_empty() && !part.contains(char::is_control) && part != "." && part != "..";
    match path.get_ref().strip_prefix('/') {
        Some(rest) if rest.split('/').all(good) => Ok(path.get_ref().clone()),
        _ => Err(text.wrong(path, key, "a znode's path is like /lock or /a/b")),
    }
}

fn recipe(text: &KeyText<'_>, keys: &Keys) -> Result<RecipeSource, String> {
    if let (Some(_), Some(build)) = (&keys.image, &keys.build) {
        return Err(text.wrong(build, "build", "give `image` or `build`, not both"));
    }
    if let Some(image) = keys.image.as_ref().filter(|image| !images::is_name(image.get_ref())) {
        return Err(text.wrong(image, "image", "this is not the name of an image"));
    }
    if keys.command.get_ref().first().is_none_or(String::is_empty) {
        let way_out = "give the program and its arguments, such as [\"python3\", \"lock.py\"]";
        return Err(text.wrong(&keys.command, "command", way_out));
    }
    let plain = |text: &Spanned<String>| text.get_ref().clone();
    Ok(RecipeSource {
        image: keys.image.as_ref().map(plain),
        build: keys.build.as_ref().map(plain),
        prepare: keys.prepare.clone(),
        command: keys.command.get_ref().clone(),
        carried: keys.files.clone(),
        max_restarts: keys.max_restarts.unwrap_or(RecipeSource::MAX_RESTARTS),
        ..RecipeSource::default()
    })
}

fn accepted(text: &KeyText<'_>, known: ManifestAnomaly) -> Result<AcceptedAnomaly, String> {
    let ManifestAnomaly {
        anomaly,
        faults,
        reason,
        source,
    } = known;
    let mut names: Vec<String> = FAMILIES
        .iter()
        .flat_map(|family| family.checkers)
        .map(ToString::to_string)
        .collect();
    names.sort();
    names.dedup();
    if !names.contains(anomaly.get_ref()) {
        return Err(text.wrong(
            &anomaly,
            "anomaly",
            &names::unknown("anomaly", anomaly.get_ref(), &names),
        ));
    }
    let kinds = match faults.get_ref().as_slice() {
        [none] if none == "none" => vec!["none".to_string()],
        list => {
            let kinds: Result<Vec<_>, _> = list.iter().map(|name| names::fault(name)).collect();
            kinds.map_err(|why| text.wrong(&faults, "faults", &why))?
        }
    };
    if kinds.is_empty() {
        return Err(text.wrong(&faults, "faults", "name at least one kind of fault, or [\"none\"]"));
    }
    Ok(AcceptedAnomaly {
        anomaly: anomaly.into_inner(),
        faults: kinds,
        reason,
        source,
    })
}
