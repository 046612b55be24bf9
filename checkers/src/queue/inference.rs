//! What shows that a history without a plan is a queue's.

use crate::inferred_plan::{Inference, answers, asks, invocations, known};
use zooquake_history::History;
use zooquake_history::operation::queue::{ITEM, f};
use zooquake_history::operation::{CZXID, PATH};

/// What it promises; `None` if it is no queue's.
pub fn infer(history: &History) -> Option<Inference> {
    let names = asks(history, &[f::ENQUEUE, f::ACKNOWLEDGE], ITEM.any());
    (names || delivers(history)).then(|| Inference {
        variant: "claimed",
        basis: match claims(history) {
            true => "items are claimed, so it was judged by what queue/claimed promises",
            false => {
                "nothing shows whether an item may be delivered again until it is acknowledged, so only what \
                 queue/fifo and queue/claimed both promise was judged"
            }
        },
    })
}

fn delivers(history: &History) -> bool {
    answers(history).any(|event| event.f == f::DEQUEUE && event.get(ITEM.any()).is_some())
}

/// Whether items are claimed and acknowledged.
fn claims(history: &History) -> bool {
    let acknowledges = invocations(history).any(|event| event.f == f::ACKNOWLEDGE);
    acknowledges
        || answers(history)
            .any(|event| event.f == f::DEQUEUE && (known(event, PATH.any()) || known(event, CZXID.any())))
}
