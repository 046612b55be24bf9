//! A run as one file: a tar.gz of what its verdict rests on, its logs and its report.

use crate::run::folder::Folder;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// What its name ends in.
pub const SUFFIX: &str = ".zooquake.tar.gz";

/// The most bytes that are unpacked: a file from elsewhere may be made to fill a disk.
const MOST: u64 = 4 << 30;

/// A run that was opened, whether it was a folder or a file.
#[derive(Debug)]
pub struct Opened {
    /// Its folder.
    pub folder: Folder,
    /// Where a file was unpacked; it goes with this.
    unpacked: Option<PathBuf>,
}

impl Opened {
    /// Whether it was a file: its folder goes away.
    pub fn is_pack(&self) -> bool {
        self.unpacked.is_some()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(unpacked) = &self.unpacked
            && let Err(error) = fs::remove_dir_all(unpacked)
        {
            eprintln!("zooquake: {} is left behind: {error}", unpacked.display());
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
/// If there is neither, or the pack is damaged.
pub fn open(path: &Path) -> Result<Opened> {
    if !is_pack(path) {
        let folder = Folder {
            path: path.to_path_buf(),
        };
        return Ok(Opened { folder, unpacked: None });
    }
    let unpacked = std::env::temp_dir().join(format!("zooquake-pack-{:016x}", fastrand::u64(..)));
    fs::create_dir_all(&unpacked).with_context(|| format!("making {}", unpacked.display()))?;
    let mut opened = Opened {
        folder: Folder { path: unpacked.clone() },
        unpacked: Some(unpacked.clone()),
    };
    let name = unpack(path, &unpacked).with_context(|| format!("unpacking {}", path.display()))?;
    opened.folder.path = unpacked.join(name);
    Ok(opened)
}

/// Packs the run in a folder; returns the file and its size in bytes.
///
/// # Errors
/// If the run cannot be read, or the file not be written.
pub fn write(run: &Path, out: Option<&Path>) -> Result<(PathBuf, u64)> {
    let folder = Folder {
        path: run.to_path_buf(),
    };
    // Whoever opens the ticket should not be the first to see that it is no run.
    folder.load()?;
    let name = folder.name();
    let file = out.map_or_else(|| PathBuf::from(format!("{name}{SUFFIX}")), Path::to_path_buf);
    let draft = file.with_extension("draft");
    let written = archive(run, &name, &draft).with_context(|| format!("writing {}", draft.display()));
    if written.is_err() {
        // The first error is what matters.
        let _ = fs::remove_file(&draft);
    }
    written?;
    fs::rename(&draft, &file).with_context(|| format!("writing {}", file.display()))?;
    let bytes = fs::metadata(&file)
        .with_context(|| format!("reading {}", file.display()))?
        .len();
    Ok((file, bytes))
}

fn archive(run: &Path, name: &str, to: &Path) -> Result<()> {
    let gzip = GzEncoder::new(File::create(to)?, Compression::default());
    let mut tar = tar::Builder::new(gzip);
    tar.follow_symlinks(false);
    tar.append_dir_all(name, fs::canonicalize(run)?)?;
    tar.into_inner()?.finish()?.sync_all()?;
    Ok(())
}

/// Unpacks regular files only, all below one folder, whose name is returned.
fn unpack(pack: &Path, to: &Path) -> Result<PathBuf> {
    let unzipped = GzDecoder::new(File::open(pack)?).take(MOST);
    let mut tar = tar::Archive::new(unzipped);
    let mut run: Option<PathBuf> = None;
    for entry in tar.entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.into_owned();
        let Some(Component::Normal(first)) = path.components().next() else {
            bail!("{} does not lie in the run's folder", path.display());
        };
        let of = run.get_or_insert_with(|| PathBuf::from(first));
        if of.as_os_str() != first {
            bail!("it holds {} beside {}: one run a file", path.display(), of.display());
        }
        if !entry.unpack_in(to)? {
            bail!("{} would leave the run's folder", path.display());
        }
    }
    run.context("it holds no run")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary() -> PathBuf {
        let path = std::env::temp_dir().join(format!("zooquake-pack-test-{:016x}", fastrand::u64(..)));
        fs::create_dir_all(path.join("run/logs")).unwrap();
        path
    }

    #[test]
    fn what_was_packed_is_unpacked_as_it_was_and_goes_away() {
        let base = temporary();
        let run = base.join("run");
        fs::write(run.join("plan.json"), r#"{"broken"#).unwrap();
        fs::write(run.join("history.jsonl"), "").unwrap();
        fs::write(run.join("logs/n1.log"), [0, 159, 146, 150]).unwrap();
        let (file, bytes) = write(&run, Some(&base.join(format!("x{SUFFIX}")))).unwrap();
        assert!(bytes > 0);
        let opened = open(&file).unwrap();
        let unpacked = opened.folder.path.clone();
        assert_eq!(opened.folder.name(), "run");
        assert_eq!(fs::read(unpacked.join("logs/n1.log")).unwrap(), [0, 159, 146, 150]);
        assert_eq!(fs::read(unpacked.join("plan.json")).unwrap(), br#"{"broken"#);
        drop(opened);
        assert!(!unpacked.exists());
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn what_is_no_run_is_not_packed() {
        let base = temporary();
        assert!(
            write(&base.join("run"), None)
                .unwrap_err()
                .to_string()
                .contains("lacks")
        );
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_pack_that_is_cut_off_or_climbs_out_is_refused() {
        let base = temporary();
        let torn = base.join("torn.tar.gz");
        fs::write(&torn, [0x1f, 0x8b, 8, 0, 0]).unwrap();
        assert!(open(&torn).is_err());
        let climbing = base.join("climbing.tar.gz");
        let mut tar = tar::Builder::new(GzEncoder::new(File::create(&climbing).unwrap(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..9].copy_from_slice(b"../outlaw");
        header.set_size(0);
        header.set_cksum();
        tar.append(&header, std::io::empty()).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        assert!(open(&climbing).is_err());
        assert!(!base.join("outlaw").exists() && !std::env::temp_dir().join("outlaw").exists());
        fs::remove_dir_all(base).unwrap();
    }
}
