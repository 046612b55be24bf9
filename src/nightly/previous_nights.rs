//! Earlier nights: what they saw, for the order of tonight's cells and for trends.

use super::cell::{self, Cell, CellAttempt};
use super::folder::{self, LedgerContent};
use super::header::NightHeader;
use super::seeds::NightSeed;
use crate::campaign::ledger;
use crate::run::folder::entries;
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use zooquake_backend::files;
use zooquake_reports::night::CellOutcome;

/// How many earlier nights are looked at.
const NIGHTS: usize = 29;

/// A night that is over, or the attempts of this one so far.
#[derive(Debug, Clone)]
pub struct NightRecord {
    pub name: String,
    /// The date, in UTC, that its seeds are drawn from.
    pub date: String,
    /// When it began.
    pub begun: String,
    /// Its matrix, or its part of it.
    pub cells: Vec<Cell>,
    /// Its runs.
    pub attempts: Vec<CellAttempt>,
}

impl NightRecord {
    /// A night from its record.
    pub fn new(name: String, recorded: &LedgerContent) -> Self {
        Self {
            name,
            date: recorded.header.date().to_string(),
            begun: recorded.header.begun.clone(),
            cells: recorded.header.cells(),
            attempts: recorded.attempts.clone(),
        }
    }

    /// Its runs of a cell.
    pub fn attempts_at(&self, cell: &Cell) -> Vec<&CellAttempt> {
        self.attempts
            .iter()
            .filter(|attempt| attempt.place.is_same(cell))
            .collect()
    }

    /// The runs with a verdict of a variant under faults, whatever the seed.
    pub fn judged(&self, variant: &str, faults: &str) -> impl Iterator<Item = &CellAttempt> {
        let here = move |attempt: &&CellAttempt| attempt.verdict.is_some() && attempt.place.same_place(variant, faults);
        self.attempts.iter().filter(here)
    }

    /// What came of a place of the matrix, the worst of its cells; `None` if the night did not have it.
    pub fn outcome(&self, variant: &str, faults: &str) -> Option<CellOutcome> {
        let here = self.cells.iter().filter(|cell| cell.same_place(variant, faults));
        let outcomes: Vec<CellOutcome> = here.map(|cell| cell::outcome(&self.attempts_at(cell))).collect();
        // A night that ran some seeds of a place and had no time for others did run the place.
        let run = outcomes.iter().filter(|outcome| **outcome != CellOutcome::Skipped);
        let worst = run.min_by_key(|outcome| CellOutcome::ALL.iter().position(|other| other == *outcome));
        worst.or(outcomes.first()).copied()
    }
}

/// Every night in a folder, the oldest first; none if there is no such folder. A record that makes no sense is named on
/// stderr and left out.
///
/// # Errors
/// If a folder or a file cannot be read.
pub fn all(nights: &Path) -> Result<Vec<(PathBuf, LedgerContent)>> {
    let entries = entries(nights).with_context(|| format!("reading the nights in {}", nights.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.path();
        if path.is_symlink() || !path.join(folder::NAME).is_file() {
            continue;
        }
        match read(&path) {
            Ok(recorded) => found.extend(recorded.map(|recorded| (path, recorded))),
            // One damaged night, or one of a later version, must not cost all that follow.
            Err(error) => eprintln!("zooquake: left out {}: {error:#}", path.display()),
        }
    }
    Ok(sorted(found))
}

/// The record of the night in a folder; `None` if it has no first line yet.
///
/// # Errors
/// If it cannot be read.
pub fn read(night: &Path) -> Result<Option<LedgerContent>> {
    let path = night.join(folder::NAME);
    let reading = || format!("reading {}", path.display());
    ledger::read::<NightHeader, CellAttempt>(&files::read(&path, files::RECORD).with_context(reading)?)
        .with_context(reading)
}

/// Nights by their beginnings, the oldest first.
pub fn sorted(mut nights: Vec<(PathBuf, LedgerContent)>) -> Vec<(PathBuf, LedgerContent)> {
    nights.sort_by(|(a_path, a), (b_path, b)| (&a.header.begun, a_path).cmp(&(&b.header.begun, b_path)));
    nights
}

/// The nights beside this one that began before it, are of the same campaign and had one of its cells: the oldest
/// first.
///
/// # Errors
/// If a folder or a record cannot be read.
pub fn earlier(night: &Path, header: &NightHeader) -> Result<Vec<NightRecord>> {
    let own = std::fs::canonicalize(night).with_context(|| format!("finding {}", night.display()))?;
    let Some(beside) = own.parent() else {
        return Ok(Vec::new());
    };
    let tonight = header.cells();
    let mut nights: Vec<NightRecord> = without_merged(all(beside)?)
        .into_iter()
        .filter(|(path, recorded)| {
            *path != own
                && recorded.header.campaign.name == header.campaign.name
                && recorded.header.begun <= header.begun
        })
        .map(|(path, recorded)| NightRecord::new(folder::name_of(&path), &recorded))
        .filter(|past| {
            past.cells
                .iter()
                .any(|cell| tonight.iter().any(|own| own.is_same(cell)))
        })
        .collect();
    nights.drain(..nights.len().saturating_sub(NIGHTS));
    Ok(nights)
}

/// The nights without those parts of which a merged night has all.
pub fn without_merged(nights: Vec<(PathBuf, LedgerContent)>) -> Vec<(PathBuf, LedgerContent)> {
    let merged: Vec<bool> = nights
        .iter()
        .map(|(_, part)| nights.iter().any(|(_, whole)| is_merged(part, whole)))
        .collect();
    let kept = nights.into_iter().zip(merged).filter(|(_, merged)| !merged);
    kept.map(|(night, _)| night).collect()
}

/// Whether a record is that of a part, and the other that of the whole with all its attempts. The names of runs may
/// differ.
fn is_merged(part: &LedgerContent, whole: &LedgerContent) -> bool {
    let (one, other) = (&part.header, &whole.header);
    let kin = one.shard.is_some() && other.shard.is_none();
    let same = |a: &CellAttempt, b: &CellAttempt| a.place == b.place && a.begun == b.begun && a.seconds == b.seconds;
    kin && (&one.campaign.name, one.date()) == (&other.campaign.name, other.date())
        && part
            .attempts
            .iter()
            .all(|own| whole.attempts.iter().any(|run| same(own, run)))
}

/// How many nights ago a cell was last run, and what came of it.
pub fn last(nights: &[NightRecord], cell: &Cell) -> LastOutcome {
    nights.iter().rev().enumerate().find_map(|(n, night)| {
        let attempts = night.attempts_at(cell);
        (!attempts.is_empty()).then(|| (n + 1, cell::outcome(&attempts)))
    })
}

/// What earlier nights have of a cell: how many nights ago it was last run (1: the night before), and what came of it.
pub type LastOutcome = Option<(usize, CellOutcome)>;

/// The cells in the order in which they are to be run.
///
/// 1. Cells that no earlier night has run.
/// 2. Cells that were new, unknown or failed when they were last run.
/// 3. The others, those first that were not run for the longest.
///
/// Among equals every place of the matrix gets its first seed before any gets its second; what is then left is decided
/// by the cell's hash, so that neither the end of the alphabet nor of the campaign file always comes last. Cells with
/// none of these seeds of the matrix are pinned, and come before their equals.
pub fn order(mut cells: Vec<Cell>, seeds: &[NightSeed], last: impl Fn(&Cell) -> LastOutcome) -> Vec<Cell> {
    cells.sort_by_cached_key(|cell| {
        let (class, ago) = match last(cell) {
            None => (0, 0),
            Some((ago, CellOutcome::New | CellOutcome::Unknown | CellOutcome::Failed)) => (1, ago),
            Some((ago, CellOutcome::Expected | CellOutcome::Skipped)) => (2, ago),
        };
        let round = seeds.iter().position(|drawn| drawn.seed == cell.seed);
        (class, Reverse(ago), round, cell.hash())
    });
    cells
}

#[cfg(test)]
pub mod tests {
    use super::super::cell::tests::{cell, ended};
    use super::super::folder::tests::header;
    use super::super::seeds::SeedSource;
    use super::*;

    /// A night with these runs.
    pub fn night(date: &str, attempts: Vec<CellAttempt>) -> NightRecord {
        let recorded = LedgerContent {
            header: header(date),
            attempts,
            closed: true,
        };
        NightRecord::new(date.to_string(), &recorded)
    }

    #[test]
    fn a_damaged_night_is_left_out() {
        let nights = tempfile::tempdir().unwrap();
        let nights = nights.path();
        let good = folder::tests::line(&header("2026-11-18"));
        for (name, text) in [("bad", "{\"line\":\"other\"}\n"), ("good", &format!("{good}\n"))] {
            std::fs::create_dir_all(nights.join(name)).unwrap();
            std::fs::write(nights.join(name).join(folder::NAME), text).unwrap();
        }
        let found: Vec<PathBuf> = all(nights).unwrap().into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, [nights.join("good")]);
    }

    #[test]
    fn parts_of_a_merged_night_are_no_nights_of_their_own() {
        let record = |shard: Option<&str>, seeds: &[u64]| LedgerContent {
            header: NightHeader {
                shard: shard.map(String::from),
                ..header("2026-11-18")
            },
            attempts: seeds.iter().map(|seed| ended("valid", "pause", *seed)).collect(),
            closed: true,
        };
        let nights = [
            ("1of3", record(Some("1/3"), &[1])),
            ("2of3", record(Some("2/3"), &[2])),
            ("3of3", record(Some("3/3"), &[3])),
            ("merged", record(None, &[1, 2])),
        ];
        let nights = nights.map(|(name, record)| (PathBuf::from(name), record)).to_vec();
        let left: Vec<PathBuf> = without_merged(nights).into_iter().map(|(path, _)| path).collect();
        assert_eq!(left, [PathBuf::from("3of3"), PathBuf::from("merged")]);
    }

    #[test]
    fn the_last_run_of_a_cell_is_found() {
        let (valid, unknown) = (|faults| ended("valid", faults, 1), ended("unknown", "pause", 1));
        let nights = [
            night("2026-11-17", vec![unknown]),
            night("2026-11-18", vec![valid("kill,partition")]),
            night("2026-11-19", vec![]),
        ];
        assert_eq!(last(&nights, &cell("pause", 1)), Some((3, CellOutcome::Unknown)));
        assert_eq!(
            last(&nights, &cell("kill,partition", 1)),
            Some((2, CellOutcome::Expected))
        );
        assert_eq!(last(&nights, &cell("pause", 2)), None);
        let variant = "lock/predecessor";
        assert_eq!(nights[1].outcome(variant, "pause"), Some(CellOutcome::Skipped));
        assert_eq!(nights[1].outcome(variant, "disconnect"), None);
    }

    #[test]
    fn what_is_least_known_comes_first() {
        let cells = vec![cell("a", 1), cell("b", 1), cell("c", 1), cell("d", 1), cell("e", 1)];
        let last = |cell: &Cell| match cell.faults.as_str() {
            "a" => Some((1, CellOutcome::Expected)),
            "b" => Some((1, CellOutcome::Unknown)),
            "c" => Some((9, CellOutcome::Expected)),
            "d" => Some((2, CellOutcome::New)),
            _ => None,
        };
        let order: Vec<String> = order(cells, &SeedSource::Listed(vec![1]).seeds(""), last)
            .into_iter()
            .map(|cell| cell.faults)
            .collect();
        assert_eq!(order, ["e", "d", "b", "c", "a"]);
    }

    #[test]
    fn every_place_gets_its_first_seed_first() {
        let cells = (0..40).map(|n| cell(&format!("f{}", n / 2), if n % 2 == 0 { 5 } else { 3 }));
        let order = order(cells.collect(), &SeedSource::Listed(vec![5, 3]).seeds(""), |_| None);
        assert!(order[..20].iter().all(|cell| cell.seed == 5));
        assert!(order[20..].iter().all(|cell| cell.seed == 3));
    }
}
