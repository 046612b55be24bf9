//! The table for a README.

use super::words::{by_size, delays_text, messages_text, sizes};
use super::{CostRow, DecisionComparison};
use crate::{lists, text};

/// What was measured, a line for each situation and protocol.
pub fn table(comparison: &DecisionComparison) -> String {
    let heads = [
        "situation".to_owned(),
        "protocol".to_owned(),
        "message delays".to_owned(),
        "claimed".to_owned(),
        format!("messages with {} acceptors", sizes(comparison)),
        "claimed".to_owned(),
    ];
    let mut out = line(&heads) + &line(&heads.each_ref().map(|_| "---".to_owned()));
    for situation in &comparison.situations {
        for (protocol, row) in comparison.protocols.iter().zip(&situation.rows) {
            out += &line(&[
                situation.title.clone(),
                protocol.name.clone(),
                delays_text(row),
                claimed(&row.claim.delays),
                messages_text(row),
                claimed(&row.claim.messages),
            ]);
        }
    }
    let explained = explanations(comparison);
    let explained: String = explained
        .iter()
        .map(|words| format!("- {}\n", text::in_markdown(words)))
        .collect();
    format!("{out}\n{}.\n\n{explained}", text::in_markdown(&comparison.setting()))
}

/// A claim, or a dash where there is none.
pub fn claimed(claim: &str) -> String {
    if claim.is_empty() {
        "–".to_owned()
    } else {
        claim.to_owned()
    }
}

/// Why measured values differ from what is claimed, each explanation once, with the protocols that it is about.
fn explanations(comparison: &DecisionComparison) -> Vec<String> {
    let situations = comparison.situations.iter();
    let rows = situations.flat_map(|situation| comparison.protocols.iter().zip(&situation.rows));
    let differing = rows.filter(|(_, row)| row.differs());
    let explained = differing.map(|(protocol, row)| (&*row.claim.explanation, &*protocol.name));
    let explained = lists::by_key(lists::distinct(explained, usize::MAX).into_iter());
    explained
        .iter()
        .map(|(words, names)| format!("{}: {words}", names.join(", ")))
        .collect()
}

/// The timeouts of a row and how long they took: `2 × proposer, 290–310 ms`; a dash where there were none.
pub fn timeouts(row: &CostRow) -> String {
    let owners = by_size(row, |cost| match cost.timeouts.as_slice() {
        [] => "–".to_owned(),
        [owner, ..] => format!("{} × {owner}", cost.timeouts.len()),
    });
    let waits = row.costs.iter().map(|cost| cost.waited_ms);
    let waits = waits.filter(|waited| *waited > 0.0);
    let (least, most) = waits.fold((f64::MAX, 0.0), |(least, most), waited| {
        (f64::min(least, waited), f64::max(most, waited))
    });
    match (least.round(), most.round()) {
        (_, 0.0) => owners,
        (least, most) if least == most => format!("{owners}, {most} ms"),
        (least, most) => format!("{owners}, {least}–{most} ms"),
    }
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| text::in_markdown(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}
