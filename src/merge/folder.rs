//! The folder of the whole: the runs of all parts, and one record.

use super::parts::{CampaignPart, PartHeader};
use crate::campaign::attempt::{CampaignAttempt, CampaignPlace};
use crate::campaign::ledger::{self, LedgerContent};
use crate::campaign::run_outcome::folders;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use walkdir::WalkDir;

/// Makes the folder of the whole, which must be empty or not there: copies the runs of all parts into it, then writes
/// the record, so that what is interrupted has none. Returns the record's content, attempts in the order of their
/// beginnings; `closed` is whether nothing of the whole is left to be run.
///
/// # Errors
/// If something cannot be read or written.
pub fn make<H: PartHeader, P: CampaignPlace>(
    parts: Vec<CampaignPart<H, P>>,
    header: H,
    closed: bool,
    out: &Path,
) -> Result<LedgerContent<H, CampaignAttempt<P>>> {
    let runs = out.join("runs");
    fs::create_dir_all(&runs).with_context(|| format!("making the folder {}", runs.display()))?;
    let (mut attempts, mut taken) = (Vec::new(), BTreeSet::new());
    for part in parts {
        let mut own = part.content.attempts;
        carry(&part.folder.join("runs"), &runs, &mut taken, &mut own)?;
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
/// number behind it.
fn carry<P: CampaignPlace>(
    from: &Path,
    to: &Path,
    taken: &mut BTreeSet<String>,
    attempts: &mut [CampaignAttempt<P>],
) -> Result<()> {
    let names = match from.is_dir() {
        true => folders(from)?,
        false => Vec::new(),
    };
    for name in names {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        let new = free.find(|new| !taken.contains(new)).unwrap_or_else(|| name.clone());
        copy(&from.join(&name), &to.join(&new))?;
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
    Ok(())
}

/// Copies a folder with all that is in it; links stay links.
fn copy(from: &Path, to: &Path) -> Result<()> {
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
            kind if kind.is_symlink() => {
                fs::read_link(entry.path()).and_then(|link| std::os::unix::fs::symlink(link, &target))
            }
            _ => fs::copy(entry.path(), &target).map(drop),
        };
        copied.with_context(|| format!("copying {} to {}", entry.path().display(), target.display()))?;
    }
    Ok(())
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
        let whole = make(parts, header("2026-11-20"), true, &at("out")).unwrap();
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
