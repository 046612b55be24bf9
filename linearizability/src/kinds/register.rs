//! Registers with compare-and-set.

use super::{Claim, HistoryModel, decide, unordered};
use crate::reading;
use crate::register::{Register, Unset};

const UNORDERED: Claim = unordered("no order of the register's operations fits");

/// Registers; with what they begin is known of our histories only.
pub static REGISTERS: HistoryModel = HistoryModel {
    names: &["register", "cas-register"],
    operations: &["read", "write", "cas"],
    sized: false,
    judge: |_, calls, conventions, _, budget| {
        let accesses = reading::register(calls, conventions)?;
        Ok(match accesses.initial {
            Some(initial) => decide(UNORDERED, &Register { initial }, accesses.reading, budget),
            None => decide(UNORDERED, &Unset { never: accesses.never }, accesses.reading, budget),
        })
    },
};
