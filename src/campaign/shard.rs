//! A part of a whole, so that several machines share it without overlap.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Part `number` of `of`: that of the numbers which leave `number - 1` when they are divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Default for Shard {
    /// The whole.
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl Shard {
    /// The number at a position of this part, from 0; `None` beyond the last one there can be.
    pub fn number(self, position: u64) -> Option<u64> {
        position.checked_mul(self.of)?.checked_add(self.number - 1)
    }

    /// The first number that it has: parts of one whole are in the order of these.
    pub fn first(self) -> u64 {
        self.number - 1
    }

    /// Every part of the whole that this is a part of.
    pub fn siblings(self) -> impl Iterator<Item = Self> {
        (1..=self.of).map(move |number| Self { number, of: self.of })
    }

    /// Whether another is a part of the same division of the whole.
    pub fn is_sibling(self, other: Self) -> bool {
        self.of == other.of
    }

    /// Whether it has a rank, from 0, of so many, where each part has a range of them: ranges differ by one at most.
    pub fn has_rank(self, rank: usize, all: usize) -> bool {
        let part = rank as u64 * self.of / all.max(1) as u64;
        part == self.first()
    }

    /// The position of a number in this part; `None` if it is in another one.
    pub fn position(self, number: u64) -> Option<u64> {
        (number % self.of == self.number - 1).then_some(number / self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= 100_000 => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is not a part of a whole, such as 1/4 to 4/4")),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn the_parts_of_a_whole_have_every_number_once() {
        let shards: Vec<Shard> = (1..=3).map(|n| format!("{n}/3").parse().unwrap()).collect();
        for number in 0..100 {
            let homes: Vec<u64> = shards.iter().filter_map(|shard| shard.position(number)).collect();
            assert_eq!(homes.len(), 1);
            let back = shards.iter().filter(|shard| shard.number(homes[0]) == Some(number));
            assert_eq!(back.count(), 1);
        }
        assert_eq!(shards[1].siblings().collect::<Vec<_>>(), shards);
        assert!(shards[0].is_sibling(shards[2]) && !shards[0].is_sibling(Shard::default()));
        assert_eq!(Shard::default().number(7), Some(7));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "1/2/3"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
