//! The most informative cells first, so that a short budget is spent where most is to be learned.

use super::cell::Cell;
use std::cmp::Reverse;
use zooquake_reports::night::Outcome;

/// What earlier nights know of a cell: how many nights ago it was last run (1: the night before), and what came of it.
pub type Last = Option<(usize, Outcome)>;

/// The cells in the order in which they are to be run.
///
/// 1. Cells that no earlier night has run.
/// 2. Cells that were new, unknown or failed when they were last run.
/// 3. The others, those first that were not run for the longest.
///
/// Among equals every place of the matrix gets its first seed before any gets its second; what is then left is decided
/// by the cell's hash, so that neither the end of the alphabet nor of the campaign file always comes last.
pub fn order(mut cells: Vec<Cell>, seeds: &[u64], last: impl Fn(&Cell) -> Last) -> Vec<Cell> {
    cells.sort_by_cached_key(|cell| {
        let (class, ago) = match last(cell) {
            None => (0, 0),
            Some((ago, Outcome::New | Outcome::Unknown | Outcome::Failed)) => (1, ago),
            Some((ago, Outcome::Expected | Outcome::Skipped)) => (2, ago),
        };
        let round = seeds.iter().position(|seed| *seed == cell.seed);
        (class, Reverse(ago), round, cell.hash())
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::super::attempt::tests::cell;
    use super::*;

    #[test]
    fn what_is_least_known_comes_first() {
        let cells = vec![cell("a", 1), cell("b", 1), cell("c", 1), cell("d", 1), cell("e", 1)];
        let last = |cell: &Cell| match cell.faults.as_str() {
            "a" => Some((1, Outcome::Expected)),
            "b" => Some((1, Outcome::Unknown)),
            "c" => Some((9, Outcome::Expected)),
            "d" => Some((2, Outcome::New)),
            _ => None,
        };
        let order: Vec<String> = order(cells, &[1], last).into_iter().map(|cell| cell.faults).collect();
        assert_eq!(order, ["e", "d", "b", "c", "a"]);
    }

    #[test]
    fn every_place_gets_its_first_seed_first() {
        let cells = (0..40).map(|n| cell(&format!("f{}", n / 2), if n % 2 == 0 { 5 } else { 3 }));
        let order = order(cells.collect(), &[5, 3], |_| None);
        assert!(order[..20].iter().all(|cell| cell.seed == 5));
        assert!(order[20..].iter().all(|cell| cell.seed == 3));
    }
}
