//! A part of the matrix, so that several machines share a night.

use super::cell::Cell;
use std::fmt;
use std::str::FromStr;

/// Part `number` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= 1000 => Ok(Self { number, of }),
            _ => Err(format!("`{text}` is no part of a whole, such as 1/4 to 4/4")),
        }
    }
}

impl Shard {
    /// Whether the cell is in this part. It stays there whatever other cells a campaign gains or loses.
    pub fn holds(&self, cell: &Cell) -> bool {
        cell.hash() % self.of == self.number - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Vec<Cell> {
        let cell = |n: u64| Cell {
            variant: format!("lock/v{}", n % 10),
            faults: format!("f{}", n / 10 % 5),
            seed: n / 50,
        };
        (0..400).map(cell).collect()
    }

    #[test]
    fn every_cell_is_in_one_part_and_no_part_is_empty() {
        let shards: Vec<Shard> = ["1/4", "2/4", "3/4", "4/4"].map(|s| s.parse().unwrap()).into();
        for cell in cells() {
            assert_eq!(shards.iter().filter(|shard| shard.holds(&cell)).count(), 1, "{cell}");
        }
        for shard in shards {
            let held = cells().iter().filter(|cell| shard.holds(cell)).count();
            assert!((60..140).contains(&held), "shard {shard} holds {held} of 400");
        }
    }

    #[test]
    fn reads_parts() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
