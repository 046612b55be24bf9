//! Checkers of a user's own recipe, beside those of its family.

mod client_crash;
mod missing_evidence;

pub use client_crash::CHECKERS;

use crate::analysis::Analysis;
use crate::findings::Findings;

/// Judges what only clients of a user's own recipe can lack.
pub(crate) fn check(run: &Analysis<'_>, out: &mut Findings) {
    client_crash::check(run, out);
    missing_evidence::check(run, out);
}
