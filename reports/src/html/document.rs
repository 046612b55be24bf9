//! The frame of all pages: one file that fetches nothing, and in which nothing runs but our own script; and what
//! several pages show.

use crate::text;
use fnv::FnvHasher;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;
use std::hash::Hasher;
use zooquake_checkers::NotJudged;

/// A page in the making.
#[derive(Default)]
pub struct Document<'a> {
    /// Its title, as plain text.
    pub title: &'a str,
    /// Style sheets.
    pub styles: &'a [&'a str],
    /// The class of its body.
    pub class: &'a str,
    /// The content of its body.
    pub body: Markup,
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
        let nonce = nonce(&[self.title, &self.body.0, self.data]);
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(self.policy(&nonce));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (text::visible(self.title)) " – zooquake" }
                    style nonce=(nonce) { "\n" (PreEscaped(self.styles.concat())) }
                }
                "\n"
                body class=(self.class) {
                    "\n" (self.body) "\n"
                    @if !self.data.is_empty() {
                        script type="application/json" id="data" { (PreEscaped(self.data)) }
                        "\n"
                    }
                    @if !self.scripts.is_empty() {
                        script nonce=(nonce) {
                            (PreEscaped("(() => {\n\"use strict\";\n"))
                            (PreEscaped(self.scripts.concat()))
                            (PreEscaped("})();"))
                        }
                        "\n"
                    }
                }
            }
            "\n"
        }
        .into_string()
    }

    /// What a browser may load and run for the page: only what has the nonce.
    fn policy(&self, nonce: &str) -> String {
        let mut policy = format!("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'nonce-{nonce}'");
        if !self.scripts.is_empty() {
            policy += &format!("; script-src 'nonce-{nonce}'");
            policy += if self.grows { "; connect-src 'self'" } else { "" };
        }
        policy
    }
}

/// What marks a page's own styles and scripts: the same page has the same.
fn nonce(of: &[&str]) -> String {
    let mut hash = FnvHasher::default();
    of.iter().for_each(|part| hash.write(part.as_bytes()));
    format!("{:016x}", hash.finish())
}

/// The first of some lines, which stands alone, and the others.
pub fn first_and_rest(lines: &[String]) -> (&str, &[String]) {
    lines.split_first().map_or(("", &[]), |(first, rest)| (first, rest))
}

/// Items of a list, each cut after so many characters.
pub fn items<'a>(lines: impl IntoIterator<Item = &'a String>, max: usize) -> Markup {
    html! {
        @for line in lines { li { (text::clip(line, max)) } }
    }
}

/// A section of settings, each a name and a value.
pub fn settings<'a>(heading: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        section #settings {
            h2 { (heading) }
            table {
                @for (name, value) in rows {
                    tr {
                        th scope="row" { (text::clip(name, 60)) }
                        td { (text::clip(value, 600)) }
                    }
                    "\n"
                }
            }
        }
        "\n"
    }
}

/// Checks that were not judged, in the tables of nights and comparisons: each once, with why the first run that names
/// it did not judge it.
pub fn unjudged_checks<'a>(all: impl Iterator<Item = &'a NotJudged>) -> Markup {
    let mut checks: BTreeMap<&str, &str> = BTreeMap::new();
    for one in all {
        checks.entry(&one.check).or_insert(&one.why);
    }
    html! {
        @for (check, why) in checks {
            span.seen.known title=(text::clip(why, 300)) { (text::clip(check, 60)) " " i { "not judged" } }
        }
    }
}
