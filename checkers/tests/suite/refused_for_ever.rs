//! `refused-for-ever`: by examples with their innocent twins, and against its definition taken literally.

use crate::expect::{explains, has_reason, kinds, none, of_kind, one};
use crate::script::{history, in_time, record};
use zooquake_checkers::{Verdict, check};
use zooquake_history::Record;

/// The operations that it is found of, each with its family and variant.
const OPS: [(&str, &str, &str); 9] = [
    ("register", "quorum-read", "write"),
    ("register", "quorum-read", "read"),
    ("register", "quorum-read", "cas"),
    ("counter", "versioned", "increment"),
    ("counter", "versioned", "get"),
    ("membership", "cached", "update"),
    ("membership", "cached", "deregister"),
    ("queue", "fifo", "enqueue"),
    ("commit", "atomic", "begin"),
];

/// What a client answers to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptAnswer {
    Ok,
    Fail,
    Info,
    /// It states that it is no member.
    State,
}

/// Attempts of c1 at one operation, the first at 2 s, the others each so many milliseconds after the one before,
/// between `recovered` at 1 s and an audit at 60 s; each is answered after 100 ms.
fn attempts((family, variant, f): (&str, &str, &str), all: &[(AttemptAnswer, u64)]) -> Record {
    let mut text = String::from("1 run recovered\n");
    let mut now = 2_000;
    for (number, &(answer, pause)) in all.iter().enumerate() {
        let sent = now as f64 / 1e3;
        let fields = if f == "begin" {
            format!("tx=t{number}")
        } else {
            format!("item={number}")
        };
        text += &format!("{sent} c1 invoke {f} {fields}\n");
        let read = sent + 0.1;
        text += &match answer {
            AttemptAnswer::Ok => format!("{read} c1 ok {f} {fields}\n"),
            AttemptAnswer::Fail => format!("{read} c1 failed {f} t{number} suspended\n"),
            AttemptAnswer::Info => format!("{read} c1 unknown {f} t{number} suspended\n"),
            AttemptAnswer::State => format!("{read} c1 failed {f} t{number} not-registered\n"),
        };
        now += pause;
    }
    text += "60 run audit\n60.1 c1 quiesce\n60.2 c1 quiesced sessions=0x1\n61 run done";
    record(family, variant, &[], 1, history(&in_time(&text)))
}

/// The chains of a definition taken literally: each attempt that did not finish, on and on, from the sending of the
/// first to the end of the last; those that last ten seconds and are followed by no success.
fn convicted(all: &[(AttemptAnswer, u64)]) -> usize {
    let mut times = Vec::new();
    let mut now = 2_000;
    for &(answer, pause) in all {
        times.push((answer, now, now + 100));
        now += pause;
    }
    let last_ok = times.iter().rposition(|(answer, ..)| *answer == AttemptAnswer::Ok);
    let after = &times[last_ok.map_or(0, |at| at + 1)..];
    let chains = after.split(|(answer, ..)| *answer == AttemptAnswer::State);
    let lasts =
        |chain: &&[(AttemptAnswer, u64, u64)]| chain.len() >= 2 && chain[chain.len() - 1].2 - chain[0].1 >= 10_000;
    chains.filter(lasts).count()
}

#[test]
fn each_operation_that_is_refused_for_the_bound() {
    for op in OPS {
        for answer in [AttemptAnswer::Fail, AttemptAnswer::Info] {
            let all = vec![(answer, 250); 45];
            let anomaly = one(&attempts(op, &all), "refused-for-ever");
            explains(&anomaly, "45 times by 13.100 s (suspended)");
            assert_eq!(anomaly.witness, [0, 1, 2, 89, 90, 91], "{op:?}");
            // A success ends the chain, and what follows is too short.
            let mut ended = all.clone();
            ended[20].0 = AttemptAnswer::Ok;
            none(&attempts(op, &ended));
            // Not for long enough: a reason that has the last error.
            let short = none(&attempts(op, &all[..20]));
            assert_eq!(short.verdict, Verdict::Unknown);
            has_reason(&short, "(suspended)");
        }
    }
}

#[test]
fn what_states_that_a_client_is_no_member_refuses_nothing() {
    for f in ["update", "deregister"] {
        let op = ("membership", "cached", f);
        let results = none(&attempts(op, &[(AttemptAnswer::State, 250); 60]));
        assert_eq!(results.verdict, Verdict::Unknown);
    }
}

#[test]
fn where_another_anomaly_has_the_operation_there_is_none() {
    let text = |f: &str| {
        let each = |at: usize| {
            format!(
                "{} c1 {f} z{at}; {} c1 unknown {f} z{at} suspended;",
                2 + at,
                2.5 + at as f64
            )
        };
        let all: String = (0..15).map(each).collect();
        format!("1 run recovered; {all} 60 run audit; 61 run done")
    };
    let results = check(&crate::script::lock(&text("acquire")));
    assert_eq!(kinds(&results), ["lost-wakeup"]);
    let results = check(&crate::script::lock(&text("write")));
    assert!(of_kind(&results, "refused-for-ever").is_empty(), "{results:#?}");
}

#[test]
fn it_is_found_by_its_definition_alone() {
    let mut dice = fastrand::Rng::with_seed(52);
    let (mut guilty, mut innocent) = (0, 0);
    for _ in 0..4_000 {
        let op = OPS[dice.usize(0..OPS.len())];
        let member = op.0 == "membership";
        let share = dice.u32(1..40);
        let all: Vec<(AttemptAnswer, u64)> = (0..dice.usize(1..40))
            .map(|_| {
                let answer = match dice.u32(0..share + 10) {
                    0 => AttemptAnswer::Ok,
                    1 if member => AttemptAnswer::State,
                    drawn if drawn % 2 == 0 => AttemptAnswer::Fail,
                    _ => AttemptAnswer::Info,
                };
                (answer, dice.u64(1..8) * 150)
            })
            .collect();
        let results = check(&attempts(op, &all));
        let found = of_kind(&results, "refused-for-ever").len();
        assert_eq!(found, convicted(&all), "{op:?} {all:?} {results:#?}");
        *if found > 0 { &mut guilty } else { &mut innocent } += 1;
    }
    assert!(guilty > 500 && innocent > 500, "{guilty} {innocent}");
}
