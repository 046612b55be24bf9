//! A second opinion on short histories: the general search, which uses neither clusters nor blocks.
//!
//! Should the two ever differ, one of them is wrong, and that is a reason against `valid`; the anomalies found stand.

use super::accesses::{Access, Action, RegisterValue};
use crate::findings::Findings;
use zooquake_linearizability::models::register::{Register, RegisterOp};
use zooquake_linearizability::unique::RegisterAccess as _;
use zooquake_linearizability::{Budget, Op, SearchOutcome, search};

/// The longest history that is searched.
const LONGEST: usize = 60;

/// Steps and bytes that a search may use; it always gives up at the same point.
const STEPS: u64 = 200_000;
const BYTES: usize = 64 << 20;

/// Compares what was found, that some order of these accesses `fits` or none, with what the search finds.
pub fn check(accesses: [&[Access<'_>]; 2], fits: bool, out: &mut Findings) {
    // The first access is the register's making, which is no operation.
    let short = accesses[0].len() + accesses[1].len() <= LONGEST + 1;
    let ops = if short { ops(&accesses.concat()) } else { Vec::new() };
    let outcome = match ops.len() {
        0..=LONGEST if short => outcome(&ops),
        _ => None,
    };
    if let Some(other) = outcome.filter(|&other| other != fits) {
        let word = |fits: bool| if fits { "an order" } else { "no order" };
        out.reasons.push(format!(
            "two checkers disagree: by its values {} of the register's accesses fits, by the general search {}",
            word(fits),
            word(other)
        ));
    }
    out.ran("second-opinion", outcome.map_or(0, |_| ops.len()));
}

fn outcome(ops: &[Op<RegisterOp<RegisterValue>>]) -> Option<bool> {
    let mut budget = Budget {
        steps: STEPS,
        bytes: BYTES,
        expired: &mut || false,
    };
    match search(&Register { initial: None }, ops, &mut budget) {
        SearchOutcome::Linearizable { .. } => Some(true),
        SearchOutcome::Not { .. } => Some(false),
        SearchOutcome::GaveUp(_) => None,
    }
}

/// The accesses as the search wants them: no two of their moments are the same.
fn ops(accesses: &[Access<'_>]) -> Vec<Op<RegisterOp<RegisterValue>>> {
    // What begins when something ends is concurrent with that, so it comes before.
    let mut moments: Vec<(u64, bool, usize)> = Vec::new();
    for (number, access) in accesses.iter().enumerate() {
        moments.push((access.start, false, number));
        moments.push((access.finish, true, number));
    }
    moments.sort_unstable();
    let mut places = vec![[0; 2]; accesses.len()];
    for (place, (_, ends, number)) in moments.into_iter().enumerate() {
        places[number][usize::from(ends)] = place;
    }
    let op = |(access, [start, finish]): (&Access<'_>, [usize; 2])| {
        let input = match access.action {
            Action::Begin => return None,
            Action::Read(value) => RegisterOp::Read(value),
            Action::Write(to) => RegisterOp::Write(Some(to)),
            Action::Cas { from, to } => RegisterOp::Cas(from, Some(to)),
        };
        Some(match access.certain() {
            true => Op::done(input, start, finish),
            false => Op::unknown(input, start),
        })
    };
    accesses.iter().zip(places).filter_map(op).collect()
}
