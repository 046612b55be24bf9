//! `not-linearizable`: no order of the register's accesses fits.
//!
//! An order fits if every read and every compare-and-set finds what was written last before it, and if whatever was
//! answered before something else was sent comes before that too. Each value is written once, so there is none exactly
//! if a value was found that nobody had sent (`phantom`), two compare-and-sets took the same value away, they lead
//! round in a circle, or real time contradicts the places that accesses have by what they found
//! ([`zooquake_linearizability::unique::order`]).
//!
//! The readings of the znode tree at the end are reads too. They are asked only if
//! nothing in the history itself is in the wrong order.

use super::accesses::{Access, Accesses};
use super::contradictions::{MADE_UP, RegisterContradiction, property, tell};
use super::cross_check;
use super::minimal_contradictions::{self, Terms};
use crate::analysis::Analysis;
use crate::findings::{Finding, Findings};
use zooquake_linearizability::unique::causes::judge;

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
        cross_check::check([&accesses.all, all], causes.is_empty(), out);
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
        let RegisterContradiction { property, witness, why } = minimal_contradictions::told(terms, contradiction);
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
