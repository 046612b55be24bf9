//! From a pack to a folder: regular files below one folder, nothing else, within a budget.

use super::budget::ByteBudget;
use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use tar::{Archive, EntryType};
use zooquake_backend::files;

/// Most bytes of a pack.
const PACKED: u64 = 4 << 30;

/// Unpacks into an empty folder; what may be executed may be so there. Returns the name of the run's folder in it.
/// Evidence that is compressed by itself is unpacked too, so that reading it costs no more than its file.
///
/// # Errors
/// If it is damaged, exceeds its [`Budget`], holds more than one run, a link or a device, or a path that leads
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
            write(&mut entry, (&target, executable), &budget).with_context(|| format!("{path:?}"))?;
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
fn write(from: &mut impl Read, (target, executable): (&Path, bool), budget: &ByteBudget) -> Result<()> {
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
