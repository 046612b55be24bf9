//! Barriers: `enter` and `leave`, with the round as their value.

mod generator;
mod sequential;

pub use sequential::{Barrier, BarrierOp};

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{GeneratedLoad, Simulation, simulate};
use crate::judgement::{Inquiry, Judgement, apart, judge};
use crate::model::Op;
use crate::models::entry::{ModelEntry, ModelFit, ModelSize, unable};
use sequential::ENTERED;
use std::collections::HashMap;

/// Barriers that so many members enter together and leave together, once in each round.
pub static BARRIER: ModelEntry = ModelEntry {
    names: &["barrier"],
    summary: "enter and leave of N members, with the round as the value",
    operations: &["enter", "leave"],
    size: ModelSize::Number { tried: 5, least: 2 },
    begins: Some("nobody is inside a barrier at first"),
    fits: |_| ModelFit::Not,
    simulations: &[Simulation {
        name: "barrier",
        clients: |members, _| members as usize,
        loads: &[GeneratedLoad::COMMON],
        run: |options, members| simulate(options, generator::BarrierObject::new(members, options.clients)),
    }],
    judge: |model, calls, _, size, inquiry| {
        let mut rounds = ValueNumbers::default();
        let round = |call: &Call<'_>| {
            let (f, at) = (call.f, call.invoke);
            match f {
                "enter" | "leave" if call.asked.is_nil() => {
                    Err(InputError::Unable(format!("the {f} of event {at} names no round")))
                }
                "enter" | "leave" => rounds.number(&call.asked, || format!("the round of event {at}")),
                _ => Err(unable(model, call)),
            }
        };
        let barrier = Barrier { members: size };
        // Each round would have an order of its own.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(Judgement::default());
        };
        apart(calls, round, |calls| Ok(judge(ENTERED, &barrier, read(calls), budget)))
    },
};

/// The operations of one round.
fn read<'a>(calls: &[&'a Call<'a>]) -> Reading<'a, BarrierOp> {
    let mut reading = Reading::new();
    let mut inside: HashMap<u64, &'a Call<'a>> = HashMap::new();
    for &call in calls {
        let ok = call.outcome == CallOutcome::Ok;
        if call.f == "enter" {
            // Also one that failed.
            reading.ops.push(Op::unknown(BarrierOp::Sent, call.from()));
            reading.calls.push(call);
            if ok {
                reading.add(call, BarrierOp::Opened);
                inside.insert(call.process, call);
            }
            continue;
        }
        if call.outcome == CallOutcome::Fail {
            // It is inside as before.
            continue;
        }
        let entered = inside.remove(&call.process);
        if ok {
            if let Some(enter) = entered {
                let stay = reading.ops.len();
                reading.add(enter, BarrierOp::Inside(stay));
                reading.revealed_by.insert(stay, (stay + 1, BarrierOp::Leaves(stay)));
                reading.add(call, BarrierOp::Leaves(stay));
            }
            reading.add(call, BarrierOp::Left);
        }
    }
    reading
}
