//! `zooquake new`: folders with a recipe to begin with.

use crate::common::{refused, text, zooquake};
use serde_json::Value;
use std::fs;

#[test]
fn every_language_has_a_lock() {
    let home = tempfile::tempdir().expect("a folder");
    for language in ["python", "java", "go", "rust"] {
        let new = ["new", "lock", language, "--language", language, "--json"];
        let output = zooquake()
            .args(new)
            .current_dir(home.path())
            .output()
            .expect("starting zooquake");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&told["name"], &told["family"]), (&language.into(), &"lock".into()));
        let files = told["files"].as_array().expect("files");
        for file in files {
            let path = home.path().join(language).join(file.as_str().expect("a name"));
            assert!(path.is_file(), "{path:?}");
        }
        assert!(files.contains(&"zooquake.toml".into()), "{told}");
    }
}

#[test]
fn what_there_is_no_template_for_is_refused_with_what_there_is() {
    refused(
        &["new", "commit", "/tmp/none", "--language", "go"],
        &["no template of `commit` in `go`", "python: lock"],
    );
    refused(
        &["new", "lock", "/tmp/none", "--language", "cobol"],
        &["no template of `lock` in `cobol`", "rust: lock"],
    );
    refused(&["new", "lock", "/tmp/no name", "--language", "go"], &["gives no name"]);
    refused(&["new", "lock", "/", "--language", "go"], &["gives no name"]);
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let home = tempfile::tempdir().expect("a folder");
    let mine = home.path().join("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("recipe.py"), "mine").expect("a file");
    refused(
        &["new", "lock", mine.to_str().expect("UTF-8"), "--language", "python"],
        &["there is something in it already"],
    );
    assert_eq!(fs::read_to_string(mine.join("recipe.py")).expect("the file"), "mine");
    assert_eq!(fs::read_dir(&mine).expect("the folder").count(), 1);
}

#[test]
fn what_has_no_clients_cannot_be_tried() {
    refused(&["try", "ensemble/textbook"], &["has no clients"]);
    refused(&["try", "lock/predecesor"], &["did you mean `lock/predecessor`"]);
}
