//! The languages.

use super::{File, Language, Recipe};

/// The text of a file below `workloads/clients/`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("../../workloads/clients/", $path))
    };
}

/// All of them. A new one is a folder in `workloads/clients/` and an entry here.
pub const LANGUAGES: &[Language] = &[Language {
    name: "python",
    run: "command = [\"python3\", \"recipe.py\"]\nfiles = [\"recipe.py\", \"zooquake.py\"]\n",
    files: &[File {
        name: "zooquake.py",
        text: text!("python/zooquake.py"),
    }],
    recipe: "recipe.py",
    recipes: &[
        Recipe {
            families: &["lock", "election"],
            text: text!("python/template/grant.py"),
        },
        Recipe {
            families: &["queue"],
            text: text!("python/template/queue.py"),
        },
        Recipe {
            families: &["barrier"],
            text: text!("python/template/barrier.py"),
        },
    ],
}];
