//! Generates a history and judges it: `decided MODEL OPS CLIENTS UNKNOWN VALUES SEED [violation]`, each in words of
//! `zooquake generate`. Prints the verdict, how many events its witness has, and what it took.

use std::time::{Duration, Instant};
use zooquake_checkers::generate::{Options, generate};
use zooquake_checkers::search::{Budget, Kind, Notation, judge};

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, ops, clients, unknown, values, seed, violation @ ..] = args.as_slice() else {
        return Err("give MODEL OPS CLIENTS UNKNOWN VALUES SEED [violation]".to_owned());
    };
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let options = Options {
        object: model.parse()?,
        ops: ops.parse().map_err(|error| wrong(&error))?,
        clients: clients.parse().map_err(|error| wrong(&error))?,
        unknown: unknown.parse().map_err(|error| wrong(&error))?,
        values: values.parse()?,
        seed: seed.parse().map_err(|error| wrong(&error))?,
        violation: !violation.is_empty(),
    };
    let history = generate(&options)?;
    let kind: Kind = model.parse()?;
    let begun = Instant::now();
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: 2 << 30,
        expired: &mut || begun.elapsed() > Duration::from_secs(60),
    };
    let results = judge(&history, Vec::new(), kind, Notation::Maps, &mut budget);
    let took = begun.elapsed().as_secs_f64() * 1e3;
    let witness: Vec<usize> = results.anomalies.iter().map(|anomaly| anomaly.witness.len()).collect();
    println!("{}: {took:.1} ms, witness {witness:?}", results.verdict);
    for text in results
        .anomalies
        .iter()
        .map(|anomaly| &anomaly.why)
        .chain(&results.reasons)
    {
        println!("  {text}");
    }
    Ok(())
}
