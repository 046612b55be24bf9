//! The process of one client: its starts, its greeting, its deaths and when it is started again.

use std::time::Duration;

/// The time from the end of a process that ended by itself to its next start.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// A client's process. The tokens are those of reports of the nemesis.
#[derive(Debug, Default)]
pub struct ClientProcess {
    /// The number of its starts.
    pub incarnation: u64,
    /// Whether it takes requests; false while it is dead.
    pub connected: bool,
    /// Whether its `hello` was read.
    greeted: bool,
    /// Whether its death was ordered by the nemesis.
    pub killed: bool,
    restart: RestartState,
    /// The number of its ends by itself while some window was on that still is.
    deaths: u32,
    /// The report of a kill that waits for it to run.
    kill: Option<u64>,
    /// The report that is answered when its `hello` after a kill is read.
    restart_report: Option<u64>,
    /// Whether the way to the process before this one was lost: the engine starts it again until its `hello` is read.
    is_lost: bool,
}

/// Whether a process that has ended by itself is started again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum RestartState {
    /// It runs, or the nemesis starts it.
    #[default]
    None,
    /// At this moment.
    Due(Duration),
    /// Once no window is on any more: it has ended too often in one.
    AfterHealing,
}

impl ClientProcess {
    /// It is started; returns its incarnation.
    pub fn start(&mut self) -> u64 {
        self.incarnation += 1;
        self.killed = false;
        self.restart = RestartState::None;
        self.incarnation
    }

    /// It is started again after a kill, for this report.
    pub fn restart_for(&mut self, report: u64) -> u64 {
        self.restart_report = Some(report);
        self.start()
    }

    /// It takes requests.
    pub fn connect(&mut self) {
        self.connected = true;
    }

    /// Its `hello` was read; returns the report that waited for that.
    pub fn greet(&mut self) -> Option<u64> {
        self.greeted = true;
        self.is_lost = false;
        self.restart_report.take()
    }

    /// It has ended.
    pub fn end(&mut self) {
        self.connected = false;
        self.greeted = false;
    }

    /// Whether it takes requests and its `hello` was read.
    pub fn runs(&self) -> bool {
        self.greeted && self.connected
    }

    /// The nemesis is about to kill it, and alone starts it again. One that is just being started, where the engine
    /// does so by itself (`restarts`), is killed once it runs, so that none is left behind. Returns whether it may be
    /// killed now.
    pub fn kill(&mut self, report: u64, restarts: bool) -> bool {
        let starting = self.restart == RestartState::None && !self.runs() && !self.killed;
        if starting && (restarts || self.is_lost) {
            self.kill = Some(report);
            return false;
        }
        self.killed = true;
        self.restart = RestartState::None;
        true
    }

    /// It runs, or has ended: the report of a kill that waited for that, which may be carried out now.
    pub fn take_kill(&mut self) -> Option<u64> {
        let report = self.kill.take();
        self.killed |= report.is_some();
        report
    }

    /// It has ended by itself; returns whether it is started again soon. It is not if it has done so more often than
    /// `max_restarts` while windows were on.
    pub fn restart_later(&mut self, now: Duration, max_restarts: u32, window_on: bool) -> bool {
        self.deaths = if window_on { self.deaths + 1 } else { 0 };
        let again = self.deaths <= max_restarts;
        self.restart = if again {
            RestartState::Due(now + RESTART_PAUSE)
        } else {
            RestartState::AfterHealing
        };
        again
    }

    /// There is no way to it: it is started again soon, unless the nemesis has killed it. Returns the report that
    /// waited for its `hello`.
    pub fn lose(&mut self, now: Duration) -> Option<u64> {
        self.end();
        self.is_lost = true;
        // The nemesis, whose start has failed, tries again.
        let report = self.restart_report.take();
        self.killed |= report.is_some();
        self.restart = match self.killed {
            true => RestartState::None,
            false => RestartState::Due(now + RESTART_PAUSE),
        };
        report
    }

    /// No window is on any more: what happened in them counts no more.
    pub fn forgive(&mut self, now: Duration) {
        self.deaths = 0;
        if self.restart == RestartState::AfterHealing {
            self.restart = RestartState::Due(now + RESTART_PAUSE);
        }
    }

    /// The moment at which it is started again; `None` if it is not.
    pub fn restart_due(&self) -> Option<Duration> {
        match self.restart {
            RestartState::Due(at) => Some(at),
            RestartState::None | RestartState::AfterHealing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn running() -> ClientProcess {
        let mut process = ClientProcess::default();
        process.start();
        process.connect();
        assert!(!process.runs() && process.greet().is_none() && process.runs());
        process
    }

    #[test]
    fn one_that_ends_too_often_in_a_window_is_started_again_after_it() {
        let mut process = running();
        for _ in 0..2 {
            process.end();
            assert!(process.restart_later(NOW, 2, true));
            assert_eq!(process.restart_due(), Some(NOW + RESTART_PAUSE));
            process.start();
            assert_eq!(process.restart_due(), None);
        }
        assert!(!process.restart_later(NOW, 2, true));
        assert_eq!(process.restart_due(), None);
        process.forgive(NOW * 2);
        assert_eq!(process.restart_due(), Some(NOW * 2 + RESTART_PAUSE));
        assert!(process.restart_later(NOW, 2, true), "the count begins anew");
    }

    #[test]
    fn a_kill_waits_only_for_one_that_is_being_started_by_the_engine() {
        assert!(running().kill(1, true));
        assert!(ClientProcess::default().kill(1, false));
        let mut starting = ClientProcess::default();
        starting.start();
        assert!(!starting.kill(7, true) && !starting.killed);
        assert_eq!(starting.take_kill(), Some(7));
        assert!(starting.killed);
        assert_eq!(starting.take_kill(), None);
    }

    #[test]
    fn a_kill_of_one_that_has_ended_by_itself_leaves_its_restart_to_the_nemesis() {
        let mut process = running();
        process.end();
        assert!(process.restart_later(NOW, 2, true) && process.kill(1, true));
        assert_eq!(process.restart_due(), None);
        assert_eq!((process.restart_for(9), process.greet()), (2, Some(9)));
    }
}
