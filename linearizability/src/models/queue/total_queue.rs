//! Queues each of whose items comes out at least once, with the operations of other [queues](crate::models::queue).

use crate::call::Remark;
use crate::generate::{GeneratedLoad, Simulation, one_client, simulate};
use crate::judgement::{Inquiry, Judgement, Violation};
use crate::models::queue::bag::MADE_UP;
use crate::models::queue::generator::{QueueObject, QueueOrder};
use crate::models::queue::{Delivery, OPERATIONS, QueueOperations, read, total};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::proof::{OPERATION_BYTES, Proof};
use crate::search::Limit;

/// What Jepsen's `total-queue` judges: what goes in comes out, at least once, and nothing else does.
pub static TOTAL_QUEUE: ModelEntry = ModelEntry {
    names: &["total-queue"],
    summary: "enqueue, dequeue, drain; what goes in comes out at least once, and nothing else does",
    operations: &OPERATIONS,
    size: ModelSize::Fixed,
    begins: Some("a queue is empty at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "total-queue",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, QueueObject::new(QueueOrder::Drained, options)),
    }],
    judge: |model, calls, _, _, inquiry| {
        let QueueOperations { reading, drains, .. } = read(model, calls, Delivery::AtLeastOnce)?;
        let mut judgement = Judgement::default();
        // A delivery may repeat another one, and nothing orders them.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(judgement);
        };
        if reading.ops.len() * OPERATION_BYTES > budget.bytes {
            judgement.remarks.push(Remark::GaveUp(Limit::Memory));
            return Ok(judgement);
        }
        let found = total::judge(&reading.ops, &drains);
        let unjudged = found.unjudged.filter(|_| found.contradiction.is_none());
        let enqueue = |op: usize| Remark::LossesUnjudged {
            enqueue: reading.calls[op],
        };
        judgement.remarks.extend(unjudged.map(enqueue));
        if found.again > 0 {
            judgement.remarks.push(Remark::Repeated(found.again));
        }
        let proof = found.contradiction.map(|found| Proof {
            stuck: found.stuck,
            witness: found.witness,
            claim: found.claim,
            fits: None,
        });
        let violation = proof.map(|proof| Violation::new(MADE_UP, &reading.calls, &proof));
        judgement.violations.extend(violation);
        Ok(judgement)
    },
};
