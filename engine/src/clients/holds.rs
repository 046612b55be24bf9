//! Who holds according to the history, what holders have to confirm before they give back, and the clocks that run only
//! while a grant could be given.

use crate::context::{Deadline, RunContext};
use crate::operation::FreeTimes;
use std::num::NonZeroUsize;
use std::time::Duration;
use zooquake_history::operation::{Holders, Mode};
use zooquake_history::plan::LeaseTerm;

/// A client is asked to confirm at most this often.
const CONFIRM_EVERY: Duration = Duration::from_millis(500);

/// After a window was seen to be healed a release waits so many session timeouts at most for the answer to a `confirm`:
/// the client has connected again by then, or its session was reported to be over.
const DEBT_SESSIONS: u32 = 2;

/// After so many answers `info` to a `confirm` a client is asked to work under its grant: one whose session is over,
/// and that holds all the same, cannot confirm that, but acts on it.
const UNKNOWN: u32 = 2;

/// The holds of all clients, numbered from 0.
#[derive(Debug)]
pub struct Holds {
    /// The number of clients that may hold exclusively at a time.
    capacity: NonZeroUsize,
    clients: Vec<ClientHold>,
    /// For how long leases last; `None` if not for a time.
    term: Option<LeaseTerm>,
    /// Of leases that last for a time: when each that may be there is over at the latest.
    over: Vec<Duration>,
    /// The time since recovery in which one more could have been granted, by the mode that it would ask for.
    free: FreeTimes,
}

/// What one client holds, and what it has to confirm.
#[derive(Debug, Default)]
struct ClientHold {
    /// The mode that its last request for a grant asked for.
    mode: Mode,
    /// The grant that it was given and that has not ended.
    grant: Option<HeldGrant>,
    /// Number of the last request that was sent to anybody before that grant was read.
    last_before: u64,
    debt: Option<ConfirmDebt>,
    /// Whether its release is due, and waits for the debt.
    withheld: bool,
    /// When it was last sent a `confirm`.
    confirmed: Option<Duration>,
}

#[derive(Debug)]
struct HeldGrant {
    name: String,
    mode: Mode,
}

/// What a client that holds owes before it gives back: an answer to a `confirm`, since a window was seen to be healed.
#[derive(Debug, Clone, Copy)]
struct ConfirmDebt {
    /// Number of the last request that was sent to anybody before the last healing.
    last_before: u64,
    /// When it may give back all the same.
    until: Deadline,
    /// The number of its answers `info` to a `confirm` since it was last asked to work.
    unknown: u32,
}

impl Holds {
    /// The holds of so many clients, none of which holds.
    pub fn new(clients: usize, capacity: NonZeroUsize, term: Option<LeaseTerm>) -> Self {
        Self {
            capacity,
            term,
            over: Vec::new(),
            clients: (0..clients).map(|_| ClientHold::default()).collect(),
            free: Default::default(),
        }
    }

    /// A client is sent a request for a grant of this mode.
    pub fn ask(&mut self, client: usize, mode: Mode) {
        self.clients[client].mode = mode;
    }

    /// The mode that the client's last request for a grant asked for.
    pub fn mode(&self, client: usize) -> Mode {
        self.clients[client].mode
    }

    /// A grant was read; `last_request` is the number of the last request that was sent to anybody.
    pub fn grant(&mut self, client: usize, grant: &str, last_request: u64) {
        let state = &mut self.clients[client];
        state.grant = Some(HeldGrant {
            name: grant.to_string(),
            mode: state.mode,
        });
        state.last_before = last_request;
        state.debt = None;
        // If somebody else holds too, both are asked at once.
        self.clients.iter_mut().for_each(|state| state.confirmed = None);
    }

    /// A request for a grant ended so that there may be a lease that lasts for a time, whatever its client does.
    pub fn may_last(&mut self, now: Duration) {
        self.over.retain(|over| *over > now);
        self.over.extend(self.term.map(|term| now + term.most()));
    }

    /// A hold has ended for the history; returns whether a release that waited is due now.
    pub fn end(&mut self, client: usize) -> bool {
        self.clients[client].grant = None;
        self.settle(client)
    }

    /// The client has confirmed, or does not hold any more; returns whether a release that waited for that is due now.
    pub fn settle(&mut self, client: usize) -> bool {
        let state = &mut self.clients[client];
        state.debt = None;
        std::mem::take(&mut state.withheld)
    }

    /// Whether the client holds anything.
    pub fn is_holder(&self, client: usize) -> bool {
        self.clients[client].grant.is_some()
    }

    /// Whether the client holds this grant.
    pub fn is_holder_of(&self, client: usize, grant: &str) -> bool {
        let held = self.clients[client].grant.as_ref();
        held.is_some_and(|held| held.name == grant)
    }

    /// The first client that holds.
    pub fn holder(&self) -> Option<usize> {
        self.clients.iter().position(|state| state.grant.is_some())
    }

    /// Whether a request was sent after the client's grant was read, so that its answer is about that.
    pub fn is_about_grant(&self, client: usize, request: u64) -> bool {
        request > self.clients[client].last_before
    }

    /// Whether others hold in a way that excludes what the client asked for last.
    pub fn excludes(&self, client: usize) -> bool {
        let others = self.clients.iter().enumerate().filter(|(other, _)| *other != client);
        let others = holders(others.map(|(_, state)| state));
        others.exclude(self.mode(client), self.capacity)
    }

    /// A window was seen to be healed. Only now can its victims answer whether they believe to hold: if they gave back
    /// before, one that goes on believing it could not be distinguished from one that has given it up. A release that
    /// waits already is put off no further.
    pub fn owe_confirms(&mut self, run: &RunContext, last_request: u64) {
        let until = run.deadline(run.session() * DEBT_SESSIONS);
        for state in self.clients.iter_mut().filter(|state| state.grant.is_some()) {
            let waits = state.debt.filter(|_| state.withheld);
            state.debt = Some(ConfirmDebt {
                last_before: last_request,
                until: waits.map_or(until, |debt| debt.until),
                unknown: waits.map_or(0, |debt| debt.unknown),
            });
            state.confirmed = None;
        }
    }

    /// Whether an answer to this request settles what the client owes.
    pub fn owes(&self, client: usize, request: u64) -> bool {
        let debt = self.clients[client].debt;
        debt.is_some_and(|debt| request > debt.last_before)
    }

    /// Withholds the client's release for what it has still to confirm; returns the moment until which, `None` if
    /// nothing is to be confirmed.
    pub fn withhold(&mut self, run: &RunContext, client: usize) -> Option<Duration> {
        let state = &mut self.clients[client];
        let debt = state.debt.filter(|debt| !run.passed(debt.until))?;
        state.withheld = true;
        Some(run.moment_of(debt.until))
    }

    /// Whether the client could not confirm so often that it is asked to work.
    pub fn must_work(&self, client: usize) -> bool {
        let debt = self.clients[client].debt;
        debt.is_some_and(|debt| debt.unknown >= UNKNOWN)
    }

    /// The client is asked to work.
    pub fn works(&mut self, client: usize) {
        let debt = self.clients[client].debt.as_mut();
        debt.into_iter().for_each(|debt| debt.unknown = 0);
    }

    /// The client could not confirm, to a request sent after the healing; returns whether its release is to be looked
    /// at again.
    pub fn could_not_confirm(&mut self, client: usize) -> bool {
        let state = &mut self.clients[client];
        let Some(debt) = &mut state.debt else { return false };
        debt.unknown += 1;
        debt.unknown >= UNKNOWN && state.withheld
    }

    /// The clients that have to confirm: all that hold while some exclude each other, and those whose release waits for
    /// it.
    pub fn to_confirm(&self) -> impl Iterator<Item = usize> + '_ {
        let conflict = holders(&self.clients).conflict(self.capacity);
        let clients = self.clients.iter().enumerate();
        let asked = move |(_, state): &(usize, &ClientHold)| state.grant.is_some() && (conflict || state.withheld);
        clients.filter(asked).map(|(client, _)| client)
    }

    /// The moment from which a client that has to confirm is asked, now if it was not asked yet.
    pub fn confirm_due(&self, client: usize, now: Duration) -> Duration {
        let asked = self.clients[client].confirmed;
        asked.map_or(now, |at| at + CONFIRM_EVERY)
    }

    /// A client is sent a `confirm`.
    pub fn confirm(&mut self, client: usize, now: Duration) {
        self.clients[client].confirmed = Some(now);
    }

    /// Adds a time that begins now to the clocks that run in it, while these clients wait for a grant.
    pub fn pass(&mut self, now: Duration, time: Duration, waiting: impl Iterator<Item = usize>) {
        let mut held = holders(&self.clients);
        let mut waits = Holders::default();
        waiting.for_each(|client| *waits.count_mut(self.mode(client)) += 1);
        if self.term.is_some() {
            held.exclusive = self.over.iter().filter(|over| **over > now).count();
        }
        for mode in Mode::ALL {
            if held.free_for(mode, waits, self.capacity) {
                self.free[mode as usize] += time;
            }
        }
    }

    /// Begins the clocks anew.
    pub fn restart_free_time(&mut self) {
        self.free = Default::default();
    }

    /// The time in which one more could have been granted, up to now, by its mode.
    pub fn free_times(&self) -> FreeTimes {
        self.free
    }

    /// The time in which one more could have been granted, up to now, of the mode that this client asked for last.
    pub fn free_time(&self, client: usize) -> Duration {
        self.free[self.mode(client) as usize]
    }
}

/// The number of holders among these clients.
fn holders<'h>(clients: impl IntoIterator<Item = &'h ClientHold>) -> Holders {
    let mut holders = Holders::default();
    let grants = clients.into_iter().filter_map(|client| client.grant.as_ref());
    grants.for_each(|grant| *holders.count_mut(grant.mode) += 1);
    holders
}

/// Holds on their own: the clocks of free time, what is owed before a release, and who has to confirm.
#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::Plan;

    fn holds(clients: usize) -> Holds {
        Holds::new(clients, NonZeroUsize::MIN, None)
    }

    fn run() -> RunContext {
        RunContext::new(Plan::default())
    }

    fn to_confirm(holds: &Holds) -> Vec<usize> {
        holds.to_confirm().collect()
    }

    #[test]
    fn a_hold_lasts_from_its_grant_to_its_end() {
        let mut holds = holds(2);
        assert_eq!(holds.holder(), None);
        holds.grant(1, "g1", 4);
        assert_eq!((holds.holder(), holds.is_holder_of(1, "g1")), (Some(1), true));
        assert!(!holds.is_holder_of(1, "g2") && holds.excludes(0) && !holds.excludes(1));
        assert!(!holds.is_about_grant(1, 4) && holds.is_about_grant(1, 5));
        assert!(!holds.end(1), "no release waits");
        assert!(!holds.is_holder(1));
    }

    #[test]
    fn all_that_hold_confirm_while_some_exclude_each_other() {
        let mut holds = holds(3);
        let now = Duration::from_secs(1);
        for (client, mode) in [(0, Mode::Shared), (1, Mode::Shared)] {
            holds.ask(client, mode);
            holds.grant(client, "g", 0);
        }
        assert_eq!(to_confirm(&holds), [0; 0]);
        holds.grant(2, "g", 0);
        assert_eq!(to_confirm(&holds), [0, 1, 2]);
        holds.confirm(0, now);
        assert_eq!(holds.confirm_due(0, now), now + CONFIRM_EVERY);
        assert_eq!(holds.confirm_due(1, now), now);
    }

    #[test]
    fn a_release_is_withheld_until_the_debt_is_settled_or_overdue() {
        let (mut run, mut holds) = (run(), holds(2));
        holds.grant(0, "g1", 1);
        assert_eq!(holds.withhold(&run, 0), None, "nothing was healed");
        holds.owe_confirms(&run, 7);
        assert!(!holds.owes(0, 7) && holds.owes(0, 8) && !holds.owes(1, 8));
        let until = run.session() * DEBT_SESSIONS;
        assert_eq!(holds.withhold(&run, 0), Some(until));
        assert_eq!(to_confirm(&holds), [0]);
        run.now = until / 2;
        holds.owe_confirms(&run, 9);
        assert_eq!(holds.withhold(&run, 0), Some(until), "it is put off no further");
        assert!(!holds.could_not_confirm(0) && !holds.must_work(0));
        assert!(holds.could_not_confirm(0) && holds.must_work(0));
        holds.works(0);
        assert!(!holds.must_work(0));
        run.now = until;
        assert_eq!(holds.withhold(&run, 0), None, "it is overdue");
        assert!(holds.settle(0) && !holds.settle(0));
    }

    #[test]
    fn a_clock_runs_only_while_a_grant_of_its_mode_could_be_given() {
        let mut holds = holds(2);
        let second = Duration::from_secs(1);
        holds.ask(1, Mode::Shared);
        holds.pass(Duration::ZERO, second, std::iter::empty());
        assert_eq!((holds.free_time(0), holds.free_time(1)), (second, second));
        holds.grant(1, "g1", 0);
        holds.pass(Duration::ZERO, second, std::iter::empty());
        assert_eq!((holds.free_time(0), holds.free_time(1)), (second, second * 2));
        holds.pass(Duration::ZERO, second, [0].into_iter());
        assert_eq!(holds.free_time(1), second * 2, "a writer waits");
        holds.restart_free_time();
        assert_eq!(holds.free_time(1), Duration::ZERO);
    }
}

#[cfg(test)]
mod timed_tests {
    use super::*;

    #[test]
    fn a_lease_is_in_the_way_until_its_latest_end_whoever_gives_it_back() {
        let second = Duration::from_secs(1);
        let term = LeaseTerm {
            lasts: second * 3,
            margin: second,
        };
        let mut holds = Holds::new(2, NonZeroUsize::MIN, Some(term));
        holds.grant(0, "g1", 0);
        holds.may_last(second);
        holds.end(0);
        holds.pass(second * 4, second, std::iter::empty());
        assert_eq!(holds.free_time(1), Duration::ZERO);
        holds.pass(second * 5, second, [1].into_iter());
        assert_eq!(holds.free_time(1), second);
    }
}
