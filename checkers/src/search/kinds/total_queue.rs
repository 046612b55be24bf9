//! Queues each of whose items comes out at least once, with the operations of other [queues](super::queue).

use super::queue::{Delivery, OPERATIONS, Read, read};
use super::{HistoryModel, Judgement};
use crate::search::Limit;
use crate::search::models::bag::MADE_UP;
use crate::search::models::total;
use crate::search::prove::{EACH, Proof};
use crate::search::words::{anomaly, gave_up};
use crate::text::count;
use crate::verdict::NOTE;

/// What Jepsen's `total-queue` judges: what goes in comes out, at least once, and nothing else does.
pub static TOTAL_QUEUE: HistoryModel = HistoryModel {
    names: &["total-queue"],
    operations: &OPERATIONS,
    sized: false,
    judge: |model, calls, _, _, budget| {
        let Read { reading, drains } = read(model, calls, Delivery::AtLeastOnce)?;
        let mut judgement = Judgement::default();
        if reading.ops.len() * EACH > budget.bytes {
            judgement.reasons.push(gave_up(Limit::Memory));
            return Ok(judgement);
        }
        let found = total::judge(&reading.ops, &drains);
        let unjudged = found.unjudged.filter(|_| found.contradiction.is_none());
        let reason = |op: usize| {
            format!(
                "whether items were lost was not judged, as no drain was sent after all deliveries were answered, and after what was put \
                 in (that of event {} did not come out)",
                reading.calls[op].invoke.index
            )
        };
        judgement.reasons.extend(unjudged.map(reason));
        if found.again > 0 {
            let again = count(found.again, "delivery");
            let text = format!("{NOTE}{again} repeated an item that had come out already");
            judgement.reasons.push(text);
        }
        let proof = found.contradiction.map(|found| Proof {
            stuck: found.stuck,
            witness: found.witness.ops,
            least: found.witness.least,
            claim: found.claim,
            fits: None,
        });
        let anomaly = proof.map(|proof| anomaly(&MADE_UP, &reading.calls, &proof));
        judgement.anomalies.extend(anomaly);
        Ok(judgement)
    },
};
