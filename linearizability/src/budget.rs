//! How much a search may use, and what ran out.

use std::fmt;

/// How much a search may use. It is used up by one search after another.
pub struct Budget<'a> {
    /// Steps of the model that are left.
    pub steps: u64,
    /// Bytes that a search may take (estimated): its operations and lists, and the table of visited configurations; for
    /// each search anew.
    pub bytes: usize,
    /// Called every few thousand steps; the search gives up once it returns `true`.
    pub expired: &'a mut dyn FnMut() -> bool,
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("steps", &self.steps)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Budget<'_> {
    /// Spends one step.
    pub(crate) fn spend(&mut self) -> Result<(), Limit> {
        // How often, in steps, the clock is asked: often enough for a second, too seldom to cost anything.
        const POLL: u64 = 4096;
        if self.steps == 0 {
            return Err(Limit::Steps);
        }
        if self.steps.is_multiple_of(POLL) && (self.expired)() {
            return Err(Limit::Time);
        }
        self.steps -= 1;
        Ok(())
    }
}

/// Does with some of the steps that are left what may use no more.
pub fn within<T>(budget: &mut Budget<'_>, steps: u64, work: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let kept = budget.steps.saturating_sub(steps);
    budget.steps -= kept;
    let done = work(budget);
    budget.steps += kept;
    done
}

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// More steps were needed than it has.
    Steps,
    /// More memory was needed than it has.
    Memory,
    /// The time: [`Budget::expired`] returned `true`.
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::Memory => "memory",
            Self::Time => "time",
        })
    }
}
