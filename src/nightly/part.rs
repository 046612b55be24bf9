//! The part of a night that one of several machines runs.

use super::cell::Cell;
use crate::campaign::shard::Shard;

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
