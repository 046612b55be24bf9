//! `zooquake schema`: the JSON Schemas of files that others may rest on.

use super::exit::Code;
use crate::nightly::folder;
use crate::output;
use crate::planning::schedule::Schedule;
use anyhow::Result;
use clap::{Args, ValueEnum};
use schemars::{Schema, schema_for};
use zooquake_checkers::Results;
use zooquake_history::event::Event;
use zooquake_history::plan::Plan;

/// `schema`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake schema results > results.schema.json")]
pub struct SchemaOptions {
    /// Which file; of a history and of a night, the schema is that of a line
    pub file: SchemaFile,
}

/// A file with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaFile {
    /// plan.json
    Plan,
    /// A line of history.jsonl
    History,
    /// results.json
    Results,
    /// A line of night.jsonl
    Night,
    /// The TOML of `run --schedule`
    Schedule,
}

impl SchemaFile {
    fn schema(self) -> Schema {
        match self {
            Self::Plan => schema_for!(Plan),
            Self::History => schema_for!(Event),
            Self::Results => schema_for!(Results),
            Self::Night => folder::line_schema(),
            Self::Schedule => schema_for!(Schedule),
        }
    }
}

/// Prints a schema.
///
/// # Errors
/// If it cannot be printed.
pub fn schema(options: &SchemaOptions) -> Result<Code> {
    output::json(&options.file.schema())?;
    Ok(Code::Valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_the_documents_are_those_of_the_types() {
        for file in SchemaFile::value_variants() {
            let name = file
                .to_possible_value()
                .expect("no file is hidden")
                .get_name()
                .to_owned();
            let path = format!("{}/docs/schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let printed = serde_json::to_string_pretty(&file.schema()).expect("a schema is data") + "\n";
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                written == printed,
                "write it anew: zooquake schema {name} > docs/schemas/{name}.json"
            );
        }
    }
}
