//! Operations that ended without an answer and certainly took an item: a fault lost the reply to their request after it
//! was applied, and the transaction logs show that it removed the znode that carries the item.
//!
//! The transaction is of a session of the client, and was made while the fault's window was armed: after its `begin`,
//! and before its `on` was recorded. If all that the client was asked for meanwhile that can take an item is one
//! operation, whose end is unknown, then the request was that operation's, or one of an earlier operation of the client
//! whose end is unknown too and that was sent late. Where both acknowledge the item, or both may take any, an operation
//! of the client took it for certain when `on` was recorded.

use super::carriers::Carriers;
use super::items::{AnsweredOperation, Items, number, outcome};
use crate::analysis::faults::AppliedRequest;
use crate::analysis::{Analysis, Op};
use std::collections::BTreeMap;
use zooquake_history::EventType;
use zooquake_history::operation::queue::f;

/// A removal that certainly happened: it was answered, or the logs prove it without an answer.
#[derive(Debug, Clone)]
pub struct Removal<'a> {
    /// The operation; of one without an answer `read` is the window's `on`, by which it certainly had happened.
    pub done: AnsweredOperation<'a>,
    /// The events that prove it.
    pub witness: Vec<usize>,
    /// What shows it, in words.
    pub words: String,
}

/// By item its removals, in the order of the windows. `taker` is the operation that ends an item's life.
pub fn removals<'a>(run: &Analysis<'a>, items: &Items<'a>, taker: &'static str) -> BTreeMap<i64, Vec<Removal<'a>>> {
    let mut all: BTreeMap<i64, Vec<Removal<'a>>> = BTreeMap::new();
    let applied = run.applied.all();
    if applied.is_empty() {
        return all;
    }
    let carriers = Carriers::new(run);
    for applied in applied {
        let Some(op) = only_taker(run, applied).filter(|op| op.f == taker) else {
            continue;
        };
        for item in carriers.items(applied.txn) {
            let of_it = taker != f::ACKNOWLEDGE || number(run, op) == Ok(item);
            let judged = items
                .all
                .get(&item)
                .is_some_and(|item| !item.disputed && !item.ambiguous());
            if let Some(sent) = op.sent().filter(|_| of_it && judged)
                && let Some(removal) = removal(run, &carriers, (applied, op, sent), item)
            {
                all.entry(item).or_default().push(removal);
            }
        }
    }
    all
}

/// The only operation of the client that can have made the request and may take an item, if its end is unknown.
fn only_taker<'r, 'a>(run: &'r Analysis<'a>, applied: &AppliedRequest<'a>) -> Option<&'r Op<'a>> {
    let mut meanwhile = run
        .ops
        .work
        .iter()
        .filter(|op| op.node == applied.node && matches!(op.f, f::DEQUEUE | f::ACKNOWLEDGE))
        .filter(|op| op.in_flight(applied.begin, applied.on));
    let op = meanwhile.next().filter(|_| meanwhile.next().is_none())?;
    let unknown = matches!(outcome(run, op), None | Some(EventType::Info));
    (unknown && !op.doubtful).then_some(op)
}

fn removal<'a>(
    run: &Analysis<'a>,
    carriers: &Carriers<'a>,
    (applied, op, sent): (&AppliedRequest<'a>, &Op<'a>, usize),
    item: i64,
) -> Option<Removal<'a>> {
    let znode = carriers.removed(item, applied.txn)?;
    let words = format!(
        "the `{}` of {} sent at {} was not answered, but its request was applied: the reply to it was lost, as recorded at {}, and the \
         transaction log shows that it, transaction 0x{:x} of the session {}, deleted {}, which carries the item",
        op.f,
        op.node,
        run.at(sent),
        run.at(applied.on),
        applied.txn.zxid,
        applied.txn.session,
        znode.path,
    );
    Some(Removal {
        done: AnsweredOperation {
            node: op.node,
            sent: Some(sent),
            read: applied.on,
        },
        witness: [znode.witness, vec![sent, applied.tie, applied.begin, applied.on]].concat(),
        words,
    })
}
