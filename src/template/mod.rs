//! Folders with a recipe that runs at once, for a user to begin with: a kit, which does the protocol, and a recipe on
//! top of it. They are compiled in, from `workloads/clients/`.

mod families;
mod languages;

use anyhow::{Context, Result};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

pub use languages::LANGUAGES;

/// A language that there are templates for.
#[derive(Debug)]
pub struct Language {
    /// Its name on the command line.
    pub name: &'static str,
    /// What runs a client, as lines of `zooquake.toml`.
    run: &'static str,
    /// The files that do not depend on the family.
    files: &'static [TemplateFile],
    /// Name of the file with the recipe.
    recipe: &'static str,
    recipes: &'static [RecipeTemplate],
}

/// A file of a folder.
#[derive(Debug)]
struct TemplateFile {
    name: &'static str,
    text: &'static str,
}

/// A recipe in a language.
#[derive(Debug)]
struct RecipeTemplate {
    /// The families that it can be one of.
    families: &'static [&'static str],
    text: &'static str,
}

/// The language of this name.
pub fn language(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

impl Language {
    /// The families that there is a recipe for.
    pub fn families(&self) -> impl Iterator<Item = &'static str> {
        self.recipes.iter().flat_map(|recipe| recipe.families.iter().copied())
    }

    /// Writes the folder of a recipe that goes by this name; the names of its files, in order. `None` if there is none
    /// of this family.
    ///
    /// # Errors
    /// If a file cannot be written, or is there already.
    pub fn write(&self, family: &str, name: &str, folder: &Path) -> Result<Option<Vec<&'static str>>> {
        let recipe = self.recipes.iter().find(|recipe| recipe.families.contains(&family));
        let template = families::FAMILIES.iter().find(|template| template.spec.name == family);
        let (Some(recipe), Some(template)) = (recipe, template) else {
            return Ok(None);
        };
        let toml = template.manifest.replace("@NAME@", name).replace("@RUN@\n", self.run);
        let readme = README
            .replace("@NAME@", name)
            .replace("@FAMILY@", family)
            .replace("@RECIPE@", self.recipe);
        let text = recipe.text.replace("@PARENT@", template.parent);
        let own = [("zooquake.toml", toml), (self.recipe, text), ("README.md", readme)];
        let common = self
            .files
            .iter()
            .map(|file| (file.name, file.text.replace("@NAME@", name)));
        let mut written = Vec::new();
        for (name, text) in own.into_iter().chain(common) {
            create(&folder.join(name), &text)?;
            written.push(name);
        }
        Ok(Some(written))
    }
}

/// Writes a file that is not there yet, and the folders that it stands in.
fn create(path: &Path, text: &str) -> Result<()> {
    let writing = || format!("writing {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(writing)?;
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(writing)
}

const README: &str = include_str!("../../workloads/clients/README.template.md");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_whole_and_has_no_placeholder_left() {
        for language in LANGUAGES {
            for family in language.families() {
                let folder = tempfile::tempdir().unwrap();
                let written = language.write(family, "mine", folder.path()).unwrap().unwrap();
                let toml: toml::Table = fs::read_to_string(folder.path().join("zooquake.toml"))
                    .unwrap()
                    .parse()
                    .unwrap();
                assert_eq!(
                    (toml["name"].as_str(), toml["family"].as_str()),
                    (Some("mine"), Some(family))
                );
                assert!(toml.contains_key("command") && toml.contains_key("promise"), "{toml:?}");
                for name in &written {
                    let text = fs::read_to_string(folder.path().join(name)).unwrap();
                    let left = text
                        .split_whitespace()
                        .find(|word| word.contains("@NAME@") || word.contains("@PARENT@"));
                    assert_eq!(left, None, "{}/{family}/{name}", language.name);
                }
            }
        }
    }

    #[test]
    fn what_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = folder.path().join("recipe.py");
        fs::write(&recipe, "mine").unwrap();
        let error = LANGUAGES[0].write("lock", "mine", folder.path()).unwrap_err();
        assert!(format!("{error:#}").contains("recipe.py"), "{error:#}");
        assert_eq!(fs::read_to_string(recipe).unwrap(), "mine");
    }
}
