//! How much a pack may become: one bound for all of its layers.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

/// Every pack may have so many bytes: a short run has one to two million.
const LEAST: u64 = 16 << 20;

/// A pack may expand so many times over; those of runs do it three to six times.
const RATIO: u64 = 100;

/// Nothing that is packed has more bytes than this: all of them are held in memory.
const MOST: u64 = 512 << 20;

/// What each entry costs besides its bytes: a file takes a block of the disk, also an empty one.
const ENTRY: u64 = 4096;

/// The bytes that may still be written and held. Clones share them.
#[derive(Debug, Clone)]
pub struct ByteBudget {
    left: Rc<Cell<u64>>,
    whole: u64,
}

/// A pack is larger than its bound.
#[derive(Debug)]
pub struct BudgetExcess {
    whole: u64,
}

impl fmt::Display for BudgetExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it becomes larger than {} MB, the bound for what is packed into so few bytes: if you trust it, unpack it \
             yourself and give the folder",
            self.whole.div_ceil(1_000_000)
        )
    }
}

impl std::error::Error for BudgetExcess {}

impl ByteBudget {
    /// The bound of a pack of so many bytes.
    pub fn of_pack(bytes: u64) -> Self {
        Self::new(bytes.saturating_mul(RATIO).saturating_add(LEAST).min(MOST))
    }

    /// The bound of a compressed file of so many bytes in a folder.
    pub fn of_file(bytes: u64) -> Self {
        Self::of_pack(bytes)
    }

    fn new(whole: u64) -> Self {
        Self {
            left: Rc::new(Cell::new(whole)),
            whole,
        }
    }

    /// Takes what an entry costs besides its bytes.
    ///
    /// # Errors
    /// [`BudgetExcess`], within the I/O error.
    pub fn entry(&self) -> io::Result<()> {
        self.spend(ENTRY)
    }

    /// A reader whose bytes are taken from the budget; its error is [`BudgetExcess`] when there are too many.
    pub fn metered<R: Read>(&self, inner: R) -> BudgetReader<R> {
        BudgetReader {
            inner,
            budget: self.clone(),
        }
    }

    fn spend(&self, bytes: u64) -> io::Result<()> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or(0));
        match left {
            Some(_) => Ok(()),
            None => Err(io::Error::other(BudgetExcess { whole: self.whole })),
        }
    }
}

/// A reader with a budget.
#[derive(Debug)]
pub struct BudgetReader<R> {
    inner: R,
    budget: ByteBudget,
}

impl<R: Read> Read for BudgetReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.budget.spend(read as u64)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readers_share_the_bound() {
        let budget = ByteBudget::of_pack(0);
        let mut half = budget.metered(io::repeat(0).take(LEAST / 2));
        assert_eq!(io::copy(&mut half, &mut io::sink()).unwrap(), LEAST / 2);
        let error = io::copy(&mut budget.metered(io::repeat(0)), &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("larger than 17 MB"), "{error}");
        assert!(budget.entry().is_err());
        assert!(ByteBudget::of_pack(u64::MAX).entry().is_ok());
    }
}
