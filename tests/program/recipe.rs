//! A recipe of one's own, from nothing to a verdict: `new`, `try`, `run`, `pack`, `replay`.

use crate::common::{EnsembleSlot, Runs, assert_nothing_left_of, document, output_of, run, valid, zooquake};

#[test]
fn a_new_python_lock_keeps_the_protocol_and_is_valid_under_pauses() {
    let _turn = EnsembleSlot::shared();
    let runs = Runs::new("recipe");
    let home = tempfile::tempdir().expect("a folder");
    let within = |line: &str| output_of(zooquake(line).current_dir(home.path()));
    within("new lock my-lock --language python").ends(0);
    let tried = within("try ./my-lock --json").ends(0).json();
    assert!(!tried.to_string().contains("broken\""), "{tried}");

    let folder = home.path().join("my-lock");
    let folder = folder.to_str().expect("UTF-8");
    let ran = run(&runs, &format!("{folder} --faults pause --time 9s --seed 1"));
    valid(&ran);
    assert!(ran.results["stats"]["grants"].as_u64() > Some(3), "{}", ran.story());
    assert_nothing_left_of(&runs.id());
    let plan = document(&ran.folder, "plan.json");
    assert_eq!(plan["workload"]["variant"], "my-lock");
    let recipe = &plan["workload"]["recipe"];
    assert!(
        recipe["digest"].as_str().is_some_and(|id| id.starts_with("sha256:")),
        "{recipe}"
    );
    let page = std::fs::read_to_string(ran.folder.join("report.html")).expect("the report");
    assert!(page.contains("lock/my-lock"));

    // What a file brought is not run unasked.
    let pack = runs.path().join("run.zooquake.tar.gz");
    output_of(zooquake("pack --out").args([&pack, &ran.folder])).ends(0);
    let refused = output_of(zooquake("replay").arg(&pack).current_dir(home.path())).ends(254);
    refused.with(&["--yes"]);
    output_of(zooquake("check").arg(&pack)).ends(0);
}
