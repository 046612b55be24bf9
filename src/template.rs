//! Folders with a recipe that runs at once, for a user to begin with: a kit, which does the protocol, and a recipe on
//! top of it. They are compiled in, from `workloads/clients/`.

use anyhow::{Context, Result};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use zooquake_history::operation::{
    Family, RECIPE_FAMILIES, barrier, commit, counter, election, lock, membership, queue, register, rwlock, semaphore,
};

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
        let template = FAMILIES.iter().find(|template| template.spec.name == family);
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

const README: &str = include_str!("clients/README.template.md");

/// A family and the manifest of a recipe of it.
#[derive(Debug)]
pub struct FamilyTemplate {
    /// Its name and operations.
    pub spec: &'static Family,
    /// The text of `zooquake.toml`, with `@NAME@` for the recipe's name and a line `@RUN@` for those that run a client.
    pub manifest: &'static str,
    /// The parent of the recipe's znodes, or its only znode.
    pub parent: &'static str,
}

macro_rules! manifest {
    ($family:literal) => {
        include_str!(concat!("clients/manifests/", $family, ".toml"))
    };
}

/// The families with recipes, in the order of [`zooquake_history::operation::FAMILIES`].
pub const FAMILIES: &[FamilyTemplate; RECIPE_FAMILIES] = &[
    FamilyTemplate {
        spec: &lock::FAMILY,
        manifest: manifest!("lock"),
        parent: "/lock",
    },
    FamilyTemplate {
        spec: &rwlock::FAMILY,
        manifest: manifest!("rwlock"),
        parent: "/rwlock",
    },
    FamilyTemplate {
        spec: &election::FAMILY,
        manifest: manifest!("election"),
        parent: "/election",
    },
    FamilyTemplate {
        spec: &semaphore::FAMILY,
        manifest: manifest!("semaphore"),
        parent: "/semaphore",
    },
    FamilyTemplate {
        spec: &commit::FAMILY,
        manifest: manifest!("commit"),
        parent: "/app",
    },
    FamilyTemplate {
        spec: &barrier::FAMILY,
        manifest: manifest!("barrier"),
        parent: "/barrier",
    },
    FamilyTemplate {
        spec: &queue::FAMILY,
        manifest: manifest!("queue"),
        parent: "/queue",
    },
    FamilyTemplate {
        spec: &register::FAMILY,
        manifest: manifest!("register"),
        parent: "/register",
    },
    FamilyTemplate {
        spec: &counter::FAMILY,
        manifest: manifest!("counter"),
        parent: "/counter",
    },
    FamilyTemplate {
        spec: &membership::FAMILY,
        manifest: manifest!("membership"),
        parent: "/members",
    },
];

/// The text of a file below `workloads/clients/`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("clients/", $path))
    };
}

/// All of them. A new one is a folder in `workloads/clients/` and an entry here.
pub const LANGUAGES: &[Language] = &[PYTHON, JAVA, GO, RUST];

const JAVA: Language = Language {
    name: "java",
    run: text!("java/template/run.toml"),
    files: &[
        TemplateFile {
            name: "Zooquake.java",
            text: text!("java/Zooquake.java"),
        },
        TemplateFile {
            name: "Dockerfile",
            text: text!("java/template/Dockerfile"),
        },
    ],
    recipe: "Recipe.java",
    recipes: &[
        RecipeTemplate {
            families: &["lock", "election"],
            text: text!("java/template/Grant.java"),
        },
        RecipeTemplate {
            families: &["queue"],
            text: text!("java/template/Queue.java"),
        },
        RecipeTemplate {
            families: &["barrier"],
            text: text!("java/template/Barrier.java"),
        },
        RecipeTemplate {
            families: &["membership"],
            text: text!("java/template/Membership.java"),
        },
    ],
};

const GO: Language = Language {
    name: "go",
    run: text!("go/template/run.toml"),
    files: &[
        TemplateFile {
            name: "zooquake.go",
            text: text!("go/zooquake.go"),
        },
        TemplateFile {
            name: "Dockerfile",
            text: text!("go/template/Dockerfile"),
        },
    ],
    recipe: "recipe.go",
    recipes: &[
        RecipeTemplate {
            families: &["lock", "election"],
            text: text!("go/template/grant.go"),
        },
        RecipeTemplate {
            families: &["queue"],
            text: text!("go/template/queue.go"),
        },
        RecipeTemplate {
            families: &["barrier"],
            text: text!("go/template/barrier.go"),
        },
    ],
};

const RUST: Language = Language {
    name: "rust",
    run: text!("rust/template/run.toml"),
    files: &[
        TemplateFile {
            name: "src/zooquake.rs",
            text: text!("rust/zooquake.rs"),
        },
        TemplateFile {
            name: "Cargo.toml",
            text: text!("rust/template/Cargo.template.toml"),
        },
    ],
    recipe: "src/main.rs",
    recipes: &[
        RecipeTemplate {
            families: &["lock", "election"],
            text: text!("rust/template/grant.rs"),
        },
        RecipeTemplate {
            families: &["queue"],
            text: text!("rust/template/queue.rs"),
        },
    ],
};

const PYTHON: Language = Language {
    name: "python",
    run: text!("python/template/run.toml"),
    files: &[TemplateFile {
        name: "zooquake.py",
        text: text!("python/zooquake.py"),
    }],
    recipe: "recipe.py",
    recipes: &[
        RecipeTemplate {
            families: &["lock", "election"],
            text: text!("python/template/grant.py"),
        },
        RecipeTemplate {
            families: &["rwlock"],
            text: text!("python/template/rwlock.py"),
        },
        RecipeTemplate {
            families: &["semaphore"],
            text: text!("python/template/semaphore.py"),
        },
        RecipeTemplate {
            families: &["queue"],
            text: text!("python/template/queue.py"),
        },
        RecipeTemplate {
            families: &["barrier"],
            text: text!("python/template/barrier.py"),
        },
        RecipeTemplate {
            families: &["commit"],
            text: text!("python/template/commit.py"),
        },
        RecipeTemplate {
            families: &["register"],
            text: text!("python/template/register.py"),
        },
        RecipeTemplate {
            families: &["counter"],
            text: text!("python/template/counter.py"),
        },
        RecipeTemplate {
            families: &["membership"],
            text: text!("python/template/membership.py"),
        },
    ],
};

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

    #[test]
    fn each_family_of_histories_with_clients_has_a_manifest() {
        let all = zooquake_history::operation::FAMILIES.iter();
        let with_clients = all.filter(|family| family.recipes).map(|family| family.name);
        assert!(with_clients.eq(FAMILIES.iter().map(|template| template.spec.name)));
        for template in FAMILIES {
            let family = format!("family = \"{}\"\n", template.spec.name);
            assert!(template.manifest.contains(&family), "{}", template.manifest);
        }
    }
}
