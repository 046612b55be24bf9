//! The nemesis as the engine sees it. The engine alone writes the history, and triggers are those of its clients'
//! states.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::context::RunContext;
use super::effect::{Effect, HistoryEntry, NemesisAnswer, NemesisReport, TriggerFiring};
use super::operation::OpKind;
use std::collections::BTreeSet;
use std::time::Duration;
use zooquake_history::Node;
use zooquake_history::operation::nemesis::{DETAIL, PHASE, VERIFIED, WINDOW};
use zooquake_history::plan::{ClientState, Trigger, Window};

/// How long a trigger by state may wait before the window is given up.
const PATIENCE: Duration = Duration::from_secs(8);

/// A write must have at least this much of its work left when a fault strikes in it.
const WORK_LEFT: Duration = Duration::from_millis(100);

/// How long the moment of an operation may be past when its trigger is armed.
const LATE: Duration = Duration::from_millis(20);

/// How far into an operation of a family without grants a fault strikes, at most, in milliseconds.
const MOMENT_MS: u64 = 2;

/// The windows of the nemesis, or the steps of its scenes, and the trigger that it waits for.
#[derive(Debug)]
pub struct Nemesis {
    /// Whether nothing more will come.
    pub done: bool,
    armed: Option<ArmedTrigger>,
    /// Windows that have begun and were not seen to be healed, by number.
    pub unhealed: BTreeSet<i64>,
    /// The number of windows or steps that have begun.
    pub faults: usize,
}

impl Nemesis {
    /// A nemesis that was not let begin.
    pub fn new() -> Self {
        Self {
            done: true,
            armed: None,
            unhealed: BTreeSet::new(),
            faults: 0,
        }
    }

    /// Lets the nemesis begin with its schedule.
    pub fn strike(&mut self, run: &mut RunContext) {
        self.done = false;
        run.emit(Effect::Strike);
    }

    /// Takes a report, which this token names.
    pub fn report(&mut self, run: &mut RunContext, clients: &mut Clients, token: u64, report: NemesisReport) {
        match report {
            NemesisReport::Record(entry) => {
                self.record(run, clients, entry);
                run.answer_nemesis(token, Some(NemesisAnswer::Done));
            }
            NemesisReport::Arm(window) => {
                self.disarm(run);
                self.armed = Some(ArmedTrigger::new(&window, run.ops_began, run.now, token));
            }
            NemesisReport::Killing(client) => clients.kill(run, &client, token),
            NemesisReport::Restart(client) => clients.restart_killed(run, &client, token),
            NemesisReport::Done => {
                self.done = true;
                run.answer_nemesis(token, Some(NemesisAnswer::Done));
            }
        }
    }

    fn record(&mut self, run: &mut RunContext, clients: &mut Clients, entry: HistoryEntry) {
        let (phase, window) = (PHASE.read_from(&entry.value), WINDOW.read_from(&entry.value));
        let begins = phase == Some("begin");
        let healed = phase == Some("off") && VERIFIED.read_from(&entry.value) == Some(true);
        self.unhealed.extend(window.filter(|_| begins));
        let over = healed || phase == Some("skipped");
        if over {
            self.unhealed.retain(|unhealed| window != Some(*unhealed));
        }
        if healed {
            clients.owe_confirms(run);
        }
        self.faults += usize::from(begins);
        if let Some(detail) = DETAIL.read_from(&entry.value).filter(|_| phase == Some("done")) {
            run.say(format!("  {}: {detail}", entry.f));
        }
        run.record(entry);
        if begins {
            run.emit(Effect::Sync);
        }
        if over && !self.is_window_on() {
            clients.forgive_deaths(run);
        }
    }

    /// Fires the trigger that is armed, if its moment has come, or gives it up.
    pub fn poll(&mut self, run: &mut RunContext, clients: &Clients) {
        let Some(armed) = self.armed.take() else { return };
        let token = armed.token;
        match armed.poll(clients, run.now) {
            TriggerState::Waits(armed) => self.armed = Some(armed),
            TriggerState::Fires(client) => {
                let holder = clients.holder().cloned();
                let firing = TriggerFiring { client, holder };
                run.answer_nemesis(token, Some(NemesisAnswer::Fired(firing)));
            }
            TriggerState::Expires => run.answer_nemesis(token, None),
        }
    }

    /// The moment at which the trigger that is armed has to be looked at, if nothing happens before.
    pub fn due(&self, clients: &Clients) -> Option<Duration> {
        self.armed.as_ref().map(|armed| armed.due(clients))
    }

    /// Arms nothing any more: a window that still waits for its trigger is given up.
    pub fn disarm(&mut self, run: &mut RunContext) {
        if let Some(armed) = self.armed.take() {
            run.answer_nemesis(armed.token, None);
        }
    }

    /// Whether a window has begun and was not seen to be healed.
    pub fn is_window_on(&self) -> bool {
        !self.unhealed.is_empty()
    }
}

/// A window that waits for its trigger: for its moment, or for a client's state.
#[derive(Debug)]
struct ArmedTrigger {
    trigger: Trigger,
    from: Duration,
    /// When the window is given up.
    until: Duration,
    /// Names the report of the nemesis that armed it.
    token: u64,
}

/// What comes of looking at a trigger.
#[derive(Debug)]
enum TriggerState {
    /// The window has to wait on.
    Waits(ArmedTrigger),
    /// The trigger fires, for the state of this client if it waited for one.
    Fires(Option<Node>),
    /// The window has waited too long.
    Expires,
}

impl ArmedTrigger {
    /// Arms a window; `ops_began` is the moment from which its times count, `token` that of the nemesis's report.
    fn new(window: &Window, ops_began: Duration, now: Duration, token: u64) -> Self {
        let (from_ms, by_ms) = match window.trigger {
            Trigger::At { at_ms } => (at_ms, at_ms),
            Trigger::State { from_ms, .. } => (from_ms, from_ms),
            Trigger::Op { by_ms, .. } => (0, by_ms),
        };
        Self {
            trigger: window.trigger.clone(),
            from: (ops_began + Duration::from_millis(from_ms)).max(now),
            until: (ops_began + Duration::from_millis(by_ms)).max(now) + PATIENCE,
            token,
        }
    }

    /// When it has to be looked at again, if nothing happens before.
    fn due(&self, clients: &Clients) -> Duration {
        match self.trigger {
            Trigger::At { .. } => self.from,
            Trigger::State { .. } | Trigger::Op { .. } => {
                let workers = clients.workers.iter();
                let ready = workers.filter_map(|worker| self.ready(worker, clients));
                ready.min().unwrap_or(self.until).max(self.from)
            }
        }
    }

    /// When the client's state will have lasted long enough, if it is in the state.
    fn ready(&self, worker: &Worker, clients: &Clients) -> Option<Duration> {
        match &self.trigger {
            Trigger::At { .. } => None,
            Trigger::State { state, after_ms, .. } => self.in_state(state, *after_ms, worker, clients),
            Trigger::Op {
                client,
                f,
                nth,
                work_ms,
                after_ms,
                ..
            } => {
                let sent = worker.sent.get(f.as_str()).filter(|_| worker.node == *client)?;
                let ready = sent.since + Duration::from_millis(*after_ms);
                let late = ready + LATE < self.from || sent.count > *nth && sent.work_ms < *work_ms;
                (sent.count >= *nth && !late).then_some(ready)
            }
        }
    }

    /// When the client will have been in this state for so many milliseconds, if it is in it and a fault may strike
    /// then.
    fn in_state(&self, state: &ClientState, after_ms: u64, worker: &Worker, clients: &Clients) -> Option<Duration> {
        if let ClientState::Answered(f) = state {
            let (_, since) = worker.answered.filter(|(answered, _)| answered == f)?;
            let ready = since + Duration::from_millis(after_ms);
            return (ready >= self.from).then_some(ready);
        }
        let op = worker.op.as_ref()?;
        let named = matches!(state, ClientState::Asked(_));
        let works = matches!(op.kind, OpKind::Read | OpKind::Write);
        let grants = works || matches!(op.kind, OpKind::Acquire | OpKind::Release);
        // Where any operation will do most are over in a few milliseconds.
        let any = !grants && !named;
        let after = Duration::from_millis(if any { after_ms.min(MOMENT_MS) } else { after_ms });
        let ready = op.since + after;
        // These two strike at the request itself, so it must be a fresh one.
        let fresh = op.since >= self.from;
        let lasts = clients.holds.is_holder(worker.number) && Duration::from_millis(op.work_ms) >= after + WORK_LEFT;
        let fits = match state {
            ClientState::Asked(f) => op.f == f && fresh,
            _ if any => fresh,
            ClientState::Acquiring => op.kind == OpKind::Acquire && fresh,
            ClientState::Releasing => op.kind == OpKind::Release && fresh,
            // Work that began too long before the trigger was armed has too little left.
            ClientState::Working => works && lasts && ready >= self.from,
            ClientState::Waiting => op.kind == OpKind::Acquire && clients.holds.excludes(worker.number),
            ClientState::Answered(_) => false,
        };
        fits.then_some(ready)
    }

    /// Fires if the moment has come, and is given up if it has waited too long.
    fn poll(self, clients: &Clients, now: Duration) -> TriggerState {
        if now < self.from {
            return TriggerState::Waits(self);
        }
        if matches!(self.trigger, Trigger::At { .. }) {
            return TriggerState::Fires(None);
        }
        let ready = |worker: &&Worker| self.ready(worker, clients).is_some_and(|at| at <= now);
        match clients.workers.iter().find(ready) {
            Some(worker) => TriggerState::Fires(Some(worker.node.clone())),
            None if now < self.until => TriggerState::Waits(self),
            None => TriggerState::Expires,
        }
    }
}
