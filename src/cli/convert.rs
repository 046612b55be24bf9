//! `zooquake convert`

use super::check::{Format, bytes, passed_over, read};
use super::exit::{Code, Usage};
use super::paths;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use zooquake_checkers::search::{ModelKind, infer};
use zooquake_history::{
    History, Process,
    edn::{to_edn, to_keyed},
    jsonl::to_line,
    textlog::to_log,
};

/// `convert`
#[derive(Debug, Args)]
#[command(after_help = "\
The names give the formats: .jsonl is ours, .json the same as an array, .edn Jepsen's, .log Jepsen's text log, which has neither
times nor nodes. .txt is porcupine's key-value text where the operations are get, put, append and cas under keys, else Jepsen's
text log; what is read may be Jepsen's history.txt, too.
What both formats can express comes back as it was: keywords that are not names of fields become strings such as \":timeout\", and
keywords again. What our events have no field for, such as :exception, is left out.

Examples:
  zooquake convert runs/latest/history.jsonl history.edn
  zooquake convert history.edn history.jsonl
  zooquake convert c10-ok.txt c10-ok.edn")]
pub struct ConvertOptions {
    /// The history to read
    #[arg(value_name = "IN")]
    pub from: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT")]
    pub to: PathBuf,
    /// JSON on stdout: the file and its number of events
    #[arg(long)]
    pub json: bool,
}

/// Writes a history in another format.
///
/// # Errors
/// If the history is damaged, or the file cannot be written; then none is written.
pub fn convert(options: &ConvertOptions) -> Result<Code> {
    let (from, to) = (&options.from, &options.to);
    paths::file(from, "give the file of a history as IN")?;
    let (read_as, write_as) = (format(from)?, format(to)?);
    let way_out = "give the file to write as OUT";
    paths::output_file(to, way_out)?;
    paths::is_no_input(to, &[from], way_out)?;
    let bytes = bytes(from).map_err(|error| Usage(format!("{error:#}: give the file of a history as IN")))?;
    let read_as = read_as.within(&bytes);
    let (history, damage) = read(read_as, &bytes);
    if let Some(damage) = damage {
        return Err(Usage(format!("{}, {damage}", from.display())).into());
    }
    for passed in passed_over(read_as, &bytes, None) {
        eprintln!("note: {}, {passed}", from.display());
    }
    let keyed = to.extension().is_some_and(|end| end == "txt") && infer(&history) == Some(ModelKind::KV);
    let lines = to.extension().is_some_and(|end| end == "jsonl");
    let text = match write_as {
        Format::Edn => to_edn(&history),
        Format::Json if !lines => to_array(&history),
        Format::Json => history.events.iter().map(to_line).collect(),
        Format::Log if keyed => to_keyed(&history).map_err(|what| Usage(format!("{}, {what}", from.display())))?,
        Format::Log | Format::Txt => to_log(&history),
    };
    if let Some(left) = left_out(&history).filter(|_| keyed) {
        eprintln!("note: {}, {left}", from.display());
    }
    write(to, &text)?;
    print(to, &history, options.json);
    Ok(Code::Valid)
}

/// Prints the file of a history that was written, and how many events it has.
pub fn print(file: &Path, history: &History, json: bool) {
    let events = history.events.len();
    if json {
        println!("{}", json!({ "file": file, "events": events }));
    } else {
        println!("{} ({events} events)", file.display());
    }
}

/// The sentence on the events that porcupine's text has no words for: those of processes that have names.
fn left_out(history: &History) -> Option<String> {
    let mut named = history
        .events
        .iter()
        .filter(|event| matches!(event.process, Process::Name(_)));
    let first = named.next()?;
    let more = match named.count() {
        0 => String::new(),
        1 => ", and 1 more event like it".to_owned(),
        more => format!(", and {more} more events like it"),
    };
    Some(format!(
        "event {} is left out, {} of process {}{more}: porcupine's text has processes with numbers alone",
        first.index, first.f, first.process
    ))
}

/// A history as an array, one event a line.
fn to_array(history: &History) -> String {
    let lines: Vec<String> = history.events.iter().map(to_line).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    format!("[{}]\n", lines.join(",\n"))
}

fn format(path: &Path) -> Result<Format> {
    let unknown = || {
        Usage(format!(
            "{}: expected a name in .jsonl, .json, .edn, .log or .txt",
            path.display()
        ))
    };
    Ok(Format::from_name(path).ok_or_else(unknown)?)
}

/// Writes a file in full or not at all.
fn write(path: &Path, text: &str) -> Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    std::fs::write(&draft, text).with_context(|| format!("writing {}", draft.display()))?;
    std::fs::rename(&draft, path).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{ConvertOptions, convert, left_out};
    use crate::cli::exit::Code;
    use zooquake_history::textlog::parse_log;

    const SWAPPED: &str = "INFO  jepsen.util - 0 :invoke :put [\"x\" \"a\"]\n\
                           INFO  jepsen.util - :nemesis :info :start nil\n\
                           INFO  jepsen.util - 0 :ok :put [\"x\" \"a\"]\n\
                           INFO  jepsen.util - :nemesis :info :stop nil\n\
                           INFO  jepsen.util - 0 :invoke :cas [\"x\" \"a\" \"b\"]\n\
                           INFO  jepsen.util - 0 :ok :cas [\"x\" [\"a\" \"b\"]]\n";

    #[test]
    fn a_swap_under_a_key_is_written_with_the_key_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("jepsen.log"), folder.path().join("swapped.txt"));
        std::fs::write(&from, SWAPPED).expect("it can be written");
        let options = ConvertOptions {
            from,
            to: to.clone(),
            json: false,
        };
        assert_eq!(convert(&options).expect("it can be converted"), Code::Valid);
        assert_eq!(
            std::fs::read_to_string(to).expect("it is there"),
            "{:process 0, :type :invoke, :f :put, :key \"x\", :value \"a\"}\n\
             {:process 0, :type :ok, :f :put, :key \"x\", :value \"a\"}\n\
             {:process 0, :type :invoke, :f :cas, :key \"x\", :value [\"a\" \"b\"]}\n\
             {:process 0, :type :ok, :f :cas, :key \"x\", :value [\"a\" \"b\"]}\n"
        );
    }

    #[test]
    fn what_porcupines_text_has_no_words_for_is_counted() {
        let (mut history, damage) = parse_log(SWAPPED.as_bytes());
        assert_eq!(damage, None);
        let sentence = "event 1 is left out, start of process nemesis, and 1 more event like it: porcupine's text has \
                        processes with numbers alone";
        assert_eq!(left_out(&history).as_deref(), Some(sentence));
        history.events.truncate(1);
        assert_eq!(left_out(&history), None);
    }
}
