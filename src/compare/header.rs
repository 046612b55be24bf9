//! What a comparison is, as the first line of its record has it.

use super::order::{Turn, turns};
use super::setup::Setup;
use crate::campaign::ledger::CampaignHeader;
use crate::campaign::shard::Shard;
use crate::merge::parts::PartHeader;
use serde::{Deserialize, Serialize};

/// Name of the record in a comparison's folder.
const FILE: &str = "compare.jsonl";

/// What a comparison is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonHeader {
    /// Version of this format; 1.
    pub format: u32,
    /// What is compared.
    pub setup: Setup,
    /// Which part of its runs; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The version and the commit of the zooquake that began it; empty in old records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zooquake: String,
    /// When it began.
    pub begun: String,
}

impl ComparisonHeader {
    /// The turns of its part, in order.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = turns(&self.setup);
        turns.retain(|turn| self.shard.is_none_or(|shard| turn.is_in(shard, &self.setup)));
        turns
    }
}

impl CampaignHeader for ComparisonHeader {
    const WHAT: &str = "comparison";
    const OTHER: &str = "has a comparison with other options, or another part of it: give the same ones to go on with it, or another --out";

    fn file(&self) -> String {
        FILE.to_string()
    }

    fn is(&self, asked: &Self) -> bool {
        (&self.setup, self.shard) == (&asked.setup, asked.shard)
    }
}

impl PartHeader for ComparisonHeader {
    const FILE: &str = FILE;

    fn part(&self) -> Option<Shard> {
        self.shard
    }

    fn begun(&self) -> &str {
        &self.begun
    }

    fn difference(&self, other: &Self) -> Option<String> {
        let (here, there) = (&self.zooquake, &other.zooquake);
        if here != there {
            return Some(format!("their versions of zooquake are {here} and {there}"));
        }
        (self.setup != other.setup).then(|| "they compare other things".to_string())
    }

    fn whole(&self) -> Self {
        Self {
            shard: None,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::setup::tests::setup;
    use super::*;

    #[test]
    fn parts_share_the_turns_and_no_subjects_are_torn_apart() {
        let part = |text: &str| ComparisonHeader {
            shard: Some(text.parse().unwrap()),
            setup: setup(&["predecessor", "fenced"], &["none", "pause"], &[1, 2, 3]),
            format: 1,
            zooquake: String::new(),
            begun: "2026-11-20T22:00:00Z".into(),
        };
        let parts = ["1/4", "2/4", "3/4", "4/4"].map(|text| part(text).turns());
        assert_eq!(parts.each_ref().map(Vec::len), [4, 4, 2, 2]);
        let mut all: Vec<Turn> = parts.concat();
        for chunk in all.chunks(2) {
            assert_eq!((chunk[0].round, chunk[0].faults), (chunk[1].round, chunk[1].faults));
        }
        all.sort_unstable();
        let mut whole = turns(&part("1/4").setup);
        whole.sort_unstable();
        assert_eq!(all, whole);
    }
}
