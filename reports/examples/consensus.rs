//! Draws the diagrams of docs/consensus/ anew, each of the run of a plan in `tests/plans`:
//! `cargo run -p zooquake-reports --example consensus -- docs/pictures`.

#[path = "../tests/suite/common/networks.rs"]
mod networks;

use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use zooquake_reports::message_diagram;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "docs/pictures".into()));
    for name in networks::names() {
        let record = networks::record(&name);
        let results = zooquake_checkers::check(&record);
        let (picture, sentences) =
            message_diagram(&record, &results).with_context(|| format!("{name} has no messages"))?;
        let path = folder.join(format!("consensus-{name}.svg"));
        fs::write(&path, picture).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {}", path.display(), results.verdict);
        sentences.iter().for_each(|sentence| println!("  {sentence}"));
    }
    Ok(())
}
