//! A run as one file: a tar.gz of what its verdict rests on, its logs and its report.

pub mod budget;
mod readme;
mod unpack;

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use readme::PackedRun;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use walkdir::WalkDir;
use zooquake_backend::files;
use zooquake_history::Record;

pub use readme::commands;

/// What its name ends in.
pub const SUFFIX: &str = ".zooquake.tar.gz";

/// What the name of a file ends in that is being written.
const DRAFT: &str = ".draft";

/// A run that was opened, whether it was a folder or a file.
#[derive(Debug)]
pub struct OpenedRun {
    pub folder: Folder,
    /// What was opened.
    pub path: PathBuf,
    /// Where a file was unpacked; it goes with this.
    unpacked: Option<TempDir>,
}

impl OpenedRun {
    /// Whether it was a file: its folder goes away.
    pub fn is_pack(&self) -> bool {
        self.unpacked.is_some()
    }
}

impl Drop for OpenedRun {
    fn drop(&mut self) {
        if let Some(unpacked) = self.unpacked.take()
            && let Err(error) = unpacked.close()
        {
            eprintln!("zooquake: {error}: it is left behind");
        }
    }
}

/// Whether this is a file that [`write`] made, by its name.
pub fn is_pack(path: &Path) -> bool {
    path.is_file() && path.to_string_lossy().ends_with(".tar.gz")
}

/// Opens a run: its folder as it is, or a pack, unpacked beside the system's temporary files.
///
/// # Errors
/// If the pack is damaged, or what [`unpack`] refuses.
pub fn open(path: &Path) -> Result<OpenedRun> {
    let mut opened = OpenedRun {
        folder: Folder {
            path: path.to_path_buf(),
        },
        path: path.to_path_buf(),
        unpacked: None,
    };
    if !is_pack(path) {
        return Ok(opened);
    }
    let unpacked = tempfile::Builder::new().prefix("zooquake-pack-").tempdir();
    let unpacked = unpacked.context("making a temporary folder for what is packed")?;
    let name = unpack::unpack(path, unpacked.path()).with_context(|| format!("unpacking {}", path.display()))?;
    opened.folder.path = unpacked.path().join(name);
    opened.unpacked = Some(unpacked);
    Ok(opened)
}

/// A file that was made of a run.
#[derive(Debug)]
pub struct Pack {
    pub file: PathBuf,
    pub bytes: u64,
    /// The name of the run's folder in it.
    pub run: String,
    pub record: Record,
}

/// Packs the run in a folder, with a file that explains it. What is in the folder but no regular file, is a pack or is
/// being written is left out.
///
/// # Errors
/// If the run cannot be read, or the file not be written.
pub fn write(run: &Path, out: Option<&Path>) -> Result<Pack> {
    let folder = Folder {
        path: run.to_path_buf(),
    };
    // It is better known now than when the ticket is opened.
    let record = folder.load()?;
    let name = folder.name();
    let file = out.map_or_else(|| PathBuf::from(format!("{name}{SUFFIX}")), Path::to_path_buf);
    let doing = || format!("writing {}", file.display());
    let mut draft = file.clone().into_os_string();
    draft.push(DRAFT);
    let draft = PathBuf::from(draft);
    // Listed before there is a draft, which may lie in the same folder.
    let files = files(run, &file)?;
    let results = folder.results().ok();
    let packed = PackedRun {
        name: &name,
        record: &record,
        results: results.as_ref(),
    };
    let explained = readme::text(&packed, file.file_name().map_or(&file, Path::new), &files);
    let written = archive(run, &name, (&files, &explained), &draft).with_context(doing);
    if written.is_err() {
        // The first error is what matters.
        let _ = fs::remove_file(&draft);
    }
    written?;
    fs::rename(&draft, &file).with_context(doing)?;
    let bytes = fs::metadata(&file).with_context(doing)?.len();
    Ok(Pack {
        file,
        bytes,
        run: name,
        record,
    })
}

/// The files below a folder that are packed, relative to it and sorted.
fn files(run: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let out = out.canonicalize().ok();
    let mut files = Vec::new();
    for entry in WalkDir::new(run).min_depth(1) {
        let entry = entry.with_context(|| format!("reading {}", run.display()))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let name = entry.file_name().to_string_lossy();
        if kind.is_dir() {
            continue;
        }
        if !kind.is_file() {
            eprintln!("left out {path:?}, which is not a regular file");
            continue;
        }
        // That of an earlier pack, which was unpacked here, is written anew.
        let explains = entry.depth() == 1 && name == readme::NAME && is_ours(path)?;
        if !explains && !name.ends_with(SUFFIX) && !name.ends_with(DRAFT) && path.canonicalize().ok() != out {
            files.push(path.strip_prefix(run).context("a path below the run")?.to_path_buf());
        }
    }
    files.sort();
    Ok(files)
}

/// Whether the file that explains a pack was made by [`write`].
fn is_ours(path: &Path) -> Result<bool> {
    let doing = || format!("reading {}", path.display());
    let (opening, mut start) = (readme::OPENING.as_bytes(), Vec::new());
    let file = files::open(path, u64::MAX).with_context(doing)?;
    file.take(opening.len() as u64)
        .read_to_end(&mut start)
        .with_context(doing)?;
    Ok(start == opening)
}

/// Writes the files, and the text that explains them unless a file of the user's has its name.
fn archive(run: &Path, name: &str, (files, explained): (&[PathBuf], &str), to: &Path) -> Result<()> {
    let gzip = GzEncoder::new(File::create(to)?, Compression::default());
    let (mut tar, mut modified) = (tar::Builder::new(gzip), None);
    for path in files {
        let from = run.join(path);
        let doing = || format!("reading {}", from.display());
        let file = files::open(&from, u64::MAX).with_context(doing)?;
        let metadata = file.metadata().with_context(doing)?;
        let mut header = tar::Header::new_gnu();
        header.set_metadata(&metadata);
        // A file that is being written may grow; its entry has the size in its header all the same.
        let (path, mut bytes) = (Path::new(name).join(path), file.take(metadata.len()));
        tar.append_data(&mut header, path, &mut bytes).with_context(doing)?;
        anyhow::ensure!(bytes.limit() == 0, "{} became shorter meanwhile", from.display());
        // Of the time of the first file, so that a run is always packed to the same bytes.
        modified.get_or_insert(header.mtime()?);
    }
    if !files.iter().any(|file| file == Path::new(readme::NAME)) {
        let mut header = tar::Header::new_gnu();
        header.set_size(explained.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(modified.unwrap_or_default());
        tar.append_data(&mut header, Path::new(name).join(readme::NAME), explained.as_bytes())?;
    }
    tar.into_inner()?.finish()?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests;
