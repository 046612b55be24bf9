//! `zooquake new`

use super::exit::{Code, Usage};
use crate::planning::recipe;
use crate::run::folder::entries;
use crate::template::{LANGUAGES, language};
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// `new`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake new lock my-lock --language python
  zooquake new queue recipes/my-queue --language java")]
pub struct NewOptions {
    /// Family of the recipe, such as lock
    pub family: String,
    /// The folder to write, which goes by the recipe's name; it must not be there, or be empty
    pub folder: PathBuf,
    /// python, java, go or rust
    #[arg(long)]
    pub language: String,
    /// JSON on stdout: the folder and its files
    #[arg(long)]
    pub json: bool,
}

/// Writes a folder with a recipe that runs at once.
///
/// # Errors
/// [`Usage`] for a family or language that there is no template for, and for a folder that has something in it;
/// otherwise if it cannot be written.
pub fn new(options: &NewOptions) -> Result<Code> {
    let NewOptions { family, folder, .. } = options;
    let there_is = || {
        let lines = LANGUAGES.iter().map(|language| {
            format!(
                "{}: {}",
                language.name,
                language.families().collect::<Vec<_>>().join(", ")
            )
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let none = || {
        Usage(format!(
            "no template of `{family}` in `{}`; there are {}",
            options.language,
            there_is()
        ))
    };
    let language = language(&options.language).ok_or_else(none)?;
    if !language.families().any(|known| known == family) {
        return Err(none().into());
    }
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| recipe::is_name(name));
    let name = name.ok_or_else(|| {
        Usage(format!(
            "the folder {folder:?} gives no name: letters, digits, `-`, `_` and `.`, a letter or digit first"
        ))
    })?;
    let occupied = match entries(folder) {
        Ok(entries) => (!entries.is_empty()).then(|| "there is something in it already".to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = occupied {
        return Err(Usage(format!("{}: {why}", folder.display())).into());
    }
    let files = language
        .write(family, name, folder)?
        .context("a family that is listed has no recipe")?;
    if options.json {
        println!(
            "{}",
            json!({ "folder": folder, "name": name, "family": family, "language": language.name, "files": files })
        );
        return Ok(Code::Valid);
    }
    files
        .iter()
        .for_each(|file| println!("{}", folder.join(file).display()));
    let at = match folder.is_absolute() {
        true => folder.clone(),
        false => PathBuf::from(".").join(folder),
    };
    println!("next: zooquake try {0}; zooquake run {0} --faults none", at.display());
    Ok(Code::Valid)
}
