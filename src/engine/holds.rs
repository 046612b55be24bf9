//! Who holds according to the history, and the clock that runs only while nobody does.

use super::Engine;
use std::time::Duration;

impl Engine {
    /// A grant was read.
    pub(super) fn granted(&mut self, number: usize, grant: &str) {
        let worker = &mut self.workers[number];
        worker.hold = Some(grant.to_string());
        worker.held_after = self.last_request;
        // If somebody else holds too, both are asked at once.
        self.workers.iter_mut().for_each(|worker| worker.confirmed = None);
        self.free_or_held();
    }

    /// A hold has ended for the history.
    pub(super) fn hold_ended(&mut self, number: usize) {
        self.workers[number].hold = None;
        self.free_or_held();
    }

    /// The first client that holds.
    pub(super) fn holder(&self) -> Option<&str> {
        let mut holders = self.workers.iter().filter(|worker| worker.hold.is_some());
        holders.next().map(|worker| worker.name.as_str())
    }

    fn free_or_held(&mut self) {
        match (self.holder().is_some(), self.free_since) {
            (true, Some(since)) => {
                self.free += self.now - since;
                self.free_since = None;
            }
            (false, None) => self.free_since = Some(self.now),
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
        self.free + self.free_since.map_or(Duration::ZERO, |since| self.now - since)
    }
}
