//! Who holds, as far as the history tells, and the clock that runs only while nobody does.

use super::interpreter::Interpreter;
use std::time::{Duration, Instant};

impl Interpreter {
    /// A grant was read.
    pub(super) fn granted(&mut self, number: usize, grant: &str) {
        let slot = &mut self.slots[number];
        slot.hold = Some(grant.to_string());
        slot.held_since = Instant::now();
        // If somebody else holds too, both are asked at once.
        self.slots.iter_mut().for_each(|slot| slot.confirmed = None);
        self.free_or_held();
    }

    /// A hold has ended for the history.
    pub(super) fn hold_ended(&mut self, number: usize) {
        self.slots[number].hold = None;
        self.free_or_held();
    }

    fn free_or_held(&mut self) {
        let held = self.slots.iter().any(|slot| slot.hold.is_some());
        match (held, self.free_since) {
            (true, Some(since)) => {
                self.free += since.elapsed();
                self.free_since = None;
            }
            (false, None) => self.free_since = Some(Instant::now()),
            _ => {}
        }
    }

    /// Begins that clock anew.
    pub(super) fn restart_free_time(&mut self) {
        self.free = Duration::ZERO;
        self.free_since = None;
        self.free_or_held();
    }

    /// How long nobody has held, up to now.
    pub(super) fn free_time(&self) -> Duration {
        self.free + self.free_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
