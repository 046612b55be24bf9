//! What reaches the terminal. Histories, plans and names of files come from elsewhere: what in them would steer a terminal, or
//! reorder what it shows, is written out instead. The lines that [`crate::output`] writes all pass through [`plain`].

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use console::Term;
use textwrap::Options;
use zooquake_checkers::Verdict;

/// The word of a verdict as stdout is to show it: coloured on a terminal, unless the user wants no colours (`NO_COLOR`, `TERM=dumb`).
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

/// A line as stdout is to show it: on a terminal broken between words, elsewhere whole, for what reads lines.
pub fn folded(line: &str) -> String {
    match Term::stdout().size_checked() {
        Some((_, columns)) => fold(line, columns.into()),
        None => line.to_owned(),
    }
}

/// A line broken between words, so that it fits into so many columns; all but its beginning is indented by two.
fn fold(line: &str, columns: usize) -> String {
    if columns < NARROW {
        return line.to_owned();
    }
    textwrap::fill(line, Options::new(columns).subsequent_indent("  ").break_words(false))
}

/// A text with all characters but line breaks and tabs written as `\u001b` that are not shown themselves: control characters,
/// overrides and marks of direction, separators of lines, invisible ones. JSON stays the JSON that it is.
pub fn plain(text: &str) -> String {
    escaped(text, |c| steers(c) && c != '\n' && c != '\t')
}

/// The same for a text that is to stay within one line.
pub fn line(text: &str) -> String {
    escaped(text, steers)
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
    use super::{fold, line, plain};

    #[test]
    fn lines_are_broken_between_words_and_indented() {
        let why = "  The resource accepted a write of 6 at 7.563 s under grant g5, after one of a newer grant";
        let broken = "  The resource accepted a write of 6 at\n  7.563 s under grant g5, after one of a\n  newer grant";
        assert_eq!(fold(why, 40), broken);
        let path = format!("- {}", "x".repeat(60));
        assert!(fold(&path, 40).contains(&"x".repeat(60)));
        assert_eq!(fold(why, 39), why);
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
