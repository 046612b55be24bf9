//! What all pages share: one file that fetches nothing, and in which nothing runs but our own script.

use crate::text;
use fnv::FnvHasher;
use std::hash::Hasher;

/// A page in the making.
#[derive(Default)]
pub struct Document<'a> {
    /// Its title, as plain text.
    pub title: &'a str,
    /// Style sheets.
    pub styles: &'a [&'a str],
    /// The class of its body.
    pub class: &'a str,
    /// What it shows, as HTML.
    pub body: &'a str,
    /// What its script reads, as JSON that may stand in a script element; none if empty.
    pub data: &'a str,
    /// Parts of its script, which is one function: each declares what the later ones use.
    pub scripts: &'a [&'a str],
    /// Whether its script asks its server for news.
    pub grows: bool,
}

impl Document<'_> {
    /// The whole file.
    pub fn page(&self) -> String {
        // Nobody who writes a value into a history can guess it beforehand: it hangs on all that is shown.
        let nonce = nonce(&[self.title, self.body, self.data]);
        let data = match self.data.is_empty() {
            true => String::new(),
            false => format!("<script type=\"application/json\" id=\"data\">{}</script>\n", self.data),
        };
        let (allowed, script) = match self.scripts.is_empty() {
            true => (String::new(), String::new()),
            false => (
                format!(
                    "; script-src 'nonce-{nonce}'{}",
                    ["", "; connect-src 'self'"][usize::from(self.grows)]
                ),
                format!(
                    "<script nonce=\"{nonce}\">(() => {{\n\"use strict\";\n{}}})();</script>\n",
                    self.scripts.concat()
                ),
            ),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; \
             style-src 'nonce-{nonce}'{allowed}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{} – zooquake</title>\n\
             <style nonce=\"{nonce}\">\n{}</style>\n</head>\n<body class=\"{}\">\n{}\n{data}{script}</body>\n</html>\n",
            text::escape(self.title),
            self.styles.concat(),
            self.class,
            self.body,
        )
    }
}

/// What marks a page's own styles and scripts: the same page has the same.
fn nonce(of: &[&str]) -> String {
    let mut hash = FnvHasher::default();
    of.iter().for_each(|part| hash.write(part.as_bytes()));
    format!("{:016x}", hash.finish())
}

/// Items of a list, each cut after so many characters.
pub fn items<'a>(lines: impl IntoIterator<Item = &'a String>, max: usize) -> String {
    let item = |line: &String| format!("<li>{}</li>", text::html(line, max));
    lines.into_iter().map(item).collect()
}

/// A section of settings, each a name and a value.
pub fn settings<'a>(heading: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let row = |(name, value): (&str, &str)| {
        let (name, value) = (text::html(name, 60), text::html(value, 600));
        format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n")
    };
    let rows: String = rows.map(row).collect();
    format!("<section id=\"settings\">\n<h2>{heading}</h2>\n<table>{rows}</table></section>\n")
}
