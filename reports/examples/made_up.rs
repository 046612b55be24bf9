//! Writes reports of made-up runs, to look at while working on reports: `cargo run --example made_up -- FOLDER`.

#[path = "../tests/suite/common/mod.rs"]
mod common;

use common::{families, results};

fn main() -> anyhow::Result<()> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let runs = [
        ("invalid", results::invalid()),
        ("valid", results::valid()),
        ("unknown", results::unknown()),
        ("sessions", families::sessions()),
        ("group", families::group()),
        ("commit", families::commit()),
        ("queue", families::claimed()),
        ("caused", results::caused()),
        ("many", results::many(50_000)),
    ];
    for (name, run) in runs {
        let dir = folder.join(name);
        std::fs::create_dir_all(&dir)?;
        for path in zooquake_reports::write_all(&run.record, &run.results, &run.extras, &dir)? {
            println!("{} {}", std::fs::metadata(&path)?.len(), path.display());
        }
    }
    Ok(())
}
