//! The page of the client protocol, against the registry.

use zooquake_workloads::recipes::registry;

/// The znodes of a cell of the page's table.
fn paths(cell: &str) -> Vec<&str> {
    let words = cell.split(',').map(|word| word.trim().trim_matches('`'));
    words.filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_table_of_znodes_is_that_of_the_variants() {
    let page = include_str!("../../docs/protocol.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').collect())
        .collect();
    for variant in registry() {
        let name = format!("{}/{}", variant.family, variant.name);
        let row = rows
            .iter()
            .find(|row| paths(row[0]).contains(&name.as_str()))
            .unwrap_or_else(|| panic!("the page does not have {name}"));
        assert_eq!(paths(row[1]), variant.contenders, "{name}");
        assert_eq!(paths(row[2]), variant.znodes, "{name}");
    }
}
