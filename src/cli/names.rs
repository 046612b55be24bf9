//! The names of the tree hold: what a stranger reads in one file means the same in the next.

use std::collections::BTreeMap;
use std::path::Path;
use walkdir::WalkDir;

/// Names of types that may be defined three times or more: a value of JSON or EDN, and the queue that templates of
/// recipes begin with.
const COMMON: [&str; 2] = ["Value", "Queue"];

/// The longest line of a comment, in characters.
const WIDTH: usize = 120;

/// The sources of the workspace, by path.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let walk = WalkDir::new(root).into_iter().filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        name != "target" && (entry.depth() == 0 || !name.starts_with('.'))
    });
    let files = walk.map(|entry| entry.expect("a source").into_path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let read = |path: &Path| std::fs::read_to_string(path).expect("Rust");
    files
        .map(|path| {
            let name = path
                .strip_prefix(root)
                .expect("a path below the root")
                .display()
                .to_string();
            (name, read(&path))
        })
        .collect()
}

/// A line without its indentation and its visibility.
fn unscoped(line: &str) -> &str {
    let line = line.trim_start();
    line.strip_prefix("pub").map_or(line, |rest| {
        let scope = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        scope.map_or(rest, |(_, rest)| rest).trim_start()
    })
}

/// The identifier that a text begins with; empty if it begins with none.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The name that a line defines after one of these keywords.
fn defined<'a>(line: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let line = unscoped(line);
    let rest = keywords
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword)?.strip_prefix(' '))?;
    Some(identifier(rest))
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        for line in text.lines() {
            // An indented `type` belongs to a trait, which decides its name.
            let alias = Some(line).filter(|line| !line.starts_with(' '));
            let alias = alias.and_then(|line| defined(line, &["type"]));
            if let Some(name) = alias.or_else(|| defined(line, &["struct", "enum", "trait", "union"])) {
                places.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 500, "only {} types were found", places.len());
    let many = places
        .iter()
        .filter(|(name, places)| places.len() > 2 && !COMMON.contains(&name.as_str()));
    assert_eq!(many.collect::<Vec<_>>(), []);
}

#[test]
fn comments_are_no_wider_than_a_page() {
    for (path, text) in sources() {
        for (at, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.trim_start().starts_with("//"))
        {
            assert!(line.chars().count() <= WIDTH, "{path}:{}: {line}", at + 1);
        }
    }
}
