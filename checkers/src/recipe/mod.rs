//! Checkers of a user's own recipe, beside those of its family.

mod client_crash;
pub(crate) mod missing_evidence;

pub use client_crash::CHECKERS;

use crate::analysis::Analysis;
use crate::findings::Findings;
use missing_evidence::RequiredEvidence;

/// Judges what only clients of a user's own recipe can lack.
pub(crate) fn check(run: &Analysis<'_>, evidence: RequiredEvidence<'_>, out: &mut Findings) {
    client_crash::check(run, out);
    missing_evidence::check(run, evidence, out);
}
