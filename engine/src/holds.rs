//! Who holds according to the history, and the clocks that run only while a grant could be given.

use super::Engine;
use super::worker::{Hold, OpKind, Owed, Worker};
use std::num::NonZeroUsize;
use std::time::Duration;
use zooquake_history::operation::{Holders, Mode};

/// After a window was seen to be healed a release waits so many session timeouts at most for the answer to a `confirm`: the
/// client has connected again by then, or learnt that its session is over.
const OWED: u32 = 2;

/// After so many answers `info` to a `confirm` a client is asked to work under its grant: one whose session is over, and that
/// holds all the same, cannot confirm that, but acts on it.
const UNKNOWN: u32 = 2;

/// How long since recovery one more could have been granted, by the mode that it would ask for.
#[derive(Debug, Default)]
pub(super) struct FreeTime {
    exclusive: Duration,
    shared: Duration,
}

impl FreeTime {
    fn of(&self, mode: Mode) -> Duration {
        match mode {
            Mode::Exclusive => self.exclusive,
            Mode::Shared => self.shared,
        }
    }

    fn add(&mut self, mode: Mode, time: Duration) {
        match mode {
            Mode::Exclusive => self.exclusive += time,
            Mode::Shared => self.shared += time,
        }
    }
}

/// How many of these clients hold.
pub(super) fn holders<'w>(workers: impl IntoIterator<Item = &'w Worker>) -> Holders {
    let mut holders = Holders::default();
    let holds = workers.into_iter().filter_map(|worker| worker.hold.as_ref());
    holds.for_each(|hold| *holders.of(hold.mode) += 1);
    holders
}

impl Engine {
    /// A grant was read.
    pub(super) fn granted(&mut self, number: usize, grant: &str) {
        let worker = &mut self.workers[number];
        worker.hold = Some(Hold {
            grant: grant.to_string(),
            mode: worker.mode,
        });
        worker.held_after = self.last_request;
        worker.owed = None;
        // If somebody else holds too, both are asked at once.
        self.workers.iter_mut().for_each(|worker| worker.confirmed = None);
    }

    /// A hold has ended for the history.
    pub(super) fn hold_ended(&mut self, number: usize) {
        self.workers[number].hold = None;
        self.owes_nothing(number);
    }

    /// A window was seen to be healed. Only now can its victims say what they believe: if they gave back before, one that
    /// goes on believing that it holds could not be told from one that has learnt better. A release that waits already is put
    /// off no further.
    pub(super) fn owe_confirms(&mut self) {
        let (after, by) = (self.last_request, self.deadline(self.session() * OWED));
        for worker in self.workers.iter_mut().filter(|worker| worker.hold.is_some()) {
            let waits = worker.owed.filter(|_| worker.withheld);
            worker.owed = Some(Owed {
                after,
                by: waits.map_or(by, |owed| owed.by),
                unknown: waits.map_or(0, |owed| owed.unknown),
            });
            worker.confirmed = None;
        }
    }

    /// Whether this operation gives back what the client has still to confirm. It is asked for again when that is done, and
    /// one that could not confirm is asked to work meanwhile.
    pub(super) fn withholds(&mut self, number: usize, f: &str) -> bool {
        let Some(owed) = self.workers[number].owed.filter(|owed| !self.passed(owed.by)) else {
            return false;
        };
        if OpKind::of(&self.plan.workload.family, f) != OpKind::Release {
            return false;
        }
        self.workers[number].due = Some(self.moment_of(owed.by));
        self.workers[number].withheld = true;
        let work = (owed.unknown >= UNKNOWN).then(|| self.generator.work(number));
        if let Some(work) = work.flatten() {
            self.workers[number].owed = Some(Owed { unknown: 0, ..owed });
            self.ask(number, work);
        }
        true
    }

    /// The client could not confirm, to a request sent after the healing.
    pub(super) fn could_not_confirm(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        let Some(owed) = &mut worker.owed else { return };
        owed.unknown += 1;
        if owed.unknown >= UNKNOWN && worker.withheld {
            worker.due = Some(self.now);
        }
    }

    /// The client has confirmed, or does not hold any more: what waited for that goes on.
    pub(super) fn owes_nothing(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        worker.owed = None;
        if std::mem::take(&mut worker.withheld) {
            worker.due = Some(self.now);
        }
    }

    /// The first client that holds.
    pub(super) fn holder(&self) -> Option<&str> {
        let mut holders = self.workers.iter().filter(|worker| worker.hold.is_some());
        holders.next().map(|worker| worker.name.as_str())
    }

    /// How many clients may hold exclusively at a time.
    pub(super) fn capacity(&self) -> NonZeroUsize {
        self.plan.workload.capabilities().capacity
    }

    /// Adds the time from the last step to this moment to the clocks that ran in it.
    pub(super) fn run_free_time(&mut self, now: Duration) {
        let (held, capacity) = (holders(&self.workers), self.capacity());
        let acquires = |worker: &&Worker| worker.op.as_ref().is_some_and(|op| op.kind == OpKind::Acquire);
        let mut waiting = Holders::default();
        let waits = self.workers.iter().filter(acquires);
        waits.for_each(|worker| *waiting.of(worker.mode) += 1);
        for mode in Mode::ALL
            .into_iter()
            .filter(|mode| held.free_for(*mode, waiting, capacity))
        {
            self.free.add(mode, now - self.now);
        }
    }

    /// Begins the clocks anew.
    pub(super) fn restart_free_time(&mut self) {
        self.free = FreeTime::default();
    }

    /// How long one more could have been granted, up to now, of the mode that this client asked for last.
    pub(super) fn free_time(&self, number: usize) -> Duration {
        self.free.of(self.workers[number].mode)
    }
}
