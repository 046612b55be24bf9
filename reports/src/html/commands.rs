//! The command lines that reproduce a run.

use crate::model::RunModel;
use crate::text;
use maud::{Markup, html};

/// Longest command line that is shown, in bytes: one with the longest path fits. Longer ones are left out, because a
/// line that is cut off does something else.
const LONGEST_LINE: usize = 20_000;

/// The command lines that reproduce the run, without those longer than [`LONGEST_LINE`]; at most 8.
pub fn shown<'a>(model: &RunModel<'a>) -> impl Iterator<Item = &'a String> {
    let lines = model.extras.reproduce.iter();
    lines.filter(|line| line.len() <= LONGEST_LINE).take(8)
}

/// Them, to be seen and copied; nothing if there are none.
pub fn reproduce(model: &RunModel<'_>) -> Markup {
    let mut lines = shown(model).peekable();
    if lines.peek().is_none() {
        return Markup::default();
    }
    html! {
        div {
            h3 { "See it again " button #ticket .show.js type="button" { "Copy for a ticket" } }
            pre.commands { @for line in lines { code { (command(line)) } "\n" } }
        }
    }
}

/// A command that is broken only between options, so that each stays with its value.
fn command(line: &str) -> Markup {
    html! {
        @for (at, words) in line.split(" --").enumerate() {
            @if at > 0 { " " }
            span { @if at > 0 { "--" } (text::visible(words)) }
        }
    }
}
