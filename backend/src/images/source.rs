//! The files of a recipe's folder.

use super::libraries;
use super::source_file::SourceFile;
use crate::files::FolderHandle;
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};
use zooquake_history::plan::RecipeSource;

/// Most bytes of a folder.
const MOST_BYTES: u64 = 64 << 20;

/// Most files of a folder.
const MOST_FILES: usize = 2_000;

/// Folders that hold what tools make, by name: they are no part of a recipe, but for files that are carried.
const MADE: [&str; 6] = [".git", "target", "runs", "nights", "node_modules", "__pycache__"];

/// Whether this is a path below a folder: relative, without `.` and `..`.
pub fn is_below(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// The files of a recipe's folder, read once: what is hashed, built and kept is the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Each by its path relative to the folder.
    pub files: BTreeMap<String, SourceFile>,
}

impl Source {
    /// Reads the files of a recipe in a folder, and with programs that were made on this host what they load there,
    /// unless the folder has kept that.
    ///
    /// # Errors
    /// As [`read`](Self::read), or if a library cannot be read.
    pub fn from_recipe(folder: &Path, recipe: &RecipeSource) -> Result<Self> {
        let mut source = Self::read(folder, &recipe.carried)?;
        let on_host = !recipe.prepare.is_empty() && recipe.image.is_none() && recipe.build.is_none();
        if on_host && source.libraries().next().is_none() {
            let programs = source.carried(&recipe.carried);
            let programs = programs.filter(|(_, file)| libraries::is_program(&file.content));
            let programs: Vec<PathBuf> = programs.map(|(path, _)| folder.join(path)).collect();
            for program in programs {
                source.files.extend(libraries::shared_libraries(&program)?);
            }
        }
        Ok(source)
    }

    /// The files that these paths name, or that lie in the folders that they name.
    pub fn carried<'a>(&'a self, paths: &'a [String]) -> impl Iterator<Item = (&'a String, &'a SourceFile)> {
        let carried = |path: &str| paths.iter().any(|named| Path::new(path).starts_with(named));
        self.files.iter().filter(move |(path, _)| carried(path))
    }

    /// Loaders and libraries of programs that were made on a host.
    pub fn libraries(&self) -> impl Iterator<Item = (&String, &SourceFile)> {
        self.files
            .iter()
            .filter(|(path, _)| Path::new(path).starts_with(libraries::FOLDER))
    }

    /// Reads a folder. What tools make is left out, unless it is carried: files, or folders with all that is in them.
    ///
    /// # Errors
    /// If a file cannot be read, is a link or a device or lies behind a link, what is to be carried is not there or is
    /// an empty folder, or the folder is larger than 64 MiB or 2,000 files.
    pub fn read(folder: &Path, carried: &[String]) -> Result<Self> {
        let mut source = Self::default();
        let mut left = MOST_BYTES;
        let inside = FolderHandle::open(folder).with_context(|| format!("reading {}", folder.display()))?;
        let made = |entry: &DirEntry| entry.depth() > 0 && MADE.iter().any(|name| entry.file_name() == *name);
        for entry in WalkDir::new(folder).into_iter().filter_entry(|entry| !made(entry)) {
            let entry = entry.with_context(|| format!("reading {}", folder.display()))?;
            if !entry.file_type().is_dir() {
                let path = entry.path().strip_prefix(folder).context("a path below the folder")?;
                source.take((folder, &inside), path, &mut left)?;
            }
        }
        for path in carried {
            ensure!(
                is_below(path),
                "`files` names {path:?}, which is not a path below the folder"
            );
            source
                .take_carried((folder, &inside), path, &mut left)
                .with_context(|| format!("`files` names {path:?}"))?;
        }
        Ok(source)
    }

    /// Takes a file that is carried, or those of a folder, unless it has them.
    fn take_carried(&mut self, (folder, inside): (&Path, &FolderHandle), path: &str, left: &mut u64) -> Result<()> {
        let whole = folder.join(path);
        if !fs::symlink_metadata(&whole).is_ok_and(|metadata| metadata.is_dir()) {
            return match self.files.contains_key(path) {
                true => Ok(()),
                false => self.take((folder, inside), Path::new(path), left),
            };
        }
        for entry in WalkDir::new(&whole) {
            let entry = entry.with_context(|| format!("reading {}", whole.display()))?;
            let below = entry.path().strip_prefix(folder).context("a path below the folder")?;
            let has = below.to_str().is_some_and(|path| self.files.contains_key(path));
            if !entry.file_type().is_dir() && !has {
                self.take((folder, inside), below, left)?;
            }
        }
        let empty = self.carried(&[path.to_string()]).next().is_none();
        ensure!(!empty, "{} is a folder without files", whole.display());
        Ok(())
    }

    /// Takes a file, if so many bytes are left for it.
    fn take(&mut self, (folder, inside): (&Path, &FolderHandle), path: &Path, left: &mut u64) -> Result<()> {
        let whole = folder.join(path);
        let metadata = fs::symlink_metadata(&whole).with_context(|| format!("reading {}", whole.display()))?;
        ensure!(
            metadata.is_file(),
            "{} is not a regular file: a recipe may have only regular files",
            whole.display()
        );
        let name = path
            .to_str()
            .with_context(|| format!("the name of {path:?} is no UTF-8"))?;
        ensure!(
            metadata.len() <= *left && self.files.len() < MOST_FILES,
            "{} is larger than {} MiB or {MOST_FILES} files: keep what is not the recipe elsewhere",
            folder.display(),
            MOST_BYTES >> 20
        );
        let (content, executable) = inside
            .read(path, *left)
            .with_context(|| format!("reading {}", whole.display()))?;
        *left -= content.len() as u64;
        self.files.insert(name.to_string(), SourceFile { content, executable });
        Ok(())
    }

    /// SHA-256 of each file in lower-case hex, by its path.
    pub fn hashes(&self) -> BTreeMap<String, String> {
        let hash = |file: &SourceFile| {
            let mut text = String::new();
            for byte in Sha256::digest(&file.content) {
                let _ = write!(text, "{byte:02x}");
            }
            text
        };
        self.files
            .iter()
            .map(|(path, file)| (path.clone(), hash(file)))
            .collect()
    }

    /// How these files differ from those of these hashes, one sentence a file.
    pub fn differences(&self, hashes: &BTreeMap<String, String>) -> Vec<String> {
        let own = self.hashes();
        let gone = hashes.keys().filter(|path| !own.contains_key(*path));
        let gone = gone.map(|path| format!("{path} is not there any more"));
        let other = own.iter().filter_map(|(path, hash)| match hashes.get(path) {
            None => Some(format!("{path} is new")),
            Some(before) if before != hash => Some(format!("{path} has changed")),
            Some(_) => None,
        });
        gone.chain(other).collect()
    }

    /// Writes the files into a folder, which is made.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (path, file) in &self.files {
            let to: PathBuf = folder.join(path);
            let writing = || format!("writing {}", to.display());
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).with_context(writing)?;
            }
            fs::write(&to, &file.content).with_context(writing)?;
            fs::set_permissions(&to, fs::Permissions::from_mode(file.mode())).with_context(writing)?;
        }
        Ok(())
    }
}
