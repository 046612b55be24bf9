//! Where the seeds of a campaign come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most seeds that are drawn from a date.
pub const MOST: u64 = 99;

/// Where the seeds of a campaign come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SeedSource {
    /// These, the same every night.
    Listed(Vec<u64>),
    /// New ones every night.
    Drawn(DrawnSeeds),
}

/// Seeds that every night has anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnSeeds {
    /// How many, from 1 to [`MOST`].
    pub count: u64,
    pub from: SeedOrigin,
}

/// What seeds are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeedOrigin {
    /// The date of the night.
    Date,
}

/// A seed as one night has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NightSeed {
    pub seed: u64,
    /// Which of the seeds that are drawn for this night, from 1; `None` of one that every night has.
    pub ordinal: Option<u64>,
}

impl SeedSource {
    /// The seeds of the night of a date such as `2026-11-20`. Drawn ones are the digits of the date and two more of
    /// the ordinal: `2026112001`, `2026112002`, …, so that no two dates have one in common.
    pub fn seeds(&self, date: &str) -> Vec<NightSeed> {
        match self {
            Self::Listed(seeds) => seeds.iter().map(|&seed| NightSeed { seed, ordinal: None }).collect(),
            Self::Drawn(drawn) => {
                let day = date.bytes().filter(u8::is_ascii_digit).fold(0_u64, |day, digit| {
                    day.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
                });
                let numbered = |ordinal| NightSeed {
                    seed: day.wrapping_mul(100).wrapping_add(ordinal),
                    ordinal: Some(ordinal),
                };
                (1..=drawn.count).map(numbered).collect()
            }
        }
    }

    /// The seeds of a night in words: `1, 2`, or `of the date 2026-11-20: 2026112001, 2026112002`.
    pub fn words(&self, date: &str) -> String {
        let seeds: Vec<String> = self.seeds(date).iter().map(|drawn| drawn.seed.to_string()).collect();
        match self {
            Self::Listed(_) => seeds.join(", "),
            Self::Drawn(_) => format!("of the date {date}: {}", seeds.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: SeedSource = SeedSource::Drawn(DrawnSeeds {
        count: 2,
        from: SeedOrigin::Date,
    });

    #[test]
    fn every_date_has_seeds_of_its_own() {
        let seeds = |date: &str| TWO.seeds(date).iter().map(|drawn| drawn.seed).collect::<Vec<_>>();
        assert_eq!(seeds("2026-11-20"), [2_026_112_001, 2_026_112_002]);
        assert_eq!(seeds("2026-11-21"), [2_026_112_101, 2_026_112_102]);
        let ordinals: Vec<_> = TWO.seeds("2026-11-20").iter().map(|drawn| drawn.ordinal).collect();
        assert_eq!(ordinals, [Some(1), Some(2)]);
        assert_eq!(
            TWO.words("2026-11-20"),
            "of the date 2026-11-20: 2026112001, 2026112002"
        );
        let listed = SeedSource::Listed(vec![7]);
        assert_eq!(listed.seeds("2026-11-20"), [NightSeed { seed: 7, ordinal: None }]);
    }

    #[test]
    fn a_record_has_either_form() {
        let drawn = serde_json::to_string(&TWO).unwrap();
        assert_eq!(drawn, r#"{"count":2,"from":"date"}"#);
        assert_eq!(serde_json::from_str::<SeedSource>(&drawn).unwrap(), TWO);
        let listed: SeedSource = serde_json::from_str("[1,2]").unwrap();
        assert_eq!(listed, SeedSource::Listed(vec![1, 2]));
    }
}
