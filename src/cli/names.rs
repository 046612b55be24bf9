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

/// The name that a line defines after one of these keywords.
fn defined<'a>(line: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let scope = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        scope.map_or(rest, |(_, rest)| rest).trim_start()
    });
    let rest = keywords
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword)?.strip_prefix(' '))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
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
fn no_function_is_called_of() {
    let all = sources();
    let found = all
        .iter()
        .filter(|(_, text)| text.lines().any(|line| defined(line, &["fn"]) == Some("of")));
    assert_eq!(found.map(|(path, _)| path).collect::<Vec<_>>(), [""; 0]);
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

/// Words by which comments would let machines speak, or hedge.
const SPEECH: [&str; 6] = ["told", "tell", "tells", "says", "whoever", "as far as"];

#[test]
fn machines_do_not_speak_in_comments() {
    for (path, text) in sources() {
        let comments = text.lines().enumerate().filter_map(|(at, line)| {
            let comment = line.trim_start().strip_prefix("//")?;
            Some((at + 1, comment))
        });
        for (line, comment) in comments {
            // What stands between backticks is code.
            let prose: String = comment.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            let words = prose
                .split(|c: char| !c.is_alphanumeric())
                .collect::<Vec<_>>()
                .join(" ");
            let found = SPEECH
                .iter()
                .find(|word| format!(" {words} ").contains(&format!(" {word} ")));
            assert_eq!(found, None, "{path}:{line}: {comment}");
        }
    }
}
