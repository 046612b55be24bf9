//! What the marks of the pictures mean, in the words of the run's family.

use crate::model::{Mark, Story};
use crate::{palette, text};

fn key(class: &str, sign: &str, words: &str) -> String {
    format!(r#"<span><i class="key {class}">{sign}</i>{words}</span>"#)
}

/// Of the picture of one anomaly.
pub fn window(story: &Story<'_>) -> String {
    let marks = story
        .terms
        .marks(&story.ops)
        .into_iter()
        .map(|(mark, words)| match mark {
            Mark::Refused => key("refused", "✗", words),
            Mark::No => key("said-no", "–", words),
            Mark::Took | Mark::Nothing => key("took", "✓", words),
        });
    format!(
        "<p class=\"legend\">{}{}{}{}{}</p>\n",
        spans(story),
        marks.collect::<String>(),
        key("unknown", "?", "outcome unknown"),
        key("num", "1", "step below"),
        faults(story)
    )
}

/// Of the picture of the whole run.
pub fn overview(story: &Story<'_>) -> String {
    let servers = match story.servers.is_empty() {
        true => String::new(),
        false => key("leads", "", "server leads") + &key("follows", "", "follows") + &key("silent", "", "silent"),
    };
    format!(
        "<p class=\"legend\">{}{}{}{}{servers}{}</p>\n",
        spans(story),
        key("bad", "×", "failed"),
        key("bad", "○", "outcome unknown"),
        key("flag", "▼", "anomaly"),
        faults(story)
    )
}

/// Holds, and operations by what they are for.
fn spans(story: &Story<'_>) -> String {
    let hold = story.terms.hold.filter(|_| !story.holds.is_empty());
    let hold = hold.map(|words| key("hold", "", words));
    let roles = story.terms.roles(&story.ops).into_iter();
    let roles = roles.map(|(role, words)| key(palette::role_class(role), "", words));
    hold.into_iter().chain(roles).collect()
}

/// The kinds of fault of the run.
fn faults(story: &Story<'_>) -> String {
    let fault = |kind: &str| {
        let class = format!("fault {}", palette::fault_class(kind));
        key(&class, "", &text::html(kind, 30))
    };
    story.fault_kinds().into_iter().map(fault).collect()
}
