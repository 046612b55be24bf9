//! The languages.

use super::{Language, RecipeTemplate, TemplateFile};

/// The text of a file below `workloads/clients/`.
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!("../../workloads/clients/", $path))
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
