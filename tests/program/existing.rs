//! Adapters for locks that exist: what the page shows is what the folders have, and `zooquake try` breaks nothing.
//!
//! Each trial takes some 20 s, so that only that of the program is made unless `ZOOQUAKE_TRIALS` is `all`.

use crate::common::{EnsembleSlot, output_of, zooquake};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders below `workloads/clients/existing/`.
const WAYS: [&str; 3] = ["program", "client", "own-client"];

fn files(way: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("workloads/clients/existing")
        .join(way);
    let entries = fs::read_dir(folder).expect("the folder of an adapter");
    entries.map(|entry| entry.expect("a file").path()).collect()
}

#[test]
fn the_page_shows_the_files() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/existing-lock.md");
    let page = fs::read_to_string(page).expect("the page");
    for file in WAYS.into_iter().flat_map(files) {
        // One manifest stands for all three.
        if file.ends_with("program/zooquake.toml") || file.ends_with("own-client/zooquake.toml") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a text");
        assert!(
            page.contains(&format!("\n{text}```\n")),
            "the page does not show {} as it is",
            file.display()
        );
    }
}

#[test]
fn an_adapter_breaks_no_sentence() {
    let _slot = EnsembleSlot::shared();
    let all = std::env::var("ZOOQUAKE_TRIALS").is_ok_and(|which| which == "all");
    let home = tempfile::tempdir().expect("a folder");
    for way in WAYS.into_iter().take(if all { WAYS.len() } else { 1 }) {
        let folder = home.path().join(way);
        output_of(zooquake("new lock --language python").arg(&folder)).ends(0);
        for file in files(way) {
            fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("copying it");
        }
        output_of(zooquake("try").arg(&folder)).ends(0);
    }
}
