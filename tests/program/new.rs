//! `zooquake new`: folders with a recipe to begin with.

use crate::common::{output_of, refused, zooquake};
use std::fs;

#[test]
fn every_language_has_a_lock() {
    let home = tempfile::tempdir().expect("a folder");
    for language in ["python", "java", "go", "rust"] {
        let line = format!("new lock {language} --language {language} --json");
        let output = output_of(zooquake(&line).current_dir(home.path())).ends(0).json();
        assert_eq!((&output["name"], &output["family"]), (&language.into(), &"lock".into()));
        let files = output["files"].as_array().expect("files");
        for file in files {
            let path = home.path().join(language).join(file.as_str().expect("a name"));
            assert!(path.is_file(), "{path:?}");
        }
        assert!(files.contains(&"zooquake.toml".into()), "{output}");
    }
}

#[test]
fn what_there_is_no_template_for_is_refused_with_what_there_is() {
    for (line, parts) in [
        (
            "new commit /tmp/none --language go",
            &["no template of `commit` in `go`", "python: lock"][..],
        ),
        (
            "new lock /tmp/none --language cobol",
            &["no template of `lock` in `cobol`", "rust: lock"],
        ),
        ("new lock / --language go", &["gives no name"]),
    ] {
        refused(line, parts);
    }
    let spaced = output_of(zooquake("new lock --language go").arg("/tmp/no name")).ends(254);
    spaced.with(&["gives no name"]);
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let home = tempfile::tempdir().expect("a folder");
    let mine = home.path().join("mine");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("recipe.py"), "mine").expect("a file");
    let refused = output_of(zooquake("new lock --language python").arg(&mine)).ends(254);
    refused.with(&["there is something in it already"]);
    assert_eq!(fs::read_to_string(mine.join("recipe.py")).expect("the file"), "mine");
    assert_eq!(fs::read_dir(&mine).expect("the folder").count(), 1);
}

#[test]
fn what_has_no_clients_cannot_be_tried() {
    refused("try ensemble/textbook", &["has no clients"]);
    refused("try lock/predecesor", &["did you mean `lock/predecessor`"]);
}
