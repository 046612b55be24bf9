//! A name of a built-in variant stands for it and for nothing else.

use crate::common::{output_of, zooquake};

#[test]
fn the_name_of_a_variant_runs_nothing_of_a_folder_that_is_called_like_it() {
    let home = tempfile::tempdir().unwrap();
    let folders = ["lock/fenced", "fenced", "mine"];
    for folder in folders {
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let recipe =
            "family = \"lock\"\nname = \"mine\"\nprepare = [\"touch\", \"prepared\"]\ncommand = [\"./recipe\"]\n";
        std::fs::write(folder.join("zooquake.toml"), recipe).unwrap();
    }
    let campaign =
        |variant: &str| format!("variants = [\"{variant}\"]\nfaults = [\"pause\"]\ntime = \"1s\"\nclients = 1\n");
    std::fs::write(home.path().join("built-in.toml"), campaign("lock/fenced")).unwrap();
    std::fs::write(home.path().join("mine.toml"), campaign("mine")).unwrap();
    // All are refused, as the time is too short, but only once the recipe is known.
    let too_short = "--faults pause --time 1s";
    for (line, prepared) in [
        (format!("run lock/fenced {too_short}"), [false; 3]),
        (format!("run mine {too_short}"), [false, false, true]),
        (
            format!("compare lock --variants fenced,lock/fenced {too_short}"),
            [false; 3],
        ),
        (
            format!("compare lock --variants fenced,mine {too_short}"),
            [false, false, true],
        ),
        ("nightly built-in.toml".to_string(), [false; 3]),
        ("nightly mine.toml".to_string(), [false, false, true]),
    ] {
        output_of(zooquake(&line).current_dir(home.path())).ends(254);
        let found = folders.map(|folder| std::fs::remove_file(home.path().join(folder).join("prepared")).is_ok());
        assert_eq!(found, prepared, "{line}");
    }
}
