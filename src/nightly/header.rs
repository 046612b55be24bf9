//! What a night is, as the first line of its record has it.

use super::campaign::Campaign;
use super::cell::Cell;
use super::conclusion;
use super::folder::NAME;
use super::part::cells_of_part;
use crate::calendar;
use crate::campaign::ledger::CampaignHeader;
use crate::campaign::shard::Shard;
use crate::merge::parts::PartHeader;
use serde::{Deserialize, Serialize};

/// The version of records that this program begins.
pub const FORMAT: u32 = 3;

/// What a night is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
