//! The room that a run takes of the machine, among those that go on at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::OwnedSemaphorePermit;

type SharedPermit = Mutex<Option<OwnedSemaphorePermit>>;

/// The room for one run among those that go on at once. It is given back with its last clone, or before; the default is
/// that of a run for whose end no other one waits.
#[derive(Debug, Clone, Default)]
pub struct Slot(Arc<SharedPermit>);

/// Observes whether a slot was given back.
#[derive(Debug)]
pub struct SlotObserver(Weak<SharedPermit>);

impl Slot {
    /// The slot that this permit stands for, with its observer.
    pub fn observed(permit: OwnedSemaphorePermit) -> (Self, SlotObserver) {
        let permit = Arc::new(Mutex::new(Some(permit)));
        let observer = SlotObserver(Arc::downgrade(&permit));
        (Self(permit), observer)
    }

    /// Gives the slot back; nothing happens to one that was given back.
    pub fn give_back(&self) {
        drop(locked(&self.0).take());
    }
}

impl SlotObserver {
    /// Whether the run still has the slot.
    pub fn is_held(&self) -> bool {
        self.0.upgrade().is_some_and(|permit| locked(&permit).is_some())
    }
}

fn locked(permit: &SharedPermit) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
    permit.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn a_slot_is_given_back_once_before_or_with_its_last_clone() {
        let slots = Arc::new(Semaphore::new(1));
        let permit = || Arc::clone(&slots).try_acquire_owned();
        let (slot, observer) = Slot::observed(permit().unwrap());
        let clone = slot.clone();
        drop(slot);
        assert!(observer.is_held() && permit().is_err());
        clone.give_back();
        clone.give_back();
        assert!(!observer.is_held());
        let (second, observer) = Slot::observed(permit().unwrap());
        drop(clone);
        assert!(observer.is_held() && permit().is_err(), "it is that of another run");
        drop(second);
        assert!(!observer.is_held() && permit().is_ok());
        Slot::default().give_back();
    }
}
