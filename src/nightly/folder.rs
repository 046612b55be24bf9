//! Where a night lies on the disk.

use super::clock;
use super::ledger::{self, Header, Ledger, Line, Recorded};
use crate::run::leftover;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long after its beginning a night that is not through is still taken up again unless told where.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// The folder has a night of another campaign, or of another part of it.
#[derive(Debug)]
pub struct OtherNight(PathBuf);

impl fmt::Display for OtherNight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.display();
        write!(
            f,
            "{path} has a night of another campaign, or of another part of it: give another folder"
        )
    }
}

impl std::error::Error for OtherNight {}

/// A night that is going on.
#[derive(Debug)]
pub struct NightFolder {
    /// The folder.
    pub path: PathBuf,
    /// What its record says.
    pub recorded: Recorded,
    ledger: Ledger,
}

impl NightFolder {
    /// Begins the night in this folder, or takes it up again.
    ///
    /// # Errors
    /// [`OtherNight`] if it is one; otherwise if it cannot be written.
    pub fn open(path: &Path, header: Header) -> Result<Self> {
        fs::create_dir_all(path.join("runs")).with_context(|| format!("making the folder {}", path.display()))?;
        let (mut ledger, recorded) = Ledger::open(path)?;
        let recorded = match recorded {
            Some(mut recorded) => {
                if !same(&recorded.header, &header) {
                    return Err(OtherNight(path.to_path_buf()).into());
                }
                ledger.append(&Line::Resumed { at: clock::now()? })?;
                (recorded.sitting, recorded.closed) = (recorded.sitting + 1, false);
                recorded
            }
            None => {
                ledger.append(&Line::Night(Box::new(header.clone())))?;
                Recorded {
                    header,
                    attempts: Vec::new(),
                    sitting: 0,
                    closed: false,
                }
            }
        };
        Ok(Self {
            path: path.to_path_buf(),
            recorded,
            ledger,
        })
    }

    /// Adds a run that is over.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, attempt: super::attempt::Attempt) -> Result<()> {
        self.ledger.append(&Line::Attempt(Box::new(attempt.clone())))?;
        self.recorded.attempts.push(attempt);
        Ok(())
    }

    /// Says that the night is through.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(&mut self) -> Result<()> {
        self.recorded.closed = true;
        self.ledger.append(&Line::Closed { at: clock::now()? })
    }

    /// The folder of its runs.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Folders of runs that no line of the record names: what a run left that did not come to its end.
    ///
    /// # Errors
    /// If the folder of runs cannot be read.
    pub fn unclaimed(&self) -> Result<Vec<String>> {
        let claimed: BTreeSet<&str> = self.recorded.attempts.iter().filter_map(|a| a.run.as_deref()).collect();
        leftover::unclaimed(&self.runs(), &claimed)
    }

    /// The night's name: that of its folder.
    pub fn name(&self) -> String {
        name_of(&self.path)
    }
}

/// The name of a folder, also of one given as `.` or through a link.
pub fn name_of(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Whether a recorded night is the one that is asked for, but for when it began and with which version.
fn same(recorded: &Header, asked: &Header) -> bool {
    let mut campaign = asked.campaign.clone();
    if recorded.format == 1 {
        // Then every variant had the same clocks where none were given.
        campaign.cluster.timing.get_or_insert_default();
    }
    (&recorded.campaign, &recorded.shard) == (&campaign, &asked.shard)
}

/// The folder in `nights` for a night that is not told where: the one of today that is not through yet, else a new one
/// by the date and the part.
///
/// # Errors
/// If the folder of nights, or a record in it, cannot be read.
pub fn choose(nights: &Path, header: &Header) -> Result<PathBuf> {
    let oldest = clock::before(STALE)?;
    let going_on =
        |recorded: &Recorded| same(&recorded.header, header) && !recorded.closed && recorded.header.begun > oldest;
    let all = super::past::all(nights)?;
    if let Some((path, _)) = all.iter().rfind(|(_, recorded)| going_on(recorded)) {
        return Ok(path.clone());
    }
    let part = header
        .shard
        .as_ref()
        .map(|shard| format!("-{}", shard.replace('/', "of")));
    let base = format!("{}{}", clock::date(&header.begun), part.unwrap_or_default());
    let free = |name: &String| !nights.join(name).join(ledger::NAME).exists();
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(free);
    Ok(nights.join(name.unwrap_or(base)))
}

#[cfg(test)]
mod tests {
    use super::super::ledger::tests::header;
    use super::*;

    fn today() -> Header {
        Header {
            begun: clock::now().unwrap(),
            ..header("2026-11-20")
        }
    }

    #[test]
    fn a_night_that_is_not_through_goes_on_and_one_that_is_does_not() {
        let nights = std::env::temp_dir().join(format!("zooquake-nights-{}", std::process::id()));
        let header = today();
        let first = choose(&nights, &header).unwrap();
        assert_eq!(name_of(&first), clock::date(&header.begun));
        let mut night = NightFolder::open(&first, header.clone()).unwrap();
        assert_eq!(choose(&nights, &header).unwrap(), first, "it is not through");
        let shard = Header {
            shard: Some("2/4".into()),
            ..header.clone()
        };
        let part = choose(&nights, &shard).unwrap();
        assert_ne!(part, first, "another part is another night");
        assert!(name_of(&part).ends_with("-2of4"), "{part:?}");
        night.close().unwrap();
        drop(night);
        let second = choose(&nights, &header).unwrap();
        assert!(name_of(&second).ends_with("-2"), "{second:?}");
        let refused = NightFolder::open(&first, shard).unwrap_err();
        assert!(refused.downcast_ref::<OtherNight>().is_some(), "{refused:#}");
        let again = NightFolder::open(&first, header).unwrap();
        assert_eq!(again.recorded.sitting, 1);
        fs::remove_dir_all(nights).unwrap();
    }

    #[test]
    fn a_run_that_nobody_recorded_is_left_over() {
        let path = std::env::temp_dir().join(format!("zooquake-left-{}", std::process::id()));
        let mut night = NightFolder::open(&path, today()).unwrap();
        for name in ["run-1", "half"] {
            fs::create_dir(night.runs().join(name)).unwrap();
        }
        let cell = super::super::attempt::tests::cell("pause", 1);
        night
            .record(super::super::attempt::tests::attempt(&cell, None, &[]))
            .unwrap();
        assert_eq!(night.unclaimed().unwrap(), ["half"]);
        fs::remove_dir_all(path).unwrap();
    }
}
