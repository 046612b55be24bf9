//! What the marks of the pictures mean, in the words of the run's family.

use super::{row, window};
use crate::model::{Hold, Mark, Op, Outcome, RunModel, Step};
use crate::{palette, text};

fn key(class: &str, sign: &str, words: &str) -> String {
    format!(r#"<span><i class="key {class}">{sign}</i>{words}</span>"#)
}

/// Of the picture of one anomaly: only what is to be seen in it.
pub fn window(model: &RunModel<'_>, steps: &[Step]) -> String {
    let (scale, rows) = window::view(model, steps);
    let seen = |lane: usize, from, until| rows.contains(&lane) && scale.shows(from, until);
    let ops: Vec<&Op> = model.ops.iter().filter(|op| seen(op.lane, op.start, op.end)).collect();
    let ended: Vec<&Op> = ops.iter().copied().filter(|op| row::marked(op, &scale)).collect();
    let marks = model.terms.marks(&ended).into_iter();
    let marks = marks.map(|(mark, words)| match mark {
        Mark::Refused => key("refused", "✗", words),
        Mark::No => key("said-no", "–", words),
        Mark::Took | Mark::Nothing => key("took", "✓", words),
    });
    let unmarked = |outcome| {
        let mut ended = ended.iter();
        ended.any(|op| op.outcome == outcome && op.mark() == Mark::Nothing)
    };
    let failed = unmarked(Outcome::Fail).then(|| key("bad", "×", "failed"));
    let unknown = unmarked(Outcome::Info).then(|| key("unknown", "?", "outcome unknown"));
    let holds = model.holds.iter().filter(|h| seen(h.lane, h.from, h.until));
    let bands = model.bands.iter().filter(|b| scale.shows(b.from, b.until));
    let on: Vec<&str> = bands.map(|b| b.fault.as_str()).collect();
    format!(
        "<p class=\"legend\">{}{}{}{}</p>\n",
        spans(model, &ops, holds),
        marks.chain(failed).chain(unknown).collect::<String>(),
        key("num", "1", "step below"),
        faults(model.fault_kinds().into_iter().filter(|kind| on.contains(kind)))
    )
}

/// Of the picture of the whole run.
pub fn overview(model: &RunModel<'_>) -> String {
    let servers = match model.servers.is_empty() {
        true => String::new(),
        false => {
            key("leads", "", "server leads the ensemble")
                + &key("follows", "", "follows")
                + &key("silent", "", "silent")
        }
    };
    let ops: Vec<&Op> = model.ops.iter().collect();
    format!(
        "<p class=\"legend\">{}{}{}{}{servers}{}</p>\n",
        spans(model, &ops, model.holds.iter()),
        key("bad", "×", "failed"),
        key("bad", "○", "outcome unknown"),
        key("flag", "▼", "anomaly"),
        faults(model.fault_kinds().into_iter())
    )
}

/// Holds, and operations by what they are for.
fn spans<'h>(model: &RunModel<'_>, ops: &[&Op<'_>], holds: impl Iterator<Item = &'h Hold<'h>>) -> String {
    let holds = model.terms.holds(holds).into_iter();
    let holds = holds.map(|(shared, words)| key(palette::hold_class(shared), "", &words));
    let roles = model.terms.roles(ops).into_iter();
    let roles = roles.map(|(role, words)| key(palette::role_class(role), "", words));
    holds.chain(roles).collect()
}

/// Kinds of fault.
fn faults<'k>(kinds: impl Iterator<Item = &'k str>) -> String {
    let fault = |kind: &str| {
        let class = format!("fault {}", palette::fault_class(kind));
        key(&class, "", &text::html(kind, 30))
    };
    kinds.map(fault).collect()
}
