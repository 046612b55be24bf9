//! The parts of a campaign, read from their folders; those that do not belong together are refused.

use crate::campaign::attempt::{CampaignAttempt, CampaignPlace};
use crate::campaign::ledger::{self, CampaignHeader, ForeignRecord, LedgerContent};
use crate::campaign::shard::Shard;
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use zooquake_backend::files;

/// What a part of a campaign is.
pub trait PartHeader: CampaignHeader {
    /// Name of the record's file in the campaign's folder.
    const FILE: &str;

    /// Which part it is; `None` of a whole.
    fn part(&self) -> Option<Shard>;

    /// What keeps two parts from being those of one campaign, in words, with both values; `None` if nothing does.
    fn difference(&self, other: &Self) -> Option<String>;

    /// When it began.
    fn begun(&self) -> &str;

    /// The header of the whole that begins with this part.
    fn whole(&self) -> Self;
}

#[derive(Debug)]
pub struct CampaignPart<H, P: CampaignPlace> {
    pub folder: PathBuf,
    pub shard: Shard,
    pub content: LedgerContent<H, CampaignAttempt<P>>,
}

/// Reads the parts in these folders, in the order of their numbers.
///
/// # Errors
/// [`ForeignRecord`] if one is no part, is still going on, is there twice, or does not belong to the first; otherwise
/// if a record cannot be read.
pub fn read<H: PartHeader, P: CampaignPlace>(folders: &[PathBuf]) -> Result<Vec<CampaignPart<H, P>>> {
    let mut parts = Vec::new();
    for folder in folders {
        parts.push(one(folder)?);
    }
    parts.sort_by_key(|part: &CampaignPart<H, P>| part.shard.first());
    for (at, part) in parts.iter().enumerate() {
        if let Some(why) = parts[..at].iter().find_map(|other| apart(other, part)) {
            return Err(ForeignRecord(why).into());
        }
    }
    Ok(parts)
}

/// The header of the whole, which began with the first of its parts.
///
/// # Errors
/// If there are no parts.
pub fn whole<H: PartHeader, P: CampaignPlace>(parts: &[CampaignPart<H, P>]) -> Result<H> {
    let headers = parts.iter().map(|part| &part.content.header);
    let first = headers.min_by_key(|header| header.begun());
    Ok(first.context("there are no parts")?.whole())
}

fn one<H: PartHeader, P: CampaignPlace>(folder: &Path) -> Result<CampaignPart<H, P>> {
    let path = folder.join(H::FILE);
    let reading = || format!("reading {}", path.display());
    let file = File::open(&path).with_context(reading)?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(ForeignRecord(format!(
                "the {} in {folder:?} is still going on: merge it when it has ended",
                H::WHAT
            ))
            .into());
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(reading),
    }
    let text = files::read(&path, files::RECORD).with_context(reading)?;
    let content = ledger::read::<H, CampaignAttempt<P>>(&text).with_context(reading)?;
    let content = content.ok_or_else(|| {
        ForeignRecord(format!(
            "{path:?} has no first line: its {} was cut off before it began; leave it out",
            H::WHAT
        ))
    })?;
    match content.header.part() {
        Some(shard) => Ok(CampaignPart {
            folder: folder.to_path_buf(),
            shard,
            content,
        }),
        None => Err(ForeignRecord(format!(
            "the {} in {folder:?} is no part, but a whole: give folders that were made with --shard K/N",
            H::WHAT
        ))
        .into()),
    }
}

/// Why two parts cannot be merged; `None` if they can.
fn apart<H: PartHeader, P: CampaignPlace>(one: &CampaignPart<H, P>, other: &CampaignPart<H, P>) -> Option<String> {
    let (here, there) = (&one.folder, &other.folder);
    if one.shard == other.shard {
        let shard = one.shard;
        return Some(format!(
            "{here:?} and {there:?} both have part {shard}: give one of them"
        ));
    }
    if !one.shard.is_sibling(other.shard) {
        let (part, another) = (one.shard, other.shard);
        return Some(format!(
            "{here:?} has part {part} and {there:?} has part {another}: give parts of one division"
        ));
    }
    let difference = one.content.header.difference(&other.content.header)?;
    let what = H::WHAT;
    Some(format!(
        "{here:?} and {there:?} are no parts of one {what}, since {difference}: give parts of one {what}"
    ))
}
