//! A run as one file: a tar.gz of what its verdict rests on, its logs and its report.

pub mod budget;
mod readme;

use crate::planning::admission;
use crate::planning::case::Case;
use crate::run::folder::Folder;
use anyhow::{Context, Result, bail};
use budget::ByteBudget;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use readme::PackedRun;
pub use readme::commands;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use tar::{Archive, EntryType};
use tempfile::TempDir;
use walkdir::WalkDir;
use zooquake_backend::files;

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

/// Whether this is a file that [`write()`] made, by its name.
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
    let name = unpack(path, unpacked.path()).with_context(|| format!("unpacking {}", path.display()))?;
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
    /// What it is of; `None` if that cannot be run.
    pub case: Option<Case>,
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
    let case = admission::admit(record.plan.clone()).ok();
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
        case: case.as_ref(),
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
        case,
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

/// Whether the file that explains a pack was made by [`write()`].
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

/// Most bytes of a pack.
const PACKED: u64 = 4 << 30;

/// Unpacks into an empty folder; what may be executed may be so there. Returns the name of the run's folder in it.
/// Evidence that is compressed by itself is unpacked too, so that reading it costs no more than its file.
///
/// # Errors
/// If it is damaged, exceeds its [`ByteBudget`], holds more than one run, a link or a device, or a path that leads
/// elsewhere.
pub fn unpack(pack: &Path, to: &Path) -> Result<PathBuf> {
    let file = files::open(pack, PACKED)?;
    let budget = ByteBudget::of_pack(file.metadata()?.len());
    let mut tar = Archive::new(budget.metered(GzDecoder::new(file)));
    let mut run: Option<OsString> = None;
    for entry in tar.entries()? {
        let mut entry = entry?;
        budget.entry()?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let path = entry.path()?.into_owned();
        if !matches!(kind, EntryType::Regular | EntryType::Directory) {
            bail!("{path:?} is neither a file nor a folder, and no run has such");
        }
        let path = inside(&path)?;
        let Some(first) = path.iter().next() else { continue };
        if kind == EntryType::Regular && path.iter().nth(1).is_none() {
            bail!("{path:?} does not lie in the run's folder");
        }
        let of = run.get_or_insert_with(|| first.to_os_string());
        if of != first {
            bail!("it holds {path:?} beside {of:?}: one run a file");
        }
        let target = to.join(&path);
        if kind == EntryType::Directory {
            fs::create_dir_all(&target).with_context(|| format!("{path:?}"))?;
        } else {
            let executable = entry.header().mode()? & 0o111 != 0;
            write_entry(&mut entry, (&target, executable), &budget).with_context(|| format!("{path:?}"))?;
        }
    }
    run.map(PathBuf::from).context("it holds no run")
}

/// The path without `.`, if it leads nowhere else and can be shown.
fn inside(path: &Path) -> Result<PathBuf> {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) if part.to_string_lossy().contains(char::is_control) => {
                bail!("{path:?} has control characters in its name");
            }
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            _ => bail!("{path:?} would leave the run's folder"),
        }
    }
    Ok(parts)
}

/// Writes a file that is not there yet; one with `.gz` after its name without that, and as it was before it was
/// compressed.
fn write_entry(from: &mut impl Read, (target, executable): (&Path, bool), budget: &ByteBudget) -> Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    if target.extension().is_none_or(|extension| extension != "gz") {
        io::copy(from, &mut create(target, executable)?)?;
        return Ok(());
    }
    let target = target.with_extension("");
    if target.extension().is_some_and(|extension| extension == "gz") {
        bail!("it is compressed twice");
    }
    io::copy(
        &mut budget.metered(GzDecoder::new(from)),
        &mut create(&target, executable)?,
    )?;
    Ok(())
}

fn create(target: &Path, executable: bool) -> Result<File> {
    let mode = if executable { 0o755 } else { 0o644 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(target);
    file.with_context(|| "it is there twice, or cannot be written".to_string())
}
