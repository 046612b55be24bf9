//! Values that operations draw.

use super::Values;
use fastrand::Rng;

/// The values of a history, some of them used already.
#[derive(Debug)]
pub struct Drawn {
    values: Values,
    next: u64,
}

impl Drawn {
    /// None is used yet.
    pub fn new(values: Values) -> Self {
        Self { values, next: 0 }
    }

    /// A value as the history's options have it.
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(count) => rng.u64(0..count),
        }
    }

    /// A value that is drawn nowhere else.
    pub fn unique(&mut self) -> u64 {
        self.next += 1;
        match self.values {
            Values::Unique => self.next - 1,
            Values::Of(count) => count + self.next - 1,
        }
    }

    /// A value that may be drawn, and is not this one.
    pub fn other(&mut self, value: u64) -> u64 {
        match self.values {
            Values::Unique => self.unique(),
            Values::Of(_) => u64::from(value == 0),
        }
    }
}
