//! `zooquake merge`

use super::exit::{Code, Usage};
use super::paths::OutputKind;
use super::{compare, nightly, paths};
use crate::campaign::engine::CampaignEnd;
use crate::compare::drive::ComparisonLedger;
use crate::compare::header::ComparisonHeader;
use crate::compare::order::Turn;
use crate::compare::report as comparison_report;
use crate::explore::{corpus, merged_corpus};
use crate::merge::folder::WholeFolder;
use crate::merge::parts::{CampaignPart, PartHeader};
use crate::merge::{folder, gaps, parts};
use crate::nightly::cell::Cell;
use crate::nightly::folder::name_of;
use crate::nightly::header::NightHeader;
use crate::nightly::previous_nights::{self, NightRecord};
use crate::nightly::report::night_report;
use crate::planning::values;
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};

/// `merge`
#[derive(Debug, Args)]
#[command(after_help = "\
Makes one night of the parts that `nightly --shard` made: one page, JUnit file and summary, and the exit code that the whole would
have had. Likewise one comparison of the parts that `compare --shard` made, and one corpus of those of `explore --shard --corpus`.
Runs are copied, and the parts stay as they are. Parts that are there twice, or of another campaign, date, division or version are
refused; cells of parts that are missing or were cut off are not run, which is stated.

Exit codes: of a night those of `nightly`, of a comparison those of `compare`; 2 also if a part is missing or was cut off; 254 for
parts that do not belong together.

Examples:
  zooquake merge parts/* --out nights/2026-11-27 --junit junit.xml
  zooquake merge compare-1 compare-2 --out compare
  zooquake merge corpus-1 corpus-2 --out corpus")]
pub struct MergeOptions {
    /// Folders of the parts: of nights, of comparisons, or of corpora
    #[arg(required = true, value_name = "DIR")]
    pub parts: Vec<PathBuf>,
    /// The folder of the whole, which must be empty or not there, or begun of the same parts and not ended
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The share of a night's cells that must be run at least, from 0 to 1; the largest that the parts were given if
    /// not given
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub require: Option<f64>,
    /// Write a night's JUnit file also here
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// JSON on stdout: what `nightly` or `compare` prints, or the parts of a corpus
    #[arg(long)]
    pub json: bool,
}

/// What folders may be parts of, each with its record's file.
const KINDS: [&str; 3] = [NightHeader::FILE, ComparisonHeader::FILE, corpus::FILE];

/// Merges the parts, reports, and returns the exit code of the whole.
///
/// # Errors
/// [`Usage`] for folders that are no parts, or do not belong together; otherwise if something cannot be read or
/// written.
pub fn merge(options: &MergeOptions) -> Result<Code> {
    let kind = kind(&options.parts)?;
    empty(options)?;
    if let Some(junit) = &options.junit {
        let way_out = "give another --junit FILE";
        paths::output_file_in_new_folder(junit, way_out)?;
        paths::replaceable(junit, OutputKind::Junit, &[], way_out)?;
    }
    if kind != NightHeader::FILE && (options.junit.is_some() || options.require.is_some()) {
        return Err(Usage("--junit and --require go with parts of a night".into()).into());
    }
    let code = match kind {
        NightHeader::FILE => night(options),
        ComparisonHeader::FILE => comparison(options),
        _ => explored(options),
    }?;
    folder::end(&options.out).with_context(|| format!("writing into {}", options.out.display()))?;
    Ok(code)
}

/// The file that all the folders have a record in.
fn kind(folders: &[PathBuf]) -> Result<&'static str, Usage> {
    let way_out = "give folders that `nightly`, `compare` or `explore --corpus` made with --shard";
    let mut all: Vec<(&Path, &'static str)> = Vec::new();
    for folder in folders {
        paths::readable(folder, way_out)?;
        match KINDS.into_iter().find(|kind| folder.join(kind).is_file()) {
            Some(kind) => all.push((folder, kind)),
            None => {
                let files = KINDS.join(", ");
                return Err(Usage(format!("{folder:?} has none of {files}: {way_out}")));
            }
        }
    }
    let (first, kind) = all[0];
    match all.iter().find(|(_, other)| *other != kind) {
        None => Ok(kind),
        Some((folder, other)) => Err(Usage(format!(
            "{first:?} has {kind} and {folder:?} has {other}: give parts of one kind"
        ))),
    }
}

/// Refuses a folder for the whole that has anything in it but a beginning of this whole, or lies in a part.
fn empty(options: &MergeOptions) -> Result<()> {
    let out = &options.out;
    paths::output_folder(out, "--out")?;
    let whole = std::path::absolute(out).unwrap_or_else(|_| out.clone());
    for part in &options.parts {
        let part = std::path::absolute(part).unwrap_or_else(|_| part.clone());
        if whole.starts_with(&part) {
            return Err(Usage(format!(
                "{out:?} lies in the part {part:?}, which stays as it is: give another --out"
            ))
            .into());
        }
    }
    let way_out = "give another --out, or remove what is in it";
    match folder::look(out, &options.parts).with_context(|| format!("reading {}", out.display()))? {
        WholeFolder::Empty => Ok(()),
        WholeFolder::Begun => {
            progress!("{} was begun and not ended: it is gone on with", out.display());
            Ok(())
        }
        WholeFolder::OfOthers => {
            Err(Usage(format!("{out:?} was begun of other parts, and not ended: {way_out}")).into())
        }
        WholeFolder::Taken => Err(Usage(format!("{out:?} is not empty: {way_out}")).into()),
    }
}

fn night(options: &MergeOptions) -> Result<Code> {
    let parts: Vec<CampaignPart<NightHeader, Cell>> = parts::read(&options.parts)?;
    let mut header = parts::whole(&parts)?;
    let asked = parts
        .iter()
        .map(|part| part.content.header.require)
        .max_by(f64::total_cmp);
    header.require = options.require.or(asked).unwrap_or(header.require);
    let gaps = gaps::night(&parts);
    let content = folder::make(parts, header, gaps.is_empty(), &options.out)?;
    let earlier = previous_nights::earlier(&options.out, &content.header)?;
    let tonight = NightRecord::new(name_of(&options.out), &content);
    let report = night_report(&content.header, &tonight, &earlier, CampaignEnd::Through, gaps);
    nightly::finish(options.junit.as_deref(), options.json, &options.out, &report)
}

fn comparison(options: &MergeOptions) -> Result<Code> {
    let parts: Vec<CampaignPart<ComparisonHeader, Turn>> = parts::read(&options.parts)?;
    let header = parts::whole(&parts)?;
    let gaps = gaps::comparison(&parts);
    let content = folder::make(parts, header, false, &options.out)?;
    let ledger = ComparisonLedger::open(&options.out, content.header)?;
    let comparison = comparison_report::comparison(&ledger).map_err(Usage)?;
    compare::finish((&options.out, options.json), &ledger, &comparison)?;
    gaps.iter().for_each(|gap| eprintln!("{gap}"));
    let failed = comparison.runs.iter().filter(|run| run.verdict.is_none()).count();
    Ok(match (failed, gaps.is_empty()) {
        (0, true) => Code::Valid,
        (0, false) => Code::Unknown,
        _ => {
            eprintln!("the harness failed in {failed} runs");
            Code::Harness
        }
    })
}

fn explored(options: &MergeOptions) -> Result<Code> {
    let merged = merged_corpus::merge(&options.parts, &options.out)?;
    for remark in &merged.remarks {
        eprintln!("{remark}");
    }
    if options.json {
        let value = serde_json::json!({ "corpus": options.out, "explored": merged.shards, "remarks": merged.remarks });
        crate::output::json(&value)?;
    } else {
        for (shard, until) in &merged.shards {
            println!("part {shard}: {until} schedules");
        }
        println!("{}", options.out.display());
    }
    Ok(if merged.whole { Code::Valid } else { Code::Unknown })
}
