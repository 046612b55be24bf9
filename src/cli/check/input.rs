//! What a path on the command line stands for, and what its file holds.

use crate::cli::exit::Usage;
use crate::pack;
use anyhow::{Context, Result, bail};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use zooquake_backend::files;
use zooquake_history::textlog;

/// How a history file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON: one object a line, as ours are, or an array of events.
    Json,
    /// Jepsen's maps of operations.
    Edn,
    /// Jepsen's text log.
    Log,
    /// Jepsen's `history.txt`.
    Txt,
}

impl Format {
    /// The format of a file, by its name, before which it may be compressed (`.edn.gz`).
    pub fn from_name(path: &Path) -> Option<Self> {
        match Path::new(stem(path)).extension()?.to_str()? {
            "jsonl" | "json" => Some(Self::Json),
            "edn" => Some(Self::Edn),
            "log" | "txt" => Some(Self::Log),
            _ => None,
        }
    }

    /// The format of such a file that holds this: a `.txt` or `.log` may be any, such as porcupine's maps of
    /// operations.
    pub fn within(self, content: &[u8]) -> Self {
        match self {
            Self::Log if opens_json(content) => Self::Json,
            Self::Log if opens(content) => Self::Edn,
            Self::Log if textlog::is_txt(content) => Self::Txt,
            _ => self,
        }
    }

    /// The format of a file whose name does not say it.
    pub fn of_nameless(content: &[u8]) -> Self {
        match Self::Log.within(content) {
            Self::Log if !textlog::is_log(content) => Self::Json,
            format => format,
        }
    }
}

/// The name of a file before it was compressed.
fn stem(path: &Path) -> &OsStr {
    match path.extension().and_then(OsStr::to_str) {
        Some("gz" | "zst") => path.file_stem(),
        _ => path.file_name(),
    }
    .unwrap_or_default()
}

/// The first line of a text that is neither empty nor a comment of EDN's, behind a byte order mark.
fn first_line(content: &[u8]) -> Option<&[u8]> {
    let text = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty() && !line.starts_with(b";"))
}

/// Whether a text begins as EDN's collections do, with metadata or a tag before.
fn opens(content: &[u8]) -> bool {
    first_line(content).is_some_and(|line| match line {
        [b'{' | b'[' | b'(' | b'^', ..] => true,
        [b'#', next, ..] => next.is_ascii_alphabetic() || b"{:_^".contains(next),
        _ => false,
    })
}

/// Whether a text begins as an object of JSON does, or an array of them.
fn opens_json(content: &[u8]) -> bool {
    let Some(line) = first_line(content) else { return false };
    let start = line.as_ptr() as usize - content.as_ptr() as usize;
    let rest = content[start..].trim_ascii_start();
    let object = rest.strip_prefix(b"[").unwrap_or(rest).trim_ascii_start();
    let name = object.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    name.is_some_and(|name| name.starts_with(b"\""))
}

/// The most bytes to which a history may unpack; as events they take several times as much memory.
const MOST: u64 = 512 << 20;

/// The most bytes of a file or pipe.
const WHOLE: u64 = 4 << 30;

/// The bytes of a file, unpacked if it was compressed by gzip or zstd, whatever it is called. What unpacks to too much
/// is counted, and refused, before it takes any memory.
///
/// # Errors
/// If it cannot be read, or it unpacks to what is damaged or too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let doing = || format!("unpacking {}", path.display());
    let packed = files::read_or_receive(path, WHOLE).with_context(|| format!("reading {}", path.display()))?;
    let Some(codec) = Codec::from_start(&packed) else {
        return Ok(packed);
    };
    let length = codec.unpack(&packed, &mut io::sink()).with_context(doing)?;
    if length > MOST {
        bail!("{} unpacks to more than {} MiB", path.display(), MOST >> 20);
    }
    let mut unpacked = Vec::with_capacity(usize::try_from(length)?);
    codec.unpack(&packed, &mut unpacked).with_context(doing)?;
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

    /// Unpacks a file, whose frames may follow each other, while it has no more bytes than [`MOST`]; with their
    /// number.
    fn unpack(self, mut packed: &[u8], to: &mut impl Write) -> io::Result<u64> {
        let mut length = 0;
        while !packed.is_empty() && length <= MOST {
            length += io::copy(&mut self.reader(&mut packed)?.take(MOST + 1 - length), to)?;
        }
        Ok(length)
    }

    /// Reads what was compressed; of zstd one frame.
    fn reader<'a>(self, file: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(file)),
            Self::Zstd => Box::new(StreamingDecoder::new(file).map_err(io::Error::other)?),
        })
    }
}

/// What is checked: a run's folder, a pack, or a history.
#[derive(Debug, PartialEq, Eq)]
pub struct CheckInput {
    /// Where it is.
    pub path: PathBuf,
    /// Of a history in the folder of a run of Jepsen's, what of the same run stands beside it: the same history in
    /// other notations, and those of its keys.
    pub copies: Vec<PathBuf>,
}

impl From<PathBuf> for CheckInput {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            copies: Vec::new(),
        }
    }
}

/// The files of a run of Jepsen's that have its history. The first one that is there is judged.
const STORED: [&str; 3] = ["history.edn", "history.txt", "jepsen.log"];

/// The folder in which Jepsen stores the histories of independent keys.
const KEYS: &str = "independent";

/// What Jepsen stores beside a history in its notation: what it found, and the test.
const BESIDE: [&str; 2] = [RESULTS, "test.edn"];

/// What Jepsen found of a history.
pub const RESULTS: &str = "results.edn";

/// Whether a file is one that Jepsen stores beside a history, by its name.
pub fn is_beside(path: &Path) -> bool {
    BESIDE.iter().any(|name| stem(path) == *name)
}

/// The inputs that a path stands for: itself, or all runs, packs and histories in a folder and its folders. What in a
/// folder cannot be read counts as an input, so that it is named when it is checked.
///
/// # Errors
/// If there is nothing at the path, nothing to check in the folder, or the folder cannot be read.
pub fn inputs(path: &Path) -> Result<Vec<CheckInput>> {
    if !path.exists() {
        return Err(Usage(format!("there is nothing at {}", path.display())).into());
    }
    if !path.is_dir() || is_run(path) {
        return Ok(vec![path.to_path_buf().into()]);
    }
    let mut found = Vec::new();
    let mut folders = Vec::new();
    take(
        entries(path).with_context(|| format!("reading {}", path.display()))?,
        &mut found,
        &mut folders,
    );
    while let Some(folder) = folders.pop() {
        match entries(&folder) {
            Ok(entries) => take(entries, &mut found, &mut folders),
            Err(_) => found.push(folder.into()),
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    if found.is_empty() {
        return Err(Usage(format!(
            "{} is not a run (it lacks plan.json and history.jsonl) and holds neither runs nor histories",
            path.display()
        ))
        .into());
    }
    Ok(found)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    Ok(entries)
}

/// Takes the inputs and folders out of what is in a folder.
fn take(mut entries: Vec<PathBuf>, found: &mut Vec<CheckInput>, folders: &mut Vec<PathBuf>) {
    // `latest` and the like are second names of runs that are found anyway.
    entries.retain(|entry| !entry.is_symlink());
    let mut stored = Vec::new();
    for name in STORED {
        let is = |entry: &PathBuf| stem(entry) == name && is_history(entry).unwrap_or(true);
        stored.extend(entries.extract_if(.., |entry| is(entry)));
    }
    if !stored.is_empty() {
        stored.extend(entries.extract_if(.., |entry| entry.ends_with(KEYS) && entry.is_dir()));
        let path = stored.remove(0);
        found.push(CheckInput { path, copies: stored });
    }
    for entry in entries {
        if is_run(&entry) || pack::is_pack(&entry) || is_history(&entry).unwrap_or(true) {
            found.push(entry.into());
        } else if entry.is_dir() {
            folders.push(entry);
        }
    }
}

/// Whether a folder is that of a run, though some file of it may be missing.
pub fn is_run(folder: &Path) -> bool {
    ["plan.json", "history.jsonl"]
        .iter()
        .any(|name| folder.join(name).exists())
}

/// How many bytes are looked at of a file whose name does not say that it is a history.
const START: u64 = 1 << 16;

/// How many of a `jepsen.log`: what sets up the nodes is logged before the first event.
const LOGGED: u64 = 64 << 20;

fn is_history(path: &Path) -> io::Result<bool> {
    if !path.is_file() || is_beside(path) {
        return Ok(false);
    }
    let named = |end: &str| {
        Path::new(stem(path))
            .extension()
            .is_some_and(|extension| extension == end)
    };
    Ok(match Format::from_name(path) {
        Some(Format::Edn) => true,
        Some(Format::Json) if named("jsonl") => !is_record(&start(path, START)?),
        // Many files have these names; one that is not named on the command line must show what it is.
        Some(Format::Json) => has_events(&start(path, START)?, "\"process\""),
        Some(Format::Log | Format::Txt) => {
            let most = if stem(path) == STORED[2] { LOGGED } else { START };
            let start = start(path, most)?;
            match Format::Log.within(&start) {
                Format::Txt => true,
                Format::Json => has_events(&start, "\"process\""),
                Format::Edn => has_events(&start, ":process"),
                Format::Log => textlog::is_log(&start),
            }
        }
        None => false,
    })
}

/// Whether maps have the field that each event has.
fn has_events(start: &[u8], process: &str) -> bool {
    (opens(start) || opens_json(start)) && String::from_utf8_lossy(start).contains(process)
}

/// Whether a file of JSON lines is the record of a campaign or a corpus, and no history.
pub fn is_record(start: &[u8]) -> bool {
    let line = first_line(start).unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(usize::from(u16::MAX))]);
    line.starts_with("{\"line\":") || line.starts_with("{\"format\":") && line.contains("\"space\":")
}

/// The first bytes of a file, unpacked.
fn start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = BufReader::new(File::open(path)?);
    let codec = Codec::from_start(file.fill_buf()?);
    let mut start = Vec::new();
    match codec {
        Some(codec) => codec.reader(file)?.take(most).read_to_end(&mut start)?,
        None => file.take(most).read_to_end(&mut start)?,
    };
    Ok(start)
}
