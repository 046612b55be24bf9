//! How the latencies of each family are called.

use zooquake_checkers::analysis::LatencyKind;

/// Words for the latencies of one kind.
#[derive(Debug)]
pub struct LatencyTerms {
    /// The heading of their numbers.
    pub heading: &'static str,
    /// What they are, in a table.
    pub noun: &'static str,
    /// From what to what, in a sentence.
    pub sentence: &'static str,
    /// What one begins with.
    pub after: &'static str,
}

impl LatencyTerms {
    /// The words for a kind; `None` for the latencies of single operations, which have a section of their own.
    pub fn of(kind: LatencyKind) -> Option<Self> {
        let (heading, noun, sentence, after) = match kind {
            LatencyKind::HandOver => (
                "Handover",
                "handovers",
                "From the sending of a release to the next client's grant, where that client was waiting already.",
                "released",
            ),
            LatencyKind::Delivery => (
                "From enqueue to delivery",
                "deliveries",
                "From the answer to an item's enqueue to the first answer that gave it to a client.",
                "its enqueue was answered",
            ),
            LatencyKind::Opening => (
                "Opening of the barrier",
                "openings",
                "From the sending of the last request by which a member arrives to the answer that lets a client in.",
                "the last member had set out",
            ),
            LatencyKind::Decision => (
                "From begin to decision",
                "decisions heard",
                "From the sending of a transaction's begin to the answer that tells a site its decision.",
                "its begin was sent",
            ),
            LatencyKind::Answer => return None,
        };
        Some(Self {
            heading,
            noun,
            sentence,
            after,
        })
    }
}
