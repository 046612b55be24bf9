//! Generated histories of registers: what is decided without the search is what the search decides.

use super::with_budget;
use fastrand::Rng;
use zooquake_linearizability::generate::{EventType, GeneratedEvent, Object, Options, Values, generate};
use zooquake_linearizability::models::register::{RegisterOp, UnsetRegister};
use zooquake_linearizability::{Model, NearLinearDecision, Op, SearchDecision, SearchOutcome, search};

/// The operations of a register's history, as the models take them.
fn ops(history: &[GeneratedEvent]) -> Vec<Op<RegisterOp<u64>>> {
    let mut ops = Vec::new();
    for (index, event) in history.iter().enumerate() {
        if event.kind != EventType::Invoke {
            continue;
        }
        let mut later = (index + 1..).zip(&history[index + 1..]);
        let end = later.find(|(_, end)| end.process == event.process);
        let answered = end.filter(|(_, end)| end.kind == EventType::Ok);
        let input = match event.f {
            "read" => answered.and_then(|(_, end)| end.value.as_u64()).map(RegisterOp::Read),
            "write" => event.value.as_u64().map(RegisterOp::Write),
            _ => event
                .value
                .pair()
                .and_then(|[from, to]| Some(RegisterOp::Cas(from.as_u64()?, to.as_u64()?))),
        };
        let failed = end.is_some_and(|(_, end)| end.kind == EventType::Fail);
        if let Some(input) = input.filter(|_| !failed) {
            ops.push(match answered {
                Some((end, _)) => Op::done(input, index, end),
                None => Op::unknown(input, index),
            });
        }
    }
    ops
}

#[test]
fn what_is_decided_without_the_search_is_what_the_search_decides() {
    let unset = UnsetRegister::default();
    let mut rng = Rng::with_seed(31);
    let (mut bad, mut near) = (0, 0);
    const TRIED: usize = 1500;
    for seed in 0..TRIED {
        let name = if rng.bool() { "register" } else { "cas-register" };
        let object: Object = name.parse().expect("it is generated");
        let history = generate(&Options {
            object,
            ops: 40,
            clients: rng.usize(2..6),
            unknown: 0.05,
            values: if rng.bool() { Values::Unique } else { Values::Of(4) },
            seed: seed as u64,
            violation: false,
        })
        .expect("the options make sense");
        let mut ops = ops(&history);
        // Sometimes a read is answered with what another one found.
        let reads: Vec<usize> = (0..ops.len())
            .filter(|&op| matches!(ops[op].input, RegisterOp::Read(_)))
            .collect();
        if let (Some(&one), Some(&other)) = (rng.choice(&reads), rng.choice(&reads)) {
            ops[one].input = ops[other].input;
        }
        let fits = match with_budget(|budget| search(&unset, &ops, budget)) {
            SearchOutcome::Linearizable { .. } => true,
            SearchOutcome::Not { .. } => false,
            SearchOutcome::GaveUp(_) => continue,
        };
        bad += usize::from(!fits);
        let swept = with_budget(|budget| unset.sweep(&ops, false, budget));
        assert_eq!(matches!(swept, Some(SearchDecision::Linearizable)), fits, "{ops:?}");
        let relaxed = with_budget(|budget| unset.sweep(&ops, true, budget));
        assert!(
            !fits || matches!(relaxed, Some(SearchDecision::Linearizable)),
            "{ops:?}"
        );
        match unset.near(&ops) {
            NearLinearDecision::Linearizable => assert!(fits, "{ops:?}"),
            NearLinearDecision::Not(_) => assert!(!fits, "{ops:?}"),
            NearLinearDecision::Undecided => continue,
        }
        near += 1;
    }
    assert!(
        bad > TRIED / 10 && bad < TRIED * 9 / 10 && near > TRIED / 3,
        "{bad} {near}"
    );
}
