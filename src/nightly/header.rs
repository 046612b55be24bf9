//! What a night is, as the first line of its record has it.

use super::campaign::Campaign;
use super::cell::Cell;
use super::conclusion;
use super::folder::NAME;
use crate::calendar;
use crate::campaign::ledger::CampaignHeader;
use crate::campaign::shard::Shard;
use crate::merge::parts::PartHeader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of records that this program begins.
pub const FORMAT: u32 = 3;

/// What a night is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightHeader {
    /// Version of this format; [`FORMAT`]. In 1 a campaign always has a timing; in 2 nothing is required.
    pub format: u32,
    /// The version of zooquake that began it.
    pub zooquake: String,
    /// The commit that this zooquake was built from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit whose job in a CI system it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
    /// What it is to run.
    pub campaign: Campaign,
    /// Which part of the matrix.
    pub shard: Option<String>,
    /// The date, in UTC, that its seeds are drawn from; `None`: that on which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// When it began.
    pub begun: String,
    /// The share of its cells, from 0 to 1, that must be run at least.
    #[serde(default = "usual_share")]
    pub require: f64,
}

impl NightHeader {
    /// The date, in UTC, that its seeds are drawn from.
    pub fn date(&self) -> &str {
        self.date.as_deref().unwrap_or(calendar::date(&self.begun))
    }

    /// The cells that it is to run.
    pub fn cells(&self) -> Vec<Cell> {
        let cells = self.campaign.cells(self.date());
        match self.shard.as_ref().and_then(|shard| shard.parse().ok()) {
            None => cells,
            Some(shard) => cells_of_part(cells, shard),
        }
    }

    /// The zooquake that began it, such as `0.1.0 (3f2a91c)`.
    pub fn program(&self) -> String {
        match &self.commit {
            None => self.zooquake.clone(),
            Some(commit) => format!("{} ({commit})", self.zooquake),
        }
    }
}

fn usual_share() -> f64 {
    conclusion::REQUIRE
}

impl CampaignHeader for NightHeader {
    const WHAT: &str = "night";
    const OTHER: &str =
        "has a night of another campaign, of another part of it, or of another date: give another folder";

    fn file(&self) -> String {
        NAME.to_string()
    }

    fn is(&self, asked: &Self) -> bool {
        let mut campaign = asked.campaign.clone();
        if self.format == 1 {
            // Then every variant had the same timing where none was given.
            campaign.cluster.timing.get_or_insert_default();
        }
        let date = asked.date.is_none() || asked.date() == self.date();
        date && (&self.campaign, &self.shard) == (&campaign, &asked.shard)
    }

    fn begin(self) -> Self {
        let date = Some(self.date().to_string());
        Self { date, ..self }
    }
}

impl PartHeader for NightHeader {
    const FILE: &str = NAME;

    fn part(&self) -> Option<Shard> {
        self.shard.as_ref()?.parse().ok()
    }

    fn begun(&self) -> &str {
        &self.begun
    }

    fn difference(&self, other: &Self) -> Option<String> {
        let commit = |commit: &Option<String>| commit.clone().unwrap_or_else(|| "none".to_string());
        let named = [
            (
                "campaigns are called",
                self.campaign.name.clone(),
                other.campaign.name.clone(),
            ),
            ("dates are", self.date().to_string(), other.date().to_string()),
            ("versions of zooquake are", self.program(), other.program()),
            ("formats are", self.format.to_string(), other.format.to_string()),
            (
                "jobs are of the commits",
                commit(&self.checkout),
                commit(&other.checkout),
            ),
        ];
        let differs = named.into_iter().find(|(_, one, other)| one != other);
        let differs = differs.map(|(what, one, other)| format!("their {what} {one} and {other}"));
        let campaigns = || "their campaigns differ".to_string();
        differs.or_else(|| (self.campaign != other.campaign).then(campaigns))
    }

    fn whole(&self) -> Self {
        Self {
            shard: None,
            ..self.clone()
        }
    }
}

/// The variables in which CI systems have the commit of a job: GitHub's, GitLab's, Jenkins'.
const CHECKOUTS: [&str; 3] = ["GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"];

/// The commit whose job in a CI system this is; `None` elsewhere.
pub fn checkout() -> Option<String> {
    let set = CHECKOUTS.into_iter().filter_map(|name| std::env::var(name).ok());
    set.map(|commit| commit.trim().to_string())
        .find(|commit| !commit.is_empty())
}

/// The cells of one part of a matrix, in the order of the matrix.
///
/// Parts are ranges of the cells sorted by their hash: of equal size but for one, and a cell that a campaign gains or
/// loses moves at most one other across each border.
pub fn cells_of_part(mut cells: Vec<Cell>, shard: Shard) -> Vec<Cell> {
    let mut hashes: Vec<u64> = cells.iter().map(Cell::hash).collect();
    hashes.sort_unstable();
    let rank = |cell: &Cell| hashes.partition_point(|hash| *hash < cell.hash());
    cells.retain(|cell| shard.has_rank(rank(cell), hashes.len()));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn matrix(cells: u64) -> Vec<Cell> {
        let cell = |n: u64| Cell {
            variant: format!("lock/v{}", n % 10),
            faults: format!("f{}", n / 10 % 5),
            seed: n / 50,
            ordinal: None,
        };
        (0..cells).map(cell).collect()
    }

    /// The part of each cell, by the cell in words.
    fn parts(cells: &[Cell], of: usize) -> BTreeMap<String, usize> {
        let part = |number: usize| {
            let shard: Shard = format!("{number}/{of}").parse().unwrap();
            let held = cells_of_part(cells.to_vec(), shard);
            held.into_iter().map(move |cell| (cell.to_string(), number))
        };
        let placed: Vec<(String, usize)> = (1..=of).flat_map(part).collect();
        assert_eq!(placed.len(), cells.len(), "no cell is in two parts");
        placed.into_iter().collect()
    }

    #[test]
    fn every_cell_is_in_one_part_and_parts_are_of_one_size() {
        for (cells, of) in [(400, 4), (12, 3), (60, 7), (3, 5), (0, 2)] {
            let parts = parts(&matrix(cells), of);
            assert_eq!(parts.len() as u64, cells);
            let size = |number: usize| parts.values().filter(|part| **part == number).count();
            let sizes: Vec<usize> = (1..=of).map(size).collect();
            assert!(
                sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1,
                "{sizes:?}"
            );
        }
    }

    #[test]
    fn a_cell_that_is_gone_moves_at_most_one_other_across_each_border() {
        let all = matrix(60);
        let before = parts(&all, 4);
        for gone in 0..all.len() {
            let mut rest = all.clone();
            rest.remove(gone);
            let after = parts(&rest, 4);
            let moved = after.iter().filter(|(cell, part)| before[*cell] != **part).count();
            assert!(moved <= 3, "{moved} cells moved");
        }
    }
}
