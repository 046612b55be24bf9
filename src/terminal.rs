//! What reaches the terminal. Histories, plans and names of files come from elsewhere: what in them would steer a
//! terminal, or reorder what it shows, is written out instead. The lines that [`crate::output`] writes all pass through
//! [`plain`].

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use console::Term;
use textwrap::{Options, WordSplitter};
use zooquake_checkers::Verdict;

/// The word of a verdict as stdout is to show it: coloured on a terminal, unless the user wants no colours (`NO_COLOR`,
/// `TERM=dumb`).
pub fn verdict(verdict: Verdict) -> String {
    let colour = match verdict {
        Verdict::Valid => AnsiColor::Green,
        Verdict::Invalid => AnsiColor::Red,
        Verdict::Unknown => AnsiColor::Yellow,
    };
    let style = match AutoStream::choice(&std::io::stdout()) {
        ColorChoice::Never => Style::new(),
        _ => colour.on_default().bold(),
    };
    format!("{style}{verdict}{style:#}")
}

/// Narrower terminals have lines broken anywhere.
const NARROW: usize = 40;

/// Prints a line: on a terminal broken between words, elsewhere whole, for what reads lines.
pub fn print_folded(text: &str) {
    match Term::stdout().size_checked() {
        Some((_, columns)) => fold(&line(text), columns.into())
            .lines()
            .for_each(|part| println!("{part}")),
        None => println!("{text}"),
    }
}

/// The columns of a page that no terminal shows.
const PAGE: usize = 80;

/// Prints a line that only people read, broken between words to the width of the terminal, or elsewhere of a page; all
/// but its beginning is indented by so many columns.
pub fn print_wrapped(text: &str, indent: usize) {
    let columns = Term::stdout()
        .size_checked()
        .map_or(PAGE, |(_, columns)| columns.into());
    indented(&line(text), columns, indent)
        .lines()
        .for_each(|part| println!("{part}"));
}

/// A line broken between words, so that it fits into so many columns; all but its beginning is indented by two.
fn fold(line: &str, columns: usize) -> String {
    indented(line, columns, 2)
}

fn indented(line: &str, columns: usize, indent: usize) -> String {
    if columns < NARROW {
        return line.to_owned();
    }
    let indent = " ".repeat(indent);
    // Names such as `stale-write` stay whole.
    let options = Options::new(columns).word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(line, options.subsequent_indent(&indent).break_words(false))
}

/// A text with all characters but line breaks and tabs written as `\u001b` that are not shown themselves: control
/// characters, overrides and marks of direction, separators of lines, invisible ones. JSON stays the JSON that it is.
pub fn plain(text: &str) -> String {
    text.split('\n')
        .map(|line| disarmed(escaped(line, |c| steers(c) && c != '\t')))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The same for a text that is to stay within one line, and which no CI system takes for a command to it.
pub fn line(text: &str) -> String {
    disarmed(escaped(text, steers))
}

/// The same for a text of several lines, such as an error with the log that explains it: no line but the first begins
/// with anything but a mark of ours.
pub fn entry(text: &str) -> String {
    let mut lines = text.trim_end_matches('\n').split('\n').map(line);
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |all, next| all + "\n  | " + &next)
}

/// A line that GitHub's runner prints rather than obeys: it takes `::error::` at the beginning of a line, and
/// `##[error]` anywhere in it, for its own. What stands within JSON's strings stays what it is.
fn disarmed(line: String) -> String {
    let line = line.replace("##[", "#\\u0023[");
    let text = line.trim_start();
    match text.strip_prefix("::") {
        Some(rest) => format!("{}\\u003a:{rest}", &line[..line.len() - text.len()]),
        None => line,
    }
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if !hidden(c) {
            plain.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            plain += &format!("\\u{unit:04x}");
        }
    }
    plain
}

/// Whether a character does something else than to be shown: it controls, reorders, separates lines, or is invisible.
pub fn steers(c: char) -> bool {
    let marks = matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
    let more = matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || marks || more
}

#[cfg(test)]
mod tests {
    use super::{entry, fold, indented, line, plain};

    #[test]
    fn lines_are_broken_between_words_and_indented() {
        let why = "  The resource accepted a write of 6 at 7.563 s under grant g5, after one of a newer grant";
        let broken = "  The resource accepted a write of 6 at\n  7.563 s under grant g5, after one of a\n  newer grant";
        assert_eq!(fold(why, 40), broken);
        let path = format!("- {}", "x".repeat(60));
        assert!(fold(&path, 40).contains(&"x".repeat(60)));
        assert_eq!(fold(why, 39), why);
        let names = indented("queue       lost-item, duplicate-delivery, stuck-queue", 50, 12);
        assert_eq!(
            names,
            "queue       lost-item, duplicate-delivery,\n            stuck-queue"
        );
    }

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(
            plain("a\u{1b}[2Jb\rc\u{7f}\u{9b}31m"),
            "a\\u001b[2Jb\\u000dc\\u007f\\u009b31m"
        );
        assert_eq!(plain("x\u{202e}y\u{2066}z"), "x\\u202ey\\u2066z");
        assert_eq!(plain("\u{e0041}"), "\\udb40\\udc41");
        assert_eq!(line("two\nlines"), "two\\u000alines");
    }

    #[test]
    fn no_text_from_elsewhere_begins_a_line_or_commands_a_runner() {
        let foreign = "no answer\n::error::mine\r\nverdict: valid\n  ##[error]mine";
        assert_eq!(line(foreign).lines().count(), 1);
        let shown = entry(foreign);
        assert!(shown.lines().skip(1).all(|line| line.starts_with("  | ")), "{shown}");
        assert_eq!(shown.lines().count(), 4);
        for text in [foreign, "::error::mine", " \t::set-output name=x::y", "x ##[group]y"] {
            for shown in [line(text), entry(text), plain(text)] {
                let command = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
                assert!(!shown.lines().any(command), "{shown}");
            }
        }
        assert_eq!(line("std::io at a::b"), "std::io at a::b");
    }

    #[test]
    fn what_is_only_shown_stays() {
        let text = "Grüße, 東京 🦀\n\tverdict: × “valid”";
        assert_eq!(plain(text), text);
    }

    #[test]
    fn json_stays_json() {
        let json = serde_json::to_string_pretty(&serde_json::json!({ "why": "\u{9b}a\u{202e}" })).expect("it is JSON");
        let again: serde_json::Value = serde_json::from_str(&plain(&json)).expect("it still is");
        assert_eq!(again["why"], "\u{9b}a\u{202e}");
    }
}
