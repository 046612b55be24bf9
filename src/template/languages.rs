//! The languages.

use super::{File, Language, Recipe};

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
    run: "build = \".\"\n\
          command = [\"java\", \"-cp\", \"/classes:/usr/share/java/zookeeper.jar:/usr/share/java/jackson-databind.jar:/usr/share/java/jackson-core.jar:/usr/share/java/jackson-annotations.jar:/usr/share/java/slf4j-nop.jar\", \"Recipe\"]\n",
    files: &[
        File {
            name: "Zooquake.java",
            text: text!("java/Zooquake.java"),
        },
        File {
            name: "Dockerfile",
            text: text!("java/template/Dockerfile"),
        },
    ],
    recipe: "Recipe.java",
    recipes: &[
        Recipe {
            families: &["lock", "election"],
            text: text!("java/template/Grant.java"),
        },
        Recipe {
            families: &["queue"],
            text: text!("java/template/Queue.java"),
        },
        Recipe {
            families: &["barrier"],
            text: text!("java/template/Barrier.java"),
        },
    ],
};

const GO: Language = Language {
    name: "go",
    run: "build = \".\"\ncommand = [\"recipe\"]\n",
    files: &[
        File {
            name: "zooquake.go",
            text: text!("go/zooquake.go"),
        },
        File {
            name: "Dockerfile",
            text: text!("go/template/Dockerfile"),
        },
    ],
    recipe: "recipe.go",
    recipes: &[
        Recipe {
            families: &["lock", "election"],
            text: text!("go/template/grant.go"),
        },
        Recipe {
            families: &["queue"],
            text: text!("go/template/queue.go"),
        },
        Recipe {
            families: &["barrier"],
            text: text!("go/template/barrier.go"),
        },
    ],
};

const RUST: Language = Language {
    name: "rust",
    run: "prepare = [\"cargo\", \"build\", \"--release\"]\n\
          command = [\"target/release/recipe\"]\nfiles = [\"target/release/recipe\"]\n",
    files: &[
        File {
            name: "src/zooquake.rs",
            text: text!("rust/zooquake.rs"),
        },
        File {
            name: "Cargo.toml",
            text: text!("rust/template/Cargo.template.toml"),
        },
    ],
    recipe: "src/main.rs",
    recipes: &[
        Recipe {
            families: &["lock", "election"],
            text: text!("rust/template/grant.rs"),
        },
        Recipe {
            families: &["queue"],
            text: text!("rust/template/queue.rs"),
        },
    ],
};

const PYTHON: Language = Language {
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
            families: &["rwlock"],
            text: text!("python/template/rwlock.py"),
        },
        Recipe {
            families: &["semaphore"],
            text: text!("python/template/semaphore.py"),
        },
        Recipe {
            families: &["queue"],
            text: text!("python/template/queue.py"),
        },
        Recipe {
            families: &["barrier"],
            text: text!("python/template/barrier.py"),
        },
        Recipe {
            families: &["commit"],
            text: text!("python/template/commit.py"),
        },
        Recipe {
            families: &["register"],
            text: text!("python/template/register.py"),
        },
        Recipe {
            families: &["counter"],
            text: text!("python/template/counter.py"),
        },
    ],
};
