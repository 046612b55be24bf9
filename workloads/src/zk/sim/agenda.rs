//! What is due later.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, Weak};
use std::task::Waker;
use std::time::Duration;

use super::ensemble::{DueEvent, Ensemble};

/// The owner of a step: a node of the network, or `None` for the harness.
pub(super) type StepOwner = Option<usize>;

/// What is done when something is due.
pub(super) enum AgendaTask {
    /// Its task goes on.
    Wake(Waker),
    /// A task that was ready goes on.
    Poll(usize),
    /// Something happens in the model.
    Happen(Weak<Mutex<Ensemble>>, DueEvent),
    /// A test does something.
    Act(Box<dyn FnOnce() + Send>),
}

/// The place of an entry: by its moment, then by its number. Slots are used again, and then have another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AgendaPlace {
    pub(super) at: Duration,
    number: u64,
    slot: usize,
}

struct Slot {
    number: u64,
    party: StepOwner,
    due: AgendaTask,
}

/// What is due later, in the order of moments, and of numbers at one moment.
#[derive(Default)]
pub(super) struct Agenda {
    places: BinaryHeap<Reverse<AgendaPlace>>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    numbered: u64,
}

impl Agenda {
    /// The next number.
    pub(super) fn number(&mut self) -> u64 {
        self.numbered += 1;
        self.numbered
    }

    /// Adds what is due at a moment, after all that is due there and has a lower number.
    pub(super) fn add(&mut self, (at, number): (Duration, u64), party: StepOwner, due: AgendaTask) -> AgendaPlace {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Slot { number, party, due });
        let place = AgendaPlace { at, number, slot };
        self.places.push(Reverse(place));
        place
    }

    fn slot(&self, place: AgendaPlace) -> Option<&Slot> {
        let slot = self.slots.get(place.slot)?.as_ref();
        slot.filter(|slot| slot.number == place.number)
    }

    /// Replaces what is due there; what was, or this if nothing is any more.
    pub(super) fn replace(&mut self, place: AgendaPlace, due: AgendaTask) -> AgendaTask {
        match self.slots.get_mut(place.slot) {
            Some(Some(slot)) if slot.number == place.number => std::mem::replace(&mut slot.due, due),
            _ => due,
        }
    }

    /// Takes what is due there, which is then due no more.
    pub(super) fn take(&mut self, place: AgendaPlace) -> Option<AgendaTask> {
        self.slot(place)?;
        self.free.push(place.slot);
        self.slots[place.slot].take().map(|slot| slot.due)
    }

    /// Gives all of it up, to be dropped where nothing is locked. Its places mean nothing any more.
    pub(super) fn clear(&mut self) -> impl Sized + use<> {
        self.places.clear();
        self.free.clear();
        std::mem::take(&mut self.slots)
    }

    /// The first place.
    fn first(&mut self) -> Option<AgendaPlace> {
        while let Some(Reverse(place)) = self.places.peek().copied() {
            if self.slot(place).is_some() {
                return Some(place);
            }
            self.places.pop();
        }
        None
    }

    /// Takes what is due first.
    pub(super) fn pop(&mut self) -> Option<(Duration, AgendaTask)> {
        let place = self.first()?;
        self.places.pop();
        self.take(place).map(|due| (place.at, due))
    }

    /// The first of each party that is due within `window` of the first of all, in order; nothing that comes after what
    /// is due for the harness. One of the harness is alone.
    pub(super) fn enabled(&mut self, window: Duration, enabled: &mut Vec<(AgendaPlace, StepOwner)>) {
        enabled.clear();
        let Some(first) = self.first() else { return };
        let mut limit = None;
        for &Reverse(place) in &self.places {
            if place.at > first.at + window {
                continue;
            }
            let Some(slot) = self.slot(place) else { continue };
            if slot.party.is_none() {
                limit = Some(limit.map_or(place, |other: AgendaPlace| other.min(place)));
            } else if let Some(other) = enabled.iter_mut().find(|(_, party)| *party == slot.party) {
                other.0 = other.0.min(place);
            } else {
                enabled.push((place, slot.party));
            }
        }
        if let Some(limit) = limit {
            enabled.retain(|(place, _)| *place < limit);
            if enabled.is_empty() {
                enabled.push((limit, None));
            }
        }
        enabled.sort_unstable();
    }
}
