//! What a path on the command line stands for, and what its file holds.

use crate::cli::exit::Usage;
use crate::pack;
use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use zooquake_backend::files;

/// How a history file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Ours: one JSON object a line.
    Jsonl,
    /// Jepsen's maps of operations.
    Edn,
    /// Jepsen's text log.
    Log,
}

impl Format {
    /// The format of a file, by its name, before which it may be compressed (`.edn.gz`).
    pub fn from_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "gz" | "zst" => Self::from_name(Path::new(path.file_stem()?)),
            "jsonl" => Some(Self::Jsonl),
            "edn" => Some(Self::Edn),
            "log" | "txt" => Some(Self::Log),
            _ => None,
        }
    }

    /// The format of such a file that holds this: maps of operations may be in a `.txt` too, as porcupine's are.
    pub fn within(self, content: &[u8]) -> Self {
        match (self, opens(content)) {
            (Self::Log, true) => Self::Edn,
            _ => self,
        }
    }
}

/// Whether a text begins as EDN's collections do, behind a byte order mark, blanks and comments.
fn opens(content: &[u8]) -> bool {
    let text = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b";"));
    first.is_some_and(|line| matches!(line[0], b'{' | b'[' | b'('))
}

/// The most bytes to which a history may unpack; as events they take several times as much memory.
const MOST: u64 = 512 << 20;

/// The most bytes of a file or pipe.
const WHOLE: u64 = 4 << 30;

/// The bytes of a file, unpacked if it was compressed by gzip or zstd, whatever it is called.
///
/// # Errors
/// If it cannot be read, or it unpacks to what is damaged or too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let doing = || format!("unpacking {}", path.display());
    let packed = files::read_or_receive(path, WHOLE).with_context(|| format!("reading {}", path.display()))?;
    let Some(codec) = Codec::from_start(&packed) else {
        return Ok(packed);
    };
    let (mut unpacked, mut rest) = (Vec::new(), packed.as_slice());
    // Several frames may follow each other.
    while !rest.is_empty() && unpacked.len() as u64 <= MOST {
        let reader = codec.reader(&mut rest).with_context(doing)?;
        reader.take(MOST + 1).read_to_end(&mut unpacked).with_context(doing)?;
    }
    if unpacked.len() as u64 > MOST {
        bail!("{} unpacks to more than {} MiB", path.display(), MOST >> 20);
    }
    Ok(unpacked)
}

/// How a file may be compressed.
#[derive(Debug, Clone, Copy)]
enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// What compressed a file that begins so; `None` if it is not compressed.
    fn from_start(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Reads what was compressed; of zstd one frame.
    fn reader<'a>(self, file: impl BufRead + 'a) -> std::io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(file)),
            Self::Zstd => Box::new(StreamingDecoder::new(file).map_err(std::io::Error::other)?),
        })
    }
}

/// The inputs that a path stands for: itself, or all runs, packs and histories in a folder and its folders. What in a
/// folder cannot be read counts as an input, so that it is named when it is checked.
///
/// # Errors
/// If there is nothing at the path, nothing to check in the folder, or the folder cannot be read.
pub fn inputs(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.exists() {
        return Err(Usage(format!("there is nothing at {}", path.display())).into());
    }
    if !path.is_dir() || is_run(path) {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    let mut folders = Vec::new();
    for entry in entries(path).with_context(|| format!("reading {}", path.display()))? {
        sort(entry, &mut found, &mut folders);
    }
    while let Some(folder) = folders.pop() {
        match entries(&folder) {
            Ok(entries) => entries
                .into_iter()
                .for_each(|entry| sort(entry, &mut found, &mut folders)),
            Err(_) => found.push(folder),
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Usage(format!(
            "{} is not a run (it lacks plan.json and history.jsonl) and holds neither runs nor histories",
            path.display()
        ))
        .into());
    }
    Ok(found)
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn sort(entry: PathBuf, found: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) {
    // `latest` and the like are second names of runs that are found anyway.
    if entry.is_symlink() {
        return;
    }
    if is_run(&entry) || pack::is_pack(&entry) || is_history(&entry).unwrap_or(true) {
        found.push(entry);
    } else if entry.is_dir() {
        folders.push(entry);
    }
}

/// Whether a folder is that of a run, though some file of it may be missing.
pub fn is_run(folder: &Path) -> bool {
    ["plan.json", "history.jsonl"]
        .iter()
        .any(|name| folder.join(name).exists())
}

/// How many bytes of a log are looked at.
const START: u64 = 1 << 16;

fn is_history(path: &Path) -> std::io::Result<bool> {
    Ok(match Format::from_name(path) {
        _ if !path.is_file() => false,
        Some(Format::Jsonl | Format::Edn) => true,
        // Many files have this name; one that is not named on the command line must show what it is.
        Some(Format::Log) => {
            let mut file = BufReader::new(File::open(path)?);
            let codec = Codec::from_start(file.fill_buf()?);
            let mut start = Vec::new();
            match codec {
                Some(codec) => codec.reader(file)?.take(START).read_to_end(&mut start)?,
                None => file.take(START).read_to_end(&mut start)?,
            };
            let text = String::from_utf8_lossy(&start);
            text.contains("jepsen.util") || opens(&start) && text.contains(":process")
        }
        None => false,
    })
}
