//! `zooquake check --expect` and `--expect-results`: histories with known verdicts.

use super::checked_input::{self, CheckLimits, CheckedInput};
use super::input::{CheckInput, RESULTS, bytes, is_run};
use super::{CheckOptions, as_json, print, warn};
use crate::cli::exit::{Code, Usage};
use crate::pack;
use crate::terminal::line;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use zooquake_backend::files;
use zooquake_checkers::Verdict;
use zooquake_checkers::search::ModelKind;
use zooquake_history::edn::{self, Edn};

/// A line of the table.
#[derive(Debug, PartialEq, Eq)]
struct ExpectedResult {
    /// The input, as it is written.
    file: String,
    /// What it is checked as, as it is written; a family or a variant for what is not searched.
    model: String,
    verdict: Verdict,
}

/// Checks the inputs of the table that are at the paths given, or below them.
///
/// # Errors
/// If the table cannot be read, or names none of them.
pub fn check(file: &Path, options: &CheckOptions, how: CheckLimits<'_>) -> Result<Code> {
    if !file.exists() {
        return Err(Usage(format!("there is nothing at {}", file.display())).into());
    }
    let text = files::read_to_string(file, files::SETTINGS)
        .map_err(|error| Usage(format!("reading {}: {error}", file.display())))?;
    let table = parse(&text).map_err(|what| Usage(format!("{}, {what}", file.display())))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let wanted = selected(table, folder, &options.paths)?;
    if wanted.is_empty() {
        let text = format!("{} names nothing that is at or below the paths given", file.display());
        return Err(Usage(text).into());
    }
    let mut all = Vec::new();
    let mut wrong = 0;
    for expected in &wanted {
        let path = folder.join(&expected.file);
        let checked = match path.exists() {
            true => model(&path, expected).and_then(|model| checked_input::check(&path, model, how)),
            false => Err(Usage("there is no such file".to_owned())),
        };
        let as_expected = checked
            .as_ref()
            .is_ok_and(|one| one.results.verdict == expected.verdict);
        wrong += usize::from(!as_expected);
        if options.json {
            all.push(compared_json(&path, expected, &checked));
        } else if !as_expected {
            mismatch(expected, &checked).lines().for_each(|line| println!("{line}"));
        }
        warn(&path, &checked);
    }
    if options.json {
        crate::output::json(&all)?;
    } else {
        println!("{} of {} verdicts are as expected", wanted.len() - wrong, wanted.len());
    }
    Ok(if wrong == 0 { Code::Valid } else { Code::Invalid })
}

/// Checks histories of Jepsen's, each against the verdict in `results.edn` beside it. One that has none beside it is
/// printed, and compared with nothing.
///
/// # Errors
/// If no input has one.
pub fn check_results(inputs: &[CheckInput], options: &CheckOptions, how: CheckLimits<'_>) -> Result<Code> {
    let mut all = Vec::new();
    let mut codes = Vec::new();
    let mut compared = 0;
    for input in inputs {
        let path = &input.path;
        let checked = checked_input::check_with_copies(input, options.model, how);
        let mut one = as_json(path, &checked);
        match found_by_jepsen(path) {
            Ok(None) if options.json => {}
            Ok(None) => {
                print(path, &checked);
                println!("- there is no {RESULTS} beside it to compare with");
            }
            Ok(Some(verdict)) => {
                compared += 1;
                let as_expected = checked.as_ref().is_ok_and(|one| one.results.verdict == verdict);
                codes.push(if as_expected { Code::Valid } else { Code::Invalid });
                one["expected"] = json!(verdict);
                if !as_expected && !options.json {
                    let model = options.model.map_or("inferred".to_owned(), |model| model.to_string());
                    let file = path.display().to_string();
                    let expected = ExpectedResult { file, model, verdict };
                    mismatch(&expected, &checked)
                        .lines()
                        .for_each(|line| println!("{line}"));
                }
            }
            Err(error) => {
                codes.push(Code::Usage);
                one["error"] = json!(format!("{error:#}"));
                if !options.json {
                    println!("{}: {}", line(&path.display().to_string()), line(&format!("{error:#}")));
                }
            }
        }
        all.push(one);
        warn(path, &checked);
    }
    if codes.is_empty() {
        return Err(Usage(format!("there is no {RESULTS} beside any history that was given")).into());
    }
    if options.json {
        crate::output::json(&all)?;
    } else {
        let right = codes.iter().filter(|code| **code == Code::Valid).count();
        println!("{right} of {compared} verdicts are as expected");
    }
    Ok(Code::worst(codes))
}

/// The verdict in `results.edn` beside a history; `None` if there is no such file.
///
/// # Errors
/// If it cannot be read, or has no verdict.
fn found_by_jepsen(history: &Path) -> Result<Option<Verdict>> {
    let names = ["", ".gz", ".zst"].map(|packed| history.with_file_name(format!("{RESULTS}{packed}")));
    let Some(file) = names.into_iter().find(|file| file.exists()) else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes(&file)?).with_context(|| format!("reading {}", file.display()))?;
    let results = edn::parse(&text).map_err(|damage| anyhow!("{}, {damage}", file.display()))?;
    let results = match results {
        Edn::Tagged(_, results) => *results,
        results => results,
    };
    let key = Edn::Keyword("valid?".to_owned());
    let found = match &results {
        Edn::Map(entries) => entries.iter().find(|(name, _)| *name == key).map(|(_, found)| found),
        _ => None,
    };
    match found {
        Some(Edn::Bool(true)) => Ok(Some(Verdict::Valid)),
        Some(Edn::Bool(false)) => Ok(Some(Verdict::Invalid)),
        Some(Edn::Keyword(name)) if name == "unknown" => Ok(Some(Verdict::Unknown)),
        Some(other) => bail!("{}: :valid? is {other}, and no verdict", file.display()),
        None => bail!("{} has no :valid?", file.display()),
    }
}

/// What an input is searched as; `None` if it is one that a family judges, which the input names itself.
fn model(path: &Path, expected: &ExpectedResult) -> Result<Option<ModelKind>, Usage> {
    match expected.model.parse::<ModelKind>() {
        Ok(kind) => Ok(Some(kind)),
        Err(_) if is_run(path) || pack::is_pack(path) || path.extension().is_some_and(|end| end == "jsonl") => Ok(None),
        Err(what) => Err(Usage(what)),
    }
}

/// The lines whose file is at one of the paths or below it.
fn selected(table: Vec<ExpectedResult>, folder: &Path, paths: &[PathBuf]) -> Result<Vec<ExpectedResult>> {
    let real = |path: &PathBuf| {
        path.canonicalize()
            .map_err(|_| Usage(format!("there is nothing at {}", path.display())))
    };
    let within: Vec<PathBuf> = paths.iter().map(real).collect::<Result<_, _>>()?;
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let folder = folder
        .canonicalize()
        .with_context(|| format!("reading {}", folder.display()))?;
    let chosen = |line: &ExpectedResult| {
        let file = folder.join(&line.file);
        // One that is missing has no other name than this.
        let file = file.canonicalize().unwrap_or(file);
        within.iter().any(|path| file.starts_with(path))
    };
    Ok(table.into_iter().filter(chosen).collect())
}

/// Reads a table. A first line that begins with `file` is its heading; empty lines and such that begin with `#` are
/// passed over.
fn parse(text: &str) -> Result<Vec<ExpectedResult>, String> {
    let mut table = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end_matches('\r');
        let heading = number == 1 && line.starts_with("file\t");
        if heading || line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let &[file, model, verdict] = fields.as_slice() else {
            let found = fields.len();
            return Err(format!(
                "line {number}: expected file, model and verdict with tabs between, found {found} fields"
            ));
        };
        let verdict = match verdict.trim() {
            "valid" => Verdict::Valid,
            "invalid" => Verdict::Invalid,
            "unknown" => Verdict::Unknown,
            other => {
                return Err(format!(
                    "line {number}: expected valid, invalid or unknown, found {other:?}"
                ));
            }
        };
        table.push(ExpectedResult {
            file: file.to_owned(),
            model: model.to_owned(),
            verdict,
        });
    }
    Ok(table)
}

fn mismatch(expected: &ExpectedResult, checked: &Result<CheckedInput, Usage>) -> String {
    let ExpectedResult { file, model, verdict } = expected;
    let head = format!("{}: expected {verdict} ({}), ", line(file), line(model));
    let results = match checked {
        Ok(checked) => &checked.results,
        Err(Usage(why)) => return format!("{head}but {}", line(why)),
    };
    let mut text = format!("{head}found {}", results.verdict);
    for anomaly in &results.anomalies {
        text += &format!("\n  {}: {}", anomaly.kind, line(&anomaly.why));
    }
    for reason in &results.reasons {
        text += &format!("\n  - {}", line(reason));
    }
    text
}

fn compared_json(path: &Path, expected: &ExpectedResult, checked: &Result<CheckedInput, Usage>) -> Value {
    let mut one = as_json(path, checked);
    one["expected"] = json!(expected.verdict);
    one["model"] = json!(expected.model);
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_table() {
        let table = parse("file\tmodel\tverdict\n# ours\na/b.edn\tregister\tinvalid\r\n\nc.log\tmutex\tvalid\n");
        let line = |file: &str, model: &str, verdict| ExpectedResult {
            file: file.to_owned(),
            model: model.to_owned(),
            verdict,
        };
        let expected = [
            line("a/b.edn", "register", Verdict::Invalid),
            line("c.log", "mutex", Verdict::Valid),
        ];
        assert_eq!(table.unwrap(), expected);
    }

    #[test]
    fn says_which_line_of_a_table_is_wrong() {
        assert!(
            parse("a\tregister\tvalid\nb\tvalid\n")
                .unwrap_err()
                .starts_with("line 2: ")
        );
        assert!(parse("a\tregister\tgood\n").unwrap_err().contains("\"good\""));
    }
}
