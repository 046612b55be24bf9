//! `not-linearizable`: no order of the register's accesses fits.
//!
//! An order fits if every read and every compare-and-set finds what was written last before it, and if whatever was
//! answered before something else was sent comes before that too. Each value is written once, so there is none exactly
//! if a value was found that nobody had sent (`phantom`), two compare-and-sets took the same value away, they lead
//! round in a circle, or real time contradicts the places that accesses have by what they found
//! ([`zooquake_linearizability::unique::order`]).
//!
//! The readings of the znode tree at the end are reads too. They are asked only if nothing in the history itself is in
//! the wrong order.

use super::accesses::{Access, Accesses, Action, RegisterValue};
use super::contradictions::{MADE_UP, RegisterContradiction, Terms, minimal, property, tell};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_linearizability::models::register::{Register, RegisterOp};
use zooquake_linearizability::unique::RegisterAccess as _;
use zooquake_linearizability::unique::causes::judge;
use zooquake_linearizability::{Budget, Op, SearchOutcome, search};

/// How many anomalies are named; of more only the number.
const NAMED: usize = 10;

/// Looks for accesses that no order fits.
pub fn check(run: &Analysis<'_>, accesses: &Accesses<'_>, tree: &[Access<'_>], promised: bool, out: &mut Findings) {
    // What cannot be read may have written any value.
    let whole = accesses.unreadable == 0;
    let mut looked_at = accesses.all.len() - 1;
    let (mut judged, mut causes) = judge(accesses.all.clone(), whole);
    let by_tree = causes.iter().all(|cause| property(cause) == MADE_UP) && !tree.is_empty();
    if by_tree {
        looked_at += tree.len();
        (judged, causes) = judge([accesses.all.as_slice(), tree].concat(), whole);
    }
    if whole {
        let all = if by_tree { tree } else { &[] };
        cross_check([&accesses.all, all], causes.is_empty(), out);
    }
    let more = causes.len().saturating_sub(NAMED);
    let ambiguous = accesses.ambiguous.iter().copied().collect();
    let terms = Terms {
        run,
        tree: by_tree,
        promised,
        ambiguous: &ambiguous,
    };
    for contradiction in tell(run, &judged, causes.iter().take(NAMED)) {
        let RegisterContradiction { property, witness, why } = minimal(terms, contradiction);
        if witness.is_empty() {
            // The contradiction lies in the tree alone: the history does not show what happened.
            out.reasons.push(format!("evidence disagrees: {why}"));
            continue;
        }
        out.add(run, Finding::new("not-linearizable", property, witness, why));
    }
    if more > 0 {
        out.reasons.push(format!(
            "note: {more} more contradictions between the register's accesses are not listed"
        ));
    }
    out.ran("not-linearizable", looked_at);
}

/// The longest history that is searched.
const LONGEST: usize = 60;

/// Steps and bytes that a search may use; it always gives up at the same point.
const STEPS: u64 = 200_000;
const BYTES: usize = 64 << 20;

/// A second opinion on short histories: the general search, which uses neither clusters nor blocks.
///
/// Should the two ever differ, one of them is wrong, and that is a reason against `valid`; the anomalies found stand.
fn cross_check(accesses: [&[Access<'_>]; 2], fits: bool, out: &mut Findings) {
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
