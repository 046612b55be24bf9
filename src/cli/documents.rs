//! The documents hold: each command that they show is one, and each link leads somewhere.

use super::args::Arguments;
use crate::planning::names;
use clap::{CommandFactory, Parser};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The Markdown files of this repository, each with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tops = [
        "README.md",
        "DESIGN.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "docker",
        "docs",
        "workloads",
    ];
    tops.into_iter()
        .flat_map(|top| WalkDir::new(root.join(top)))
        .map(|entry| entry.expect("a document").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.clone(), std::fs::read_to_string(&path).expect("Markdown")))
        .collect()
}

/// The words of a command without what explains it, redirects it, or comes after it.
fn words(line: &str) -> Option<Vec<String>> {
    let command = line.trim_start();
    let command = command
        .strip_prefix("cargo run --release -- ")
        .or_else(|| command.strip_prefix("zooquake "))?;
    let end = ["  ", " > ", " && ", " | ", " # "]
        .iter()
        .filter_map(|sign| command.find(sign))
        .min();
    shlex::split(&command[..end.unwrap_or(command.len())])
}

/// Whether a line is to be one: a drawing may have the program's name too.
fn is_command(line: &str) -> bool {
    words(line)
        .and_then(|words| words.into_iter().next())
        .is_some_and(|word| word.starts_with(|c: char| c == '-' || c.is_ascii_lowercase()))
}

#[track_caller]
fn assert_is_command(line: &str, place: &str) {
    let words = words(line).unwrap_or_else(|| panic!("{place}: {line}: no words of a shell"));
    if let Err(error) = Arguments::try_parse_from(["zooquake".to_owned()].into_iter().chain(words)) {
        assert!(!error.use_stderr(), "{place}: {line}: {error}");
    }
}

#[test]
fn each_command_of_the_documents_is_one() {
    let mut count = 0;
    for (path, text) in documents() {
        for line in text.lines().filter(|line| line.starts_with("    ") && is_command(line)) {
            assert_is_command(line, &path.display().to_string());
            count += 1;
        }
    }
    assert!(count > 60, "{count} commands");
}

#[test]
fn each_example_of_the_help_is_a_command() {
    let mut commands = vec![Arguments::command()];
    let mut count = 0;
    while let Some(command) = commands.pop() {
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in examples.lines().filter(|line| line.starts_with("  zooquake ")) {
            assert_is_command(line, command.get_name());
            count += 1;
        }
        commands.extend(command.get_subcommands().cloned());
    }
    assert!(count > 60, "{count} examples");
}

/// The places of a document that a link can lead to, as GitHub names them.
fn anchors(text: &str) -> BTreeSet<String> {
    let slug = |heading: &str| -> String {
        let lower = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = lower.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(slug).collect()
}

/// Whether a file is a page or a picture of the book: logs of what was measured are not.
fn is_in_the_book(path: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().expect("a file that is there");
    let docs = whole(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"));
    whole(path)
        .strip_prefix(docs)
        .is_ok_and(|page| !page.starts_with("log"))
}

#[test]
fn each_link_leads_somewhere() {
    let mut count = 0;
    for (path, text) in documents() {
        for (_, rest) in text
            .match_indices("](")
            .map(|(at, sign)| text[at..].split_at(sign.len()))
        {
            let (target, _) = rest.split_once(')').expect("the end of a link");
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => path.clone(),
                file => path.parent().expect("a folder").join(file),
            };
            let what = format!("{} links to {target}", path.display());
            let to = to.canonicalize().unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(
                !is_in_the_book(&path) || is_in_the_book(&to),
                "{what}, which is not in the book"
            );
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&to).expect("Markdown"));
                assert!(there.contains(anchor), "{what}; there are {there:?}");
            }
            count += 1;
        }
    }
    assert!(count > 40, "{count} links");
}

#[test]
fn each_page_of_the_documents_is_in_the_book() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the book's contents");
    let (mut count, mut lacks) = (0, Vec::new());
    for (path, _) in documents() {
        if !is_in_the_book(&path) {
            continue;
        }
        let page = path.strip_prefix(&docs).expect("a page");
        count += 1;
        if page != Path::new("SUMMARY.md") && !summary.contains(&format!("({})", page.display())) {
            lacks.push(page.to_owned());
        }
    }
    assert!(
        count > 20 && lacks.is_empty(),
        "of {count} pages {lacks:?} are not in SUMMARY.md"
    );
}

/// The texts between backticks, outside of indented blocks.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.lines().filter(|line| !line.starts_with("    "));
    prose.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Whether one of these paths is the one that the design names: as it stands, or below one of the folders that its
/// paragraph is about. A part in angle brackets stands for any name.
fn is_there(named: &str, paths: &[PathBuf]) -> bool {
    let mut glob = String::new();
    for (at, part) in named.trim_end_matches('/').split(['<', '>']).enumerate() {
        glob += if at % 2 == 0 { part } else { "*" };
    }
    let glob = globset::GlobBuilder::new(&glob).literal_separator(true).build();
    let glob = glob.expect("a path").compile_matcher();
    let is_named = |path: &Path| glob.is_match(path);
    paths.iter().any(|path| {
        let folders = ["src", "backend/src"]
            .iter()
            .filter_map(|folder| path.strip_prefix(folder).ok());
        is_named(path) || folders.into_iter().any(is_named)
    })
}

#[test]
fn each_path_and_name_of_the_design_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let design = std::fs::read_to_string(root.join("DESIGN.md")).expect("the design");
    let (mut all, mut words) = (Vec::new(), BTreeSet::new());
    let tree = WalkDir::new(root).min_depth(1).into_iter();
    for entry in tree.filter_entry(|entry| entry.file_name() != "target" && entry.file_name() != ".git") {
        let path = entry.expect("a file").into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("Rust");
            let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.extend(names.map(str::to_owned));
        }
        all.push(path.strip_prefix(root).expect("below").to_owned());
    }
    let (mut paths, mut names, mut gone) = (0, 0, Vec::new());
    for text in quoted(&design) {
        let is_name = text.chars().all(|c| c.is_alphanumeric() || "_:".contains(c))
            && (text.starts_with(char::is_uppercase) || text.contains('_'));
        let is_path = text.contains('/') && !text.contains(' ') && !text.starts_with('/');
        if is_path && names::built_in(text).is_none_or(|workload| workload.name() != text) {
            paths += 1;
            gone.extend((!is_there(text, &all)).then_some(text));
        } else if is_name {
            names += 1;
            gone.extend((!text.split("::").all(|name| words.contains(name))).then_some(text));
        }
    }
    assert!(paths > 60 && names > 60, "{paths} paths, {names} names");
    assert_eq!(gone, [""; 0]);
}
