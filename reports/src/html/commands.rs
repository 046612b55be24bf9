//! The command lines that reproduce a run.

use crate::model::RunModel;
use crate::text;

/// Longest command line that is shown, in bytes: one with the longest path fits. Longer ones are left out, because a line that
/// is cut off does something else.
const LONGEST_LINE: usize = 20_000;

/// The command lines that reproduce the run, as far as they can be shown.
pub fn shown<'a>(model: &RunModel<'a>) -> impl Iterator<Item = &'a String> {
    let lines = model.extras.reproduce.iter();
    lines.filter(|line| line.len() <= LONGEST_LINE).take(8)
}

/// Them, to be seen and copied; nothing if there are none.
pub fn reproduce(model: &RunModel<'_>) -> String {
    let mut lines = shown(model)
        .map(|line| format!("<code>{}</code>\n", command(line)))
        .peekable();
    if lines.peek().is_none() {
        return String::new();
    }
    format!(
        "<div><h3>See it again <button type=\"button\" class=\"show js\" id=\"ticket\">Copy for a ticket</button></h3>\
         <pre class=\"commands\">{}</pre></div>",
        lines.collect::<String>()
    )
}

/// A command that is broken only between options, so that each stays with its value.
fn command(line: &str) -> String {
    let words: Vec<_> = line.split(" --").map(text::escape).collect();
    format!("<span>{}</span>", words.join("</span> <span>--"))
}
