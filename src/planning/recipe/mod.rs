//! Recipes that are not built in: a folder with a `zooquake.toml`, which has what its recipe promises and what runs it.

mod manifest;
mod prepare;
mod workplace;

pub use prepare::prepare;
pub use workplace::workplace;

use std::io;
use std::path::Path;
use zooquake_backend::files;
use zooquake_backend::images::Source;
use zooquake_history::plan::Workload;

/// The file that makes a folder that of a recipe.
pub const MANIFEST: &str = "zooquake.toml";

/// Whether a name on the command line is a path rather than a name: it begins with `.` or `/`, or there is a recipe's
/// folder.
pub fn is_path(name: &str) -> bool {
    is_path_in(name, Path::new(""))
}

/// [`is_path`] of a name that is read from a file in this folder.
pub fn is_path_in(name: &str, folder: &Path) -> bool {
    name.starts_with(['.', '/']) || folder.join(name).join(MANIFEST).is_file()
}

/// Whether this may be the name of a recipe: letters, digits, `-`, `_` and `.`, 64 at most, the first of them a letter
/// or digit.
pub fn is_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    name.len() <= 64 && name.bytes().all(good) && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The workload of the recipe in a folder, with the hashes of its files.
///
/// # Errors
/// If there is none, or its `zooquake.toml` is wrong: a message for the user, with the line.
pub fn read(folder: &str) -> Result<Workload, String> {
    let path = Path::new(folder);
    let file = path.join(MANIFEST);
    if !path.is_dir() {
        return Err(format!(
            "there is no folder {folder:?}; give that of a recipe, in which a {MANIFEST} lies, or the name of a variant"
        ));
    }
    let text = manifest_of(path).map_err(|error| {
        format!("{folder:?} is not the folder of a recipe: reading {file:?}: {error}; `zooquake new` makes one")
    })?;
    let mut workload = manifest::read(&text, path).map_err(|why| format!("{}: {why}", file.display()))?;
    if let Some(recipe) = &mut workload.recipe {
        recipe.folder = folder.to_string();
        recipe.files = Source::from_recipe(&workplace(path, !recipe.prepare.is_empty()), recipe)
            .map_err(|error| format!("{folder:?}: {error:#}"))?
            .hashes();
    }
    Ok(workload)
}

/// The text of a folder's manifest, which is no link: what is wrong with it is shown.
fn manifest_of(folder: &Path) -> io::Result<String> {
    let (bytes, _) = files::FolderHandle::open(folder)?.read(Path::new(MANIFEST), files::SETTINGS)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8"))
}

#[cfg(test)]
mod tests;
