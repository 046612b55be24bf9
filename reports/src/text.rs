//! Text that is safe to show: without control characters, and of bounded length. HTML escapes it where it is written.

use crate::lists;
pub use zooquake_checkers::text::if_any;
use zooquake_history::Value;

/// The longest value shown, in characters.
pub const LONG: usize = 240;

/// Whether a character could hide or reorder the text around it.
fn treacherous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Whether no character could hide or reorder the text around it.
pub fn harmless(s: &str) -> bool {
    !s.chars().any(treacherous)
}

/// `s` with control characters spelled out, cut to `max` characters.
pub fn clip(s: &str, max: usize) -> String {
    let mut out = String::with_capacity(s.len().min(max + 16));
    for (n, c) in s.chars().enumerate() {
        if n == max {
            out.push_str(&format!("… ({} bytes)", s.len()));
            break;
        }
        match c {
            '\n' | '\t' => out.push(' '),
            c if treacherous(c) => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// A text of at most `max` characters: of a longer one the beginning and the end, as values that are made one after the
/// other differ there.
pub fn ends(text: &str, max: usize) -> String {
    let shown: Vec<char> = clip(text, LONG).chars().collect();
    if text.chars().count() <= max {
        return shown.into_iter().collect();
    }
    let tail: Vec<char> = text.chars().rev().take(max / 4).collect();
    let tail: String = tail.into_iter().rev().collect();
    let head: String = shown.into_iter().take(max - 1 - max / 4).collect();
    format!("{head}…{}", clip(&tail, LONG))
}

/// A name of at most `max` characters. Of a longer one the beginning and the last character are kept, since nodes of
/// one role differ in their numbers: `coordina…1`.
pub fn name(name: &str, max: usize) -> String {
    let shown = clip(name, LONG);
    if shown.chars().count() <= max {
        return shown;
    }
    let begin: String = shown.chars().take(max.saturating_sub(2)).collect();
    let last = shown.chars().last().unwrap_or_default();
    format!("{begin}…{last}")
}

/// `s` with control characters but line breaks spelled out, uncut.
pub fn visible(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            '\n' => out.push('\n'),
            c if treacherous(c) => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Up to the first full stop that a space and a capital letter follow, or else all of it.
pub fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(". ").map(|(at, stop)| (at, at + stop.len()));
    let mut ends = ends.filter(|&(_, next)| text[next..].starts_with(char::is_uppercase));
    ends.next().map_or(text, |(at, _)| &text[..=at])
}

/// Text on one line that means nothing to Markdown or HTML.
pub fn in_markdown(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in clip(line, 2_000).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// JSON that may stand inside a `script` element: no character of it can end the element.
pub fn script_json(value: &serde_json::Value) -> String {
    let json = value.to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// A value on one line, without the cost of printing a huge one in full.
pub fn value(value: &Value, max: usize) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => clip(s, max),
        Value::Object(map) => {
            let each = map.iter().take(16);
            let parts = each.map(|(k, v)| format!("{} {}", clip(k, 40), self::value(v, max / 2)));
            clip(&lists::joined(parts, ", "), max)
        }
        Value::Array(items) => {
            let parts = items.iter().take(16).map(|v| self::value(v, max / 4));
            let more = if items.len() > 16 {
                format!(", … {} in all", items.len())
            } else {
                String::new()
            };
            clip(&format!("[{}{more}]", lists::joined(parts, ", ")), max)
        }
        other => other.to_string(),
    }
}

/// A moment of the run: `23.412 s`; cut, not rounded, as the checkers write it.
pub fn moment(ns: u64) -> String {
    format!("{}.{:03} s", ns / 1_000_000_000, ns / 1_000_000 % 1000)
}

/// A duration with three digits: `1.24 s`, `340 ms`, `12.0 µs`.
pub fn duration(ns: u64) -> String {
    let (n, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = match n {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{n:.digits$} {unit}")
}

/// A duration of so many milliseconds.
pub fn millis(ms: u64) -> String {
    duration(ms.saturating_mul(1_000_000))
}

/// `1 window`, `3 windows`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", grouped(n))
    }
}

/// A number with thin groups of three: `50 000`.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_script_or_hides_text() {
        let shown = maud::html! { i title=(visible("</script>\"'&")) { (visible("</script>\"'&")) } };
        let escaped = "&lt;/script&gt;&quot;'&amp;";
        assert_eq!(shown.into_string(), format!("<i title=\"{escaped}\">{escaped}</i>"));
        assert_eq!(visible("a\u{1b}[31m\n\u{202e}b"), "a\\x1b[31m\n\\x202eb");
        assert_eq!(clip("a\u{1b}[31m\u{202e}b", 99), "a\\x1b[31m\\x202eb");
        assert!(!script_json(&serde_json::json!("</script><!--\u{2028}")).contains(['<', '>', '\u{2028}']));
    }

    #[test]
    fn long_text_is_cut() {
        let long = "x".repeat(1_000_000);
        assert_eq!(clip(&long, 10), "xxxxxxxxxx… (1000000 bytes)");
        assert!(value(&serde_json::json!({"k": [long]}).into(), 100).len() < 200);
    }

    #[test]
    fn long_names_keep_their_numbers() {
        assert_eq!(name("producer2", 9), "producer2");
        assert_eq!(name("coordinator1", 9), "coordin…1");
        assert!(name(&"x".repeat(1_000_000), 9).chars().count() <= 9);
        assert_eq!(name("\u{202e}b", 9), "\\x202eb");
    }

    #[test]
    fn durations_have_three_digits() {
        let shown: Vec<_> = [7, 12_000, 3_400_000, 340_000_000, 1_240_000_000, 61_000_000_000]
            .map(duration)
            .into();
        assert_eq!(shown, ["7 ns", "12.0 µs", "3.40 ms", "340 ms", "1.24 s", "61.0 s"]);
        assert_eq!(moment(13_717_999_999), "13.717 s");
        assert_eq!(count(1, "op"), "1 op");
        assert_eq!(count(50_000, "op"), "50\u{a0}000 ops");
    }
}
