//! Kits: a recipe that does itself what the kit does otherwise, and twins of it that each do one thing wrong, on real
//! ensembles. `tests/kits` has the recipe in each language.
//!
//! In Python the three runs and the trial take some 60 s. The other languages, whose compilers are downloaded first,
//! are worked only where `ZOOQUAKE_TRIALS` is `all`: all four took 561 s.

use crate::common::{EnsembleSlot, RunFiles, Runs, output_of, run, valid, zooquake};
use std::fs;
use std::path::{Path, PathBuf};

/// A language of recipes.
struct KitLanguage {
    name: &'static str,
    /// The file of the recipe, in `tests/kits` and in a new folder.
    recipe: [&'static str; 2],
    /// What a release that panics is convicted of: where a panic ends the process, that it ended.
    panics: &'static [&'static str],
}

const LOCKED: &[&str] = &["lost-wakeup", "orphan-node", "unowned-release"];

const LANGUAGES: [KitLanguage; 4] = [
    KitLanguage {
        name: "python",
        recipe: ["recipe.py", "recipe.py"],
        panics: LOCKED,
    },
    KitLanguage {
        name: "java",
        recipe: ["Recipe.java", "Recipe.java"],
        panics: LOCKED,
    },
    KitLanguage {
        name: "go",
        recipe: ["recipe.go", "recipe.go"],
        panics: &["client-crash", "unowned-release"],
    },
    KitLanguage {
        name: "rust",
        recipe: ["recipe.rs", "src/main.rs"],
        panics: LOCKED,
    },
];

fn all() -> bool {
    std::env::var("ZOOQUAKE_TRIALS").is_ok_and(|which| which == "all")
}

/// A new lock with the recipe that does all itself, as the twin of this name, fenced or not.
fn twin(home: &Path, language: &KitLanguage, twin: &str, fenced: bool) -> PathBuf {
    let folder = home.join(format!("{}-{twin}", language.name));
    output_of(zooquake(&format!("new lock --language {}", language.name)).arg(&folder)).ends(0);
    let [ours, its] = language.recipe;
    let kits = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kits");
    fs::copy(kits.join(ours), folder.join(its)).expect("copying the recipe");
    let manifest = folder.join("zooquake.toml");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    let text = text
        .replace("fenced = true", &format!("fenced = {fenced}"))
        .replace("command = [", &format!("command = [\"env\", \"TWIN={twin}\", "));
    fs::write(manifest, text).expect("writing the manifest");
    folder
}

fn work(folder: &Path, faults: &str, judge: impl FnOnce(&RunFiles)) {
    let runs = Runs::new("kits");
    let folder = folder.to_str().expect("UTF-8");
    let line = format!("{folder} --faults {faults} --time 9s --seed 1 --servers 1 --clients 3");
    judge(&run(&runs, &line));
}

fn first_screen(ran: &RunFiles) -> String {
    let page = fs::read_to_string(ran.folder.join("report.html")).expect("the report");
    let end = page.find("</header>").expect("the end of the first screen");
    page[..end].to_owned()
}

#[test]
fn a_recipe_that_does_all_itself_is_silent_and_each_of_its_twins_is_convicted() {
    let _slot = EnsembleSlot::shared();
    let home = tempfile::tempdir().expect("a folder");
    for language in LANGUAGES.iter().take(if all() { LANGUAGES.len() } else { 1 }) {
        work(&twin(home.path(), language, "correct", true), "pause", |ran| {
            valid(ran);
            assert!(!first_screen(ran).contains("by the kit"), "{}", ran.story());
        });
        // One client deletes the znode of the next one; the release of another panics after 5 s.
        work(&twin(home.path(), language, "thief", false), "none", |ran| {
            let damage = ran.damage();
            for kind in language.panics {
                assert!(
                    damage.iter().any(|found| found == kind),
                    "{kind}: {damage:?}: {}",
                    ran.story()
                );
            }
        });
        // It never takes a grant for lost, and its tokens are promised to nobody.
        work(&twin(home.path(), language, "deaf", false), "pause", |ran| {
            assert_eq!(ran.damage(), ["stale-write"], "{}", ran.story());
        });
    }
}

#[test]
fn a_token_that_nobody_promised_is_named_and_what_the_kit_does_is_listed() {
    let _slot = EnsembleSlot::shared();
    let home = tempfile::tempdir().expect("a folder");
    for language in LANGUAGES.iter().take(if all() { LANGUAGES.len() } else { 1 }) {
        let folder = home.path().join(language.name);
        output_of(zooquake(&format!("new lock --language {}", language.name)).arg(&folder)).ends(0);
        let manifest = folder.join("zooquake.toml");
        let text = fs::read_to_string(&manifest).expect("the manifest");
        fs::write(manifest, text.replace("fenced = true", "fenced = false")).expect("writing the manifest");
        let parts = ["connect", "release", "lost", "znodes", "created"].map(|part| format!("{part}: by the kit"));
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        output_of(zooquake("try").arg(&folder)).ends(1).with(&parts).with(&[
            "BROKEN    token",
            "though the manifest does not promise one",
            "1 are broken",
        ]);
    }
}
