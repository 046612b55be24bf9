//! The documents' commands that are marked as simulated end with a verdict, one after the other in one folder.

use crate::common::{output_of, without_engine};
use std::path::{Path, PathBuf};

/// Stands before an indented block whose commands run on simulated ensembles.
const MARK: &str = "<!-- simulated -->";

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = std::fs::read_dir(folder).expect("the documents");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}

/// The arguments of the commands that are marked.
fn marked(text: &str) -> Vec<String> {
    let blocks = text.split(MARK).skip(1);
    let lines = blocks.flat_map(|block| {
        let lines = block.lines().skip_while(|line| line.is_empty());
        lines.take_while(|line| line.starts_with("    "))
    });
    let command = |line: &str| {
        let command = line.trim_start().strip_prefix("zooquake ").expect("a command");
        // Two spaces separate a command from what explains it.
        command.split("  ").next().unwrap_or_default().to_owned()
    };
    lines.map(command).collect()
}

#[test]
fn commands_that_are_marked_as_simulated_give_a_verdict() {
    let mut count = 0;
    for path in documents() {
        let folder = tempfile::tempdir().expect("a folder");
        for line in marked(&std::fs::read_to_string(&path).expect("a document")) {
            let output = output_of(without_engine(&line).current_dir(folder.path()));
            let place = path.display();
            assert!(matches!(output.code, Some(0 | 1)), "{place}: {line}: {output}");
            count += 1;
        }
    }
    assert!(count >= 5, "{count} commands");
}
