//! XML 1.0: what may stand in it, and how.

/// Whether XML 1.0 allows the character at all, even escaped.
fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Text for the inside of an element or of an attribute in double quotes. Characters that XML does not allow are
/// replaced by U+FFFD, the sign for exactly that.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Written as they are, a reader would take them for spaces in an attribute, or lose the return in a text.
            '\n' | '\r' | '\t' => out.push_str(&format!("&#{};", c as u32)),
            c if allowed(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

/// An opening tag with attributes; `end` is `>` or `/>`.
pub fn tag(name: &str, attributes: &[(&str, String)], end: &str) -> String {
    let attributes: String = attributes
        .iter()
        .map(|(key, value)| format!(" {key}=\"{}\"", escape(value)))
        .collect();
    format!("<{name}{attributes}{end}")
}

/// An element with text.
pub fn element(name: &str, attributes: &[(&str, String)], text: &str) -> String {
    // Line breaks in a text may stand as they are, which people who open the file prefer.
    let text = escape(text).replace("&#10;", "\n");
    format!("{}{text}</{name}>", tag(name, attributes, ">"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_and_nothing_forbidden_stays() {
        assert_eq!(escape("a<b>&\"c\" ]]>"), "a&lt;b&gt;&amp;&quot;c&quot; ]]&gt;");
        assert_eq!(
            escape("\u{0}\u{1b}[31m\u{b}\u{fffe}é🦓"),
            "\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}é🦓"
        );
        assert_eq!(escape("a\r\n\tb"), "a&#13;&#10;&#9;b");
    }

    #[test]
    fn elements_have_attributes_and_text() {
        let text = element(
            "failure",
            &[("type", "stale-write".into()), ("message", "a\nb".into())],
            "c\nd",
        );
        assert_eq!(text, "<failure type=\"stale-write\" message=\"a&#10;b\">c\nd</failure>");
    }
}
