//! `phantom-item`: an item delivered that nobody had sent.

use super::items::Items;
use crate::findings::{Findings, Found};
use crate::run::Run;

/// Looks for items delivered before any enqueue of them was sent.
pub fn check(run: &Run<'_>, items: &Items<'_>, out: &mut Findings) {
    let mut looked_at = 0;
    for (number, item) in &items.all {
        let Some(given) = item.given.first() else { continue };
        looked_at += 1;
        // An enqueue whose invocation is missing may have been sent at any time.
        if item.sent.iter().any(|sent| sent.is_none_or(|sent| sent < given.read)) {
            continue;
        }
        let later = match item.sent.first().copied().flatten() {
            Some(sent) => format!("It was enqueued only at {}.", run.at(sent)),
            None => "Nobody ever enqueued it.".to_owned(),
        };
        let why = format!(
            "Item {number} was delivered to {} at {}, and until then no enqueue of it had been sent. {later}",
            given.node,
            run.at(given.read),
        );
        out.add(
            run,
            Found {
                kind: "phantom-item",
                property: "nothing is made up",
                advisory: false,
                witness: vec![given.read],
                why,
            },
        );
    }
    out.ran("phantom-item", looked_at);
}
