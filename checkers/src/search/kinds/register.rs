//! Registers with compare-and-set.

use super::{HistoryModel, Judgement, decide};
use crate::search::calls::Call;
use crate::search::reading::{self, Notation};
use crate::search::register::{Register, Unset};
use crate::search::{Budget, Claim};

const UNORDERED: Claim = Claim {
    kind: "not-linearizable",
    property: "linearizability",
    says: "no order of the register's operations fits",
};

/// Registers; with what they begin is known of our histories only.
pub struct Registers;

impl HistoryModel for Registers {
    fn names(&self) -> &'static [&'static str] {
        &["register", "cas-register"]
    }

    fn operations(&self) -> &'static [&'static str] {
        &["read", "write", "cas"]
    }

    fn judge(
        &self,
        calls: &[Call<'_>],
        notation: Notation,
        _: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Judgement, String> {
        let accesses = reading::register(calls, notation)?;
        Ok(match accesses.initial {
            Some(initial) => decide(&UNORDERED, &Register { initial }, accesses.reading, budget),
            None => decide(&UNORDERED, &Unset { never: accesses.never }, accesses.reading, budget),
        })
    }
}
