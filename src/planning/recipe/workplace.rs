//! The folder that a recipe's files are made in.

use anyhow::{Context, Result};
use rustix::fs::{Access, access};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};
use zooquake_backend::images::Source;

/// The folder in which a recipe's files are, after they were made: its own, or, where that cannot be written and files
/// have to be made, a copy below the user's folder of caches.
pub fn workplace(folder: &Path, prepares: bool) -> PathBuf {
    place(folder, !prepares || access(folder, Access::WRITE_OK).is_ok())
}

fn place(folder: &Path, suffices: bool) -> PathBuf {
    match suffices {
        true => folder.to_path_buf(),
        false => copy_of(folder),
    }
}

/// Where the copy of a folder is: the same place for the same path.
fn copy_of(folder: &Path) -> PathBuf {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let caches = caches.unwrap_or_else(env::temp_dir);
    caches.join(format!("zooquake/recipes/{name}-{:016x}", hasher.finish()))
}

/// Makes a folder hold what another one holds; what tools have made in it stays.
///
/// # Errors
/// If a file cannot be read, written or removed.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let source = Source::read(from, &[])?;
    let copying = || {
        format!(
            "copying {} to {}, since it cannot be written",
            from.display(),
            to.display()
        )
    };
    fs::create_dir_all(to).with_context(copying)?;
    for path in Source::read(to, &[])?.files.keys() {
        if !source.files.contains_key(path) {
            match fs::remove_file(to.join(path)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).with_context(copying),
                _ => {}
            }
        }
    }
    source.write(to).with_context(copying)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_can_be_written_is_worked_in() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(workplace(folder.path(), true), folder.path());
    }

    #[test]
    fn what_cannot_be_written_is_worked_on_in_a_copy_if_files_are_made() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("my-lock");
        fs::create_dir(&folder).unwrap();
        assert_eq!(workplace(&folder, false), folder);
        // Root may write to a folder of any mode, so what was found out about it is given.
        let copy = place(&folder, false);
        assert!(
            copy.file_name().unwrap().to_str().unwrap().starts_with("my-lock-"),
            "{copy:?}"
        );
        assert_eq!(place(&folder.join("../my-lock"), false), copy);
    }

    #[test]
    fn a_copy_has_what_the_folder_has_and_what_tools_made() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let to = to.path().join("copy");
        fs::write(from.path().join("lock.py"), "1").unwrap();
        fs::write(from.path().join("old.py"), "1").unwrap();
        copy(from.path(), &to).unwrap();
        fs::create_dir(to.join("target")).unwrap();
        fs::write(to.join("target/x"), "ELF").unwrap();
        fs::remove_file(from.path().join("old.py")).unwrap();
        fs::write(from.path().join("lock.py"), "2").unwrap();
        copy(from.path(), &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("lock.py")).unwrap(), "2");
        assert!(!to.join("old.py").exists() && to.join("target/x").exists());
    }
}
