//! The folder of a run, and reading it back.

use crate::calendar;
use crate::pack::budget::ByteBudget;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, DirEntry};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use zooquake_backend::files;
use zooquake_checkers::Results;
use zooquake_history::{
    Record,
    files::{Files, Log},
    plan::Plan,
};
use zooquake_reports::publish;

/// The file with the label, and its value, that a run's containers, networks and volumes carry.
pub const CONTAINERS: &str = "containers.json";

/// The folder in which a run keeps the files of a recipe that is not built in.
pub const RECIPE: &str = "recipe";

/// The files of a run, by name. Evidence may be compressed, each file by itself, with `.gz` after its name.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
}

impl Folder {
    /// Makes the folder of a new run under `out`, and points the link `latest` at it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(out: &Path, plan: &Plan) -> Result<Self> {
        let now = calendar::compact();
        let workload = &plan.workload;
        let base = format!("{now}-{}-{}-{}", workload.family, workload.variant, plan.seed);
        fs::create_dir_all(out).with_context(|| format!("making the folder {}", out.display()))?;
        for attempt in 1..100 {
            // A run that begins in the same second as another of the same seed gets a number.
            let name = if attempt == 1 {
                base.clone()
            } else {
                format!("{base}-{attempt}")
            };
            let path = out.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    fs::create_dir(path.join("logs")).context("making the folder for logs")?;
                    link_latest(out, &name);
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("making the folder {}", path.display())),
            }
        }
        bail!("{} has a hundred runs of this second already", out.display())
    }

    /// Points the link `latest`, beside the folder, at it.
    pub fn make_latest(&self) {
        if let Some(out) = self.path.parent() {
            link_latest(out, &self.name());
        }
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Name of the run: that of its folder.
    pub fn name(&self) -> String {
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        path.file_name().map_or_else(
            || self.path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// Writes a file as JSON, in full or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(value).with_context(|| format!("writing {name} as JSON"))?;
        text.push(b'\n');
        self.write(name, &text)
    }

    /// Writes a file with one JSON value a line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_jsonl<T: Serialize>(&self, name: &str, values: &[T]) -> Result<()> {
        let mut text = Vec::new();
        for value in values {
            serde_json::to_writer(&mut text, value).with_context(|| format!("writing {name} as JSON"))?;
            text.push(b'\n');
        }
        self.write(name, &text)
    }

    fn write(&self, name: &str, text: &[u8]) -> Result<()> {
        let path = self.file(name);
        publish(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// The files without which there is nothing to check and that it does not have.
    pub fn lacks(&self) -> Vec<&'static str> {
        let mut files = vec!["plan.json", "history.jsonl"];
        files.retain(|name| !self.file(name).exists() && !self.file(&compressed(name)).exists());
        files
    }

    /// Reads all that a verdict rests on. What is missing or damaged is noted in the record and forbids `valid`.
    ///
    /// # Errors
    /// If the plan or the history is missing, without which there is nothing to check, or the plan is of a format that
    /// is not known.
    pub fn load(&self) -> Result<Record> {
        if !self.path.is_dir() {
            bail!("{} is not a run folder", self.path.display());
        }
        let lacks = self.lacks();
        if !lacks.is_empty() {
            bail!("the run folder {} lacks {}", self.path.display(), lacks.join(" and "));
        }
        let record = Record::read(Files {
            plan: self.read("plan.json")?.as_deref(),
            history: self.read("history.jsonl")?.as_deref(),
            tree: self.read("tree.json")?.as_deref(),
            txnlog: self.read("txnlog.jsonl")?.as_deref(),
            txnlogs: self.read("txnlogs.json")?.as_deref(),
            servers: self.read("servers.jsonl")?.as_deref(),
            messages: self.read("messages.jsonl")?.as_deref(),
            logs: Some(&self.logs_of('n', "logs")?),
            scenes: &self.scene_logs()?,
            clients: &self.logs_of('c', "logs")?,
            provenance: self.read("provenance.json")?.as_deref(),
        });
        if let Some(why) = record.plan.unknown_format() {
            bail!("{} {why}", self.file("plan.json").display());
        }
        Ok(record)
    }

    /// The servers' logs of each scene, if it is a run of scenes: each has a folder of its own.
    fn scene_logs(&self) -> Result<Vec<(String, Vec<Log>)>> {
        let mut scenes = Vec::new();
        for entry in self.entries("logs")? {
            if entry.path().is_dir() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let logs = self.logs_of('n', &format!("logs/{name}"))?;
                scenes.push((name, logs));
            }
        }
        Ok(scenes)
    }

    /// What is in one of its folders; nothing if there is no such folder.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn entries(&self, folder: &str) -> Result<Vec<DirEntry>> {
        let path = self.file(folder);
        entries(&path).with_context(|| format!("reading {}", path.display()))
    }

    /// The logs of servers (`n`) or clients (`c`) in one of its folders, each with the name of its node, in the order
    /// of their numbers; none if there is no such folder.
    fn logs_of(&self, kind: char, folder: &str) -> Result<Vec<Log>> {
        let mut numbers = Vec::new();
        for entry in self.entries(folder)? {
            let number = |name: &str| {
                let name = name.strip_suffix(COMPRESSED).unwrap_or(name);
                name.strip_prefix(kind)?.strip_suffix(".log")?.parse::<u32>().ok()
            };
            numbers.extend(entry.file_name().to_str().and_then(number));
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut logs = Vec::new();
        for number in numbers {
            let node = format!("{kind}{number}");
            let log = self.read(&format!("{folder}/{node}.log"))?;
            logs.extend(log.map(|bytes| (node, bytes)));
        }
        Ok(logs)
    }

    /// The plan.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn plan(&self) -> Result<Plan> {
        self.document("plan.json")
    }

    /// The results that were written last.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn results(&self) -> Result<Results> {
        self.document("results.json")
    }

    fn document<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.file(name);
        let doing = || format!("reading {}", path.display());
        serde_json::from_slice(&files::read(&path, DOCUMENT).with_context(doing)?).with_context(doing)
    }

    /// The contents of a file; `None` if it is not there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.file(name);
        match files::read(&path, EVIDENCE) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => self.read_compressed(name),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    fn read_compressed(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.file(&compressed(name));
        let doing = || format!("reading {}", path.display());
        let file = match files::open(&path, EVIDENCE) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(doing),
        };
        let packed = file.metadata().with_context(doing)?.len();
        let unpacked = || ByteBudget::of_file(packed).metered(GzDecoder::new(&file));
        // What becomes too large is counted, and refused, before it takes any memory.
        let length = io::copy(&mut unpacked(), &mut io::sink()).with_context(doing)?;
        (&file).rewind().with_context(doing)?;
        let mut bytes = Vec::with_capacity(usize::try_from(length)?);
        unpacked().read_to_end(&mut bytes).with_context(doing)?;
        Ok(Some(bytes))
    }

    /// Compresses a file, which is then read as before; nothing is done if it is compressed already or not there.
    ///
    /// # Errors
    /// If it cannot be read, written or removed.
    pub fn compress(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        let doing = || format!("compressing {}", path.display());
        let bytes = match files::read(&path, EVIDENCE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(doing),
        };
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&bytes).with_context(doing)?;
        self.write(&compressed(name), &gzip.finish().with_context(doing)?)?;
        fs::remove_file(&path).with_context(doing)
    }
}

/// What is in a folder; nothing if there is no such folder.
///
/// # Errors
/// If it cannot be read.
pub fn entries(folder: &Path) -> std::io::Result<Vec<DirEntry>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.collect(),
    }
}

/// Most bytes of a plan or of results.
const DOCUMENT: u64 = 256 << 20;

/// Most bytes of a history, of a log, or of other evidence: all of it is held in memory.
const EVIDENCE: u64 = 4 << 30;

/// What the name of a file ends in when it is compressed.
const COMPRESSED: &str = ".gz";

fn compressed(name: &str) -> String {
    format!("{name}{COMPRESSED}")
}

/// Points `latest` at the run. A file system without links has none, which takes nothing from the run.
fn link_latest(out: &Path, name: &str) {
    let link = out.join("latest");
    if link.is_symlink() && fs::remove_file(&link).is_err() {
        return;
    }
    #[cfg(unix)]
    let _ = std::os::unix::fs::symlink(name, &link);
}
