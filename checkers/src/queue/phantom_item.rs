//! `phantom-item`: an item delivered, or acknowledged, that no client had sent, or only in requests that certainly
//! failed.

use super::items::{AnsweredOperation, Items, QueueItem};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};

/// Looks for items delivered (`claimed`: or acknowledged) before any enqueue of them was sent that may have happened.
pub fn check(run: &Analysis<'_>, items: &Items<'_>, claimed: bool, out: &mut Findings) {
    let mut looked_at = 0;
    for (&number, item) in items.all.iter().filter(|(_, item)| !item.disputed) {
        let acknowledged = item.consumed.first().filter(|_| claimed);
        let (done, what) = match (item.given.first(), acknowledged) {
            (Some(given), _) => (given, "delivered to"),
            (None, Some(done)) => (done, "acknowledged by"),
            (None, None) => continue,
        };
        looked_at += 1;
        // An enqueue whose invocation is missing may have been sent at any time.
        let sent = item.sent.iter().any(|sent| sent.is_none_or(|sent| sent < done.read));
        if !sent && !items.hidden_before(done.read) {
            phantom(run, (number, item), (done, what), out);
        }
    }
    out.ran("phantom-item", looked_at);
}

fn phantom(
    run: &Analysis<'_>,
    (number, item): (i64, &QueueItem<'_>),
    (done, what): (&AnsweredOperation<'_>, &str),
    out: &mut Findings,
) {
    let later = match (item.sent.first().copied().flatten(), item.failed) {
        (Some(sent), _) => format!("The first such enqueue was sent only at {}.", run.at(sent)),
        (None, Some(failed)) => format!(
            "Every enqueue of it certainly failed, such as the one that was answered at {} with `fail`.",
            run.at(failed)
        ),
        (None, None) => "No enqueue in the history names it.".to_owned(),
    };
    let why = format!(
        "Item {number} was {what} {} at {}, and until then no enqueue of it had been sent that can have happened. {later}",
        done.node,
        run.at(done.read),
    );
    let found = Finding::new("phantom-item", "nothing is made up", done.witness(run).collect(), why);
    out.add(run, found);
}
