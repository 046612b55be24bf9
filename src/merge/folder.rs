//! The folder of the whole: the runs of all parts, and one record.

use super::parts::{CampaignPart, PartHeader};
use crate::campaign::attempt::{CampaignAttempt, CampaignPlace};
use crate::campaign::ledger::{self, LedgerContent};
use crate::campaign::run_outcome::folders;
use crate::run::folder::entries;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;
use zooquake_backend::files;

/// What stands in the folder of the whole while it is being made: the parts that it is made of, and the run that is
/// being copied.
const UNDER_WAY: &str = ".merging";

/// Whether the folder of the whole may be made here, of these parts.
#[derive(Debug, PartialEq, Eq)]
pub enum WholeFolder {
    /// It is empty, or not there.
    Empty,
    /// It was begun of these parts, and not ended.
    Begun,
    /// It was begun of other parts.
    OfOthers,
    /// It holds something else.
    Taken,
}

/// Looks at what is in the folder of the whole.
///
/// # Errors
/// If it cannot be read.
pub fn look(out: &Path, parts: &[PathBuf]) -> Result<WholeFolder> {
    if entries(out)?.is_empty() {
        return Ok(WholeFolder::Empty);
    }
    let marker = marker(out);
    if !marker.is_file() {
        return Ok(WholeFolder::Taken);
    }
    let text = files::read_to_string(&marker, files::SETTINGS).context("reading which parts it was begun of")?;
    Ok(match text == named(parts)? {
        true => WholeFolder::Begun,
        false => WholeFolder::OfOthers,
    })
}

/// Marks the folder of the whole as begun, of these parts.
fn begin(out: &Path, parts: &[PathBuf]) -> Result<()> {
    fs::create_dir_all(out.join(UNDER_WAY))?;
    Ok(zooquake_reports::publish(&marker(out), named(parts)?)?)
}

/// Marks it as whole, if it was begun.
///
/// # Errors
/// If the mark cannot be removed.
pub fn end(out: &Path) -> Result<()> {
    let under_way = out.join(UNDER_WAY);
    match under_way.is_dir() {
        true => Ok(fs::remove_dir_all(under_way)?),
        false => Ok(()),
    }
}

fn marker(out: &Path) -> PathBuf {
    out.join(UNDER_WAY).join("parts.json")
}

fn named(parts: &[PathBuf]) -> Result<String> {
    let whole = parts.iter().map(std::path::absolute);
    let whole: BTreeSet<PathBuf> = whole.collect::<std::io::Result<_>>()?;
    Ok(serde_json::to_string(&whole)?)
}

/// Makes the folder of the whole, which must be empty, not there, or [begun of these parts: copies the runs of
/// all parts into it that are not in it yet, then writes the record, so that what is interrupted has none. Returns the
/// record's content, attempts in the order of their beginnings; `closed` is whether nothing of the whole is left to be
/// run.
///
/// # Errors
/// If something cannot be read or written.
pub fn make<H: PartHeader, P: CampaignPlace>(
    parts: Vec<CampaignPart<H, P>>,
    header: H,
    closed: bool,
    out: &Path,
) -> Result<LedgerContent<H, CampaignAttempt<P>>> {
    let folders: Vec<PathBuf> = parts.iter().map(|part| part.folder.clone()).collect();
    begin(out, &folders).with_context(|| format!("writing into {}", out.display()))?;
    let runs = out.join("runs");
    fs::create_dir_all(&runs).with_context(|| format!("making the folder {}", runs.display()))?;
    let (mut attempts, mut taken) = (Vec::new(), BTreeSet::new());
    let draft = out.join(UNDER_WAY).join("run");
    for part in parts {
        let mut own = part.content.attempts;
        let from = part.folder.join("runs");
        let left_out = carry(&from, (&runs, &draft), &mut taken, &mut own)?;
        if left_out > 0 {
            eprintln!(
                "zooquake: {} has {} that is no file and no folder, such as a link: not copied",
                from.display(),
                count(left_out, "entry", "entries")
            );
        }
        attempts.extend(own);
    }
    attempts.sort_by(|one, other| one.begun.cmp(&other.begun));
    let content = LedgerContent {
        header: header.begin(),
        attempts,
        closed,
    };
    let path = out.join(H::FILE);
    zooquake_reports::publish(&path, ledger::text(&content)?).with_context(|| format!("writing {}", path.display()))?;
    Ok(content)
}

/// Copies the runs of one part, also those that no attempt has. One whose name is taken by a run of another part gets a
/// number behind it. A run is copied as a draft and then has its name, so that one with a name is whole. Returns how
/// many entries were left out.
fn carry<P: CampaignPlace>(
    from: &Path,
    (to, draft): (&Path, &Path),
    taken: &mut BTreeSet<String>,
    attempts: &mut [CampaignAttempt<P>],
) -> Result<usize> {
    let names = match fs::symlink_metadata(from).is_ok_and(|there| there.is_dir()) {
        true => folders(from)?,
        false => Vec::new(),
    };
    let mut left_out = 0;
    for name in names {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        let new = free.find(|new| !taken.contains(new)).unwrap_or_else(|| name.clone());
        if !to.join(&new).exists() {
            if draft.exists() {
                fs::remove_dir_all(draft).with_context(|| format!("removing {}", draft.display()))?;
            }
            left_out += copy(&from.join(&name), draft)?;
            fs::rename(draft, to.join(&new)).with_context(|| format!("writing {}", to.join(&new).display()))?;
        }
        if new != name {
            attempts
                .iter_mut()
                .filter(|attempt| attempt.run.as_ref() == Some(&name))
                .for_each(|attempt| attempt.run = Some(new.clone()));
        }
        taken.insert(new);
    }
    let gone = attempts.iter().filter_map(|attempt| attempt.run.as_ref());
    let gone = gone.filter(|run| !to.join(run).is_dir()).count();
    if gone > 0 {
        eprintln!(
            "zooquake: of {gone} runs {} has no folder: what came of them is on record, and links to them lead nowhere",
            from.display()
        );
    }
    Ok(left_out)
}

/// Copies a folder with all files and folders in it. What is neither is left out: who wrote the part decides where
/// a link leads. Returns how many entries were.
fn copy(from: &Path, to: &Path) -> Result<usize> {
    let mut left_out = 0;
    for entry in WalkDir::new(from) {
        let entry = entry.with_context(|| format!("reading {}", from.display()))?;
        let path = entry.path().strip_prefix(from).unwrap_or(entry.path());
        // The folder itself has no name below itself.
        let target = if path.as_os_str().is_empty() {
            to.to_path_buf()
        } else {
            to.join(path)
        };
        let copied = match entry.file_type() {
            kind if kind.is_dir() => fs::create_dir_all(&target),
            kind if kind.is_file() => fs::copy(entry.path(), &target).map(drop),
            _ => {
                left_out += 1;
                Ok(())
            }
        };
        copied.with_context(|| format!("copying {} to {}", entry.path().display(), target.display()))?;
    }
    Ok(left_out)
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::run_outcome::folders;
    use crate::nightly::cell::Cell;
    use crate::nightly::cell::tests::ended;
    use crate::nightly::folder::tests::header;

    /// A part in a folder, with a run `r1` whose page has this text.
    fn part(
        at: &Path,
        shard: &str,
        text: &str,
        seed: u64,
        begun: &str,
    ) -> CampaignPart<crate::nightly::header::NightHeader, Cell> {
        let run = at.join("runs/r1");
        fs::create_dir_all(run.join("logs")).unwrap();
        fs::write(run.join("report.html"), text).unwrap();
        fs::write(run.join("logs/n1.log"), text).unwrap();
        std::os::unix::fs::symlink("r1", at.join("runs/latest")).unwrap();
        let mut attempt = ended("valid", "pause", seed);
        (attempt.run, attempt.begun) = (Some("r1".into()), begun.into());
        CampaignPart {
            folder: at.to_path_buf(),
            shard: shard.parse().unwrap(),
            content: LedgerContent {
                header: header("2026-11-20"),
                attempts: vec![attempt],
                closed: true,
            },
        }
    }

    #[test]
    fn runs_of_one_name_are_both_kept_and_each_attempt_has_its_own() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let parts = vec![
            part(&at("a"), "1/2", "first", 1, "2026-11-20T02:00:00Z"),
            part(&at("b"), "2/2", "second", 2, "2026-11-20T01:00:00Z"),
        ];
        let (hidden, folders_of_parts) = (at("hidden"), [at("a"), at("b")]);
        fs::write(&hidden, "of the machine").unwrap();
        std::os::unix::fs::symlink(&hidden, at("a/runs/r1/secret")).unwrap();
        std::os::unix::fs::symlink(home.path(), at("a/runs/r0")).unwrap();
        assert_eq!(look(&at("out"), &folders_of_parts).unwrap(), WholeFolder::Empty);
        begin(&at("out"), &folders_of_parts).unwrap();
        // It was killed while it copied: one run is there, of another a half.
        fs::create_dir_all(at("out/runs/r1")).unwrap();
        fs::write(at("out/runs/r1/report.html"), "first").unwrap();
        fs::create_dir_all(at("out/.merging/run/half")).unwrap();
        assert_eq!(look(&at("out"), &folders_of_parts).unwrap(), WholeFolder::Begun);
        assert_eq!(look(&at("out"), &folders_of_parts[..1]).unwrap(), WholeFolder::OfOthers);
        let whole = make(parts, header("2026-11-20"), true, &at("out")).unwrap();
        end(&at("out")).unwrap();
        assert_eq!(look(&at("out"), &folders_of_parts).unwrap(), WholeFolder::Taken);
        assert!(
            !at("out/runs/r1-2/half").exists() && !at("out/runs/r0").exists() && !at("out/runs/r1/secret").exists()
        );
        let runs: Vec<_> = whole
            .attempts
            .iter()
            .map(|attempt| (attempt.place.seed, attempt.run.clone()))
            .collect();
        assert_eq!(
            runs,
            [(2, Some("r1-2".into())), (1, Some("r1".into()))],
            "the earlier first"
        );
        let read = |path: &str| fs::read_to_string(at(path)).unwrap();
        assert_eq!(
            (read("out/runs/r1/report.html"), read("out/runs/r1-2/logs/n1.log")),
            ("first".into(), "second".into())
        );
        assert_eq!(folders(&at("out/runs")).unwrap(), ["r1", "r1-2"]);
        assert_eq!(folders(&at("b/runs")).unwrap(), ["r1"], "the parts stay as they were");
        let record = fs::read(at("out/night.jsonl")).unwrap();
        let again = ledger::read::<_, CampaignAttempt<Cell>>(&record).unwrap().unwrap();
        assert_eq!(again, whole);
    }
}
