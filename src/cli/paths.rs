//! Paths on the command line. A path that cannot be used is wrong usage, reported with the remedy before anything
//! begins.

use super::exit::Usage;
use crate::pack::{self, OpenedRun};
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use zooquake_backend::files;
use zooquake_history::Record;

/// What a command that reads a run takes.
const A_RUN: &str = "give the folder of a run, such as runs/latest, or the file that `zooquake pack` made of one";

/// Opens and reads the run in a folder or pack.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn run(path: &Path) -> Result<(OpenedRun, Record), Usage> {
    readable(path, A_RUN)?;
    if path.is_file() && !pack::is_pack(path) {
        return Err(Usage(format!(
            "{path:?} is a file, but no pack, whose name ends in .tar.gz: {A_RUN}"
        )));
    }
    let wrong = |error: anyhow::Error| Usage(format!("{error:#}: {A_RUN}"));
    let opened = pack::open(path).map_err(wrong)?;
    let lacks = opened.folder.lacks();
    if !lacks.is_empty() {
        let lacks = lacks.join(" and ");
        return Err(Usage(format!("{path:?} is not a whole run, it lacks {lacks}: {A_RUN}")));
    }
    let record = opened.folder.load().map_err(wrong)?;
    Ok((opened, record))
}

/// Opens and reads the run in a folder or pack whose plan is to be played.
///
/// # Errors
/// If there is none, or it or its plan cannot be read.
pub fn run_to_play(path: &Path) -> Result<(OpenedRun, Record), Usage> {
    let (opened, record) = run(path)?;
    match record.plan_damage() {
        Some(why) => Err(Usage(format!("{path:?} has no plan that could be run: {why}"))),
        None => Ok((opened, record)),
    }
}

/// Whether there is something at a path.
///
/// # Errors
/// If there is not, or it cannot be looked at.
pub fn readable(path: &Path, way_out: &str) -> Result<(), Usage> {
    match fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Usage(format!("there is nothing at {path:?}: {way_out}")))
        }
        Err(error) => Err(Usage(format!("{path:?} cannot be read ({error}): {way_out}"))),
    }
}

/// Whether there is a file at a path that can be opened.
///
/// # Errors
/// If there is not; `way_out` is what to give instead.
pub fn file(path: &Path, way_out: &str) -> Result<(), Usage> {
    readable(path, way_out)?;
    if path.is_dir() {
        return Err(Usage(format!("{path:?} is a folder: {way_out}")));
    }
    // To open a pipe blocks until it has a writer.
    let pipe = fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo());
    let opened = if pipe {
        Ok(())
    } else {
        files::open(path, u64::MAX).map(drop)
    };
    opened.map_err(|error| Usage(format!("{path:?} cannot be read ({error}): {way_out}")))
}

/// Whether a folder can be made here, or written into if it is there. None is made.
///
/// # Errors
/// If not; the option is named as the way out.
pub fn output_folder(path: &Path, option: &str) -> Result<(), Usage> {
    let cannot = |why: &str| {
        Err(Usage(format!(
            "{path:?} cannot be a folder for output: {why}; give another {option}"
        )))
    };
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for at in whole.ancestors() {
        match fs::metadata(at) {
            Ok(found) if !found.is_dir() => return cannot(&format!("{at:?} is a file")),
            Ok(_) => {
                use rustix::fs::Access;
                return match rustix::fs::access(at, Access::WRITE_OK | Access::EXEC_OK) {
                    Ok(()) => Ok(()),
                    Err(error) => cannot(&format!("{at:?} cannot be written into ({error})")),
                };
            }
            Err(error) if error.kind() == ErrorKind::NotFound && !at.is_symlink() => {}
            // An ancestor is a file: the error is reported when the loop reaches that one.
            Err(error) if error.kind() == ErrorKind::NotADirectory => {}
            Err(error) => return cannot(&format!("{at:?}: {error}")),
        }
    }
    cannot("no folder of it is there")
}

/// Whether a file can be written here, in a folder that may have to be made.
///
/// # Errors
/// If not; `way_out` is what to give instead.
pub fn output_file_in_new_folder(path: &Path, way_out: &str) -> Result<(), Usage> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => output_folder(folder, "path")
            .map_err(|Usage(why)| Usage(format!("{path:?} cannot be written: {why}; {way_out}"))),
        _ => output_file(path, way_out),
    }
}

/// What a file for output is, by which one that is there is known as an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A page in HTML.
    Page,
    /// A run as one file.
    Pack,
    /// A JUnit file.
    Junit,
}

impl OutputKind {
    fn words(self) -> &'static str {
        match self {
            Self::Page => "a page in HTML",
            Self::Pack => "a pack of a run",
            Self::Junit => "a JUnit file",
        }
    }

    /// Whether a file that begins like this is one.
    fn begins(self, bytes: &[u8]) -> bool {
        let text = bytes.trim_ascii_start();
        let begins = |with: &str| {
            text.get(..with.len())
                .is_some_and(|part| part.eq_ignore_ascii_case(with.as_bytes()))
        };
        match self {
            Self::Page => begins("<!doctype html") || begins("<html"),
            Self::Pack => bytes.starts_with(&[0x1f, 0x8b]),
            Self::Junit => begins("<?xml") || begins("<testsuite"),
        }
    }
}

/// Refuses to write over a file that is none of this kind, or is one of those that are read. One that is empty, or is
/// no regular file, may be written.
///
/// # Errors
/// If it is; `way_out` is what to give instead.
pub fn replaceable(path: &Path, kind: OutputKind, inputs: &[&Path], way_out: &str) -> Result<(), Usage> {
    is_no_input(path, inputs, way_out)?;
    if !path.is_file() {
        return Ok(());
    }
    let begin = || {
        let mut begin = Vec::new();
        fs::File::open(path)?.take(64).read_to_end(&mut begin)?;
        std::io::Result::Ok(begin)
    };
    match begin() {
        Ok(begin) if begin.is_empty() || kind.begins(&begin) => Ok(()),
        Ok(_) => Err(Usage(format!(
            "{path:?} is there and is not {}: {way_out}",
            kind.words()
        ))),
        Err(error) => Err(Usage(format!(
            "{path:?} is there and cannot be read ({error}): {way_out}"
        ))),
    }
}

/// Refuses to write over one of the files that are read, under whatever name.
///
/// # Errors
/// If it is one; `way_out` is what to give instead.
pub fn is_no_input(path: &Path, inputs: &[&Path], way_out: &str) -> Result<(), Usage> {
    let file = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let output = file(path);
    match inputs.iter().find(|input| output.is_some() && file(input) == output) {
        Some(input) => Err(Usage(format!("{path:?} is {input:?}, which is read: {way_out}"))),
        None => Ok(()),
    }
}

/// Whether a file can be written here: its folder is there, and it is none itself.
///
/// # Errors
/// If not; `way_out` is what to give instead.
pub fn output_file(path: &Path, way_out: &str) -> Result<(), Usage> {
    if path.is_dir() {
        return Err(Usage(format!("{path:?} is a folder: {way_out}")));
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let Some(folder) = whole.parent() else {
        return Err(Usage(format!("{path:?} is not the name of a file: {way_out}")));
    };
    if !folder.is_dir() {
        return Err(Usage(format!(
            "{path:?} cannot be written, since there is no folder {folder:?}: {way_out}"
        )));
    }
    output_folder(folder, "path").map_err(|_| Usage(format!("{folder:?} cannot be written into: {way_out}")))
}
