//! The names of the tree hold: what a stranger reads in one file means the same in the next.

use std::collections::{BTreeMap, BTreeSet};
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

/// Small words, which are no names of types by themselves.
const SMALL: [&str; 24] = [
    "After", "Any", "Before", "Behind", "Beside", "Between", "By", "Given", "Gone", "Held", "How", "Kept", "Known",
    "Left", "Lost", "Made", "Nothing", "Seen", "Sent", "Shown", "Taken", "There", "Told", "Which",
];

/// Names of one word that end like participles, and are nouns.
const NOUNS: [&str; 3] = ["Finding", "Reading", "Timing"];

#[test]
fn a_type_is_no_participle_and_no_small_word() {
    for (path, text) in sources() {
        let types = text
            .lines()
            .filter_map(|line| defined(line, &["struct", "enum", "trait", "union"]));
        for name in types.filter(|name| !NOUNS.contains(name)) {
            let one_word = !name.is_empty() && !name[1..].contains(|c: char| !c.is_lowercase());
            let participle = one_word && ["ed", "ing"].iter().any(|ending| name.ends_with(ending));
            assert!(!participle && !SMALL.contains(&name), "{path}: {name}");
        }
    }
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
        let comments = text
            .lines()
            .enumerate()
            .filter_map(|(at, line)| Some((at + 1, line.trim_start().strip_prefix("//")?)));
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

/// Words that add nothing to a name.
const EMPTY: [&str; 12] = [
    "the", "a", "an", "it", "its", "this", "that", "of", "their", "which", "is", "one",
];

/// The words of a sentence, or of a name in camel or snake case: in small letters, without the `s` of a plural.
fn words(text: &str) -> BTreeSet<String> {
    let mut spaced = String::new();
    let mut small = false;
    for c in text.chars() {
        if small && c.is_uppercase() {
            spaced.push(' ');
        }
        small = c.is_lowercase();
        spaced.extend(c.to_lowercase());
    }
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && !EMPTY.contains(word));
    words.map(|word| word.trim_end_matches('s').to_owned()).collect()
}

#[test]
fn no_doc_repeats_its_name() {
    let keywords = [
        "const fn", "async fn", "fn", "struct", "enum", "trait", "type", "const", "static",
    ];
    let doc = |line: &str| line.trim_start().strip_prefix("///").map(str::to_owned);
    // Docs of arguments are the help of the command line, and the clients' are for those who copy them.
    let sources = sources().into_iter();
    let sources = sources.filter(|(path, _)| !path.starts_with("src/cli/") && !path.starts_with("workloads/clients/"));
    for (path, text) in sources {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(sentence) = doc(line).filter(|_| at == 0 || doc(lines[at - 1]).is_none()) else {
                continue;
            };
            let below = lines[at + 1..].iter();
            let item = below.copied().find(|line| !line.trim_start().starts_with("#["));
            let Some(item) = item.filter(|line| doc(line).is_none()) else {
                continue;
            };
            let name = defined(item, &keywords).unwrap_or_else(|| identifier(unscoped(item)));
            let sentence = words(&sentence);
            let repeats = !sentence.is_empty() && sentence.is_subset(&words(name));
            assert!(!repeats, "{path}:{}: {line} {item}", at + 1);
        }
    }
}
