//! The nemesis as the engine sees it. The engine alone writes the history, and triggers are those of its clients'
//! states.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::context::RunContext;
use super::effect::{Effect, HistoryEntry, NemesisAnswer, NemesisReport, TriggerFiring};
use super::operation::OpKind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use zooquake_history::Node;
use zooquake_history::operation::nemesis::{DETAIL, PHASE, TARGET, VERIFIED, WINDOW};
use zooquake_history::plan::{ClientState, Target, Trigger, Window};

/// How long a trigger by state may wait before the window is given up.
const PATIENCE: Duration = Duration::from_secs(8);

/// A write must have at least this much of its work left when a fault strikes in it.
const WORK_LEFT: Duration = Duration::from_millis(100);

/// How long the moment of an operation may be past when its trigger is armed.
const LATE: Duration = Duration::from_millis(20);

/// How far into an operation of a family without grants a fault strikes, at most, in milliseconds.
const MOMENT_MS: u64 = 2;

/// The windows of the nemesis, or the steps of its scenes, and the triggers that it waits for.
#[derive(Debug)]
pub struct Nemesis {
    /// Whether nothing more will come.
    pub done: bool,
    /// In the order in which they were armed.
    armed: Vec<ArmedTrigger>,
    /// Windows that have begun and were not seen to be healed, by number.
    pub unhealed: BTreeSet<i64>,
    /// Whom these hit, and those whose triggers have fired, by number.
    struck: StruckNodes,
    /// The number of windows or steps that have begun.
    pub faults: usize,
}

impl Nemesis {
    /// A nemesis that was not let begin.
    pub fn new() -> Self {
        Self {
            done: true,
            armed: Vec::new(),
            unhealed: BTreeSet::new(),
            struck: StruckNodes::default(),
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
                let armed = ArmedTrigger::new(&window, run.ops_began, run.now, token);
                self.forget(run, armed.window);
                self.armed.push(armed);
            }
            NemesisReport::Killing(client) => clients.kill(run, &client, token),
            NemesisReport::Restart(client) => clients.restart_killed(run, &client, token),
            NemesisReport::Done => {
                self.done = true;
                run.answer_nemesis(token, Some(NemesisAnswer::Done));
            }
        }
    }

    /// Forgets what was armed, or has fired, of a window that is armed anew.
    fn forget(&mut self, run: &mut RunContext, window: i64) {
        self.struck.0.remove(&window);
        let former = self.armed.extract_if(.., |armed| armed.window == window);
        former.for_each(|armed| run.answer_nemesis(armed.token, None));
    }

    fn record(&mut self, run: &mut RunContext, clients: &mut Clients, entry: HistoryEntry) {
        let (phase, window) = (PHASE.read_from(&entry.value), WINDOW.read_from(&entry.value));
        let begins = phase == Some("begin");
        let healed = phase == Some("off") && VERIFIED.read_from(&entry.value) == Some(true);
        self.unhealed.extend(window.filter(|_| begins));
        if let (Some(window), Some(target)) = (window.filter(|_| begins), TARGET.read_from(&entry.value)) {
            self.struck.strike(window, target.split(',').map(Node::from));
        }
        let over = healed || phase == Some("skipped");
        if over {
            self.unhealed.retain(|unhealed| window != Some(*unhealed));
            self.struck.0.retain(|struck, _| window != Some(*struck));
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

    /// Fires each trigger that is armed, if its moment has come, or gives it up.
    pub fn poll(&mut self, run: &mut RunContext, clients: &Clients) {
        for armed in std::mem::take(&mut self.armed) {
            let (token, window, strikes_client) = (armed.token, armed.window, armed.strikes_client);
            match armed.poll((clients, &self.struck), run.now) {
                TriggerState::Waits(armed) => self.armed.push(armed),
                TriggerState::Fires(client) => {
                    // Before its begin is recorded no other window is to strike it.
                    self.struck.strike(window, client.clone().filter(|_| strikes_client));
                    let holder = clients.holder().cloned();
                    let firing = TriggerFiring { client, holder };
                    run.answer_nemesis(token, Some(NemesisAnswer::Fired(firing)));
                }
                TriggerState::Expires => run.answer_nemesis(token, None),
            }
        }
    }

    /// The moment at which a trigger that is armed has to be looked at, if nothing happens before.
    pub fn due(&self, clients: &Clients) -> Option<Duration> {
        let armed = self.armed.iter();
        armed.map(|armed| armed.due((clients, &self.struck))).min()
    }

    /// Arms nothing any more: windows that still wait for their triggers are given up.
    pub fn disarm(&mut self, run: &mut RunContext) {
        for armed in std::mem::take(&mut self.armed) {
            run.answer_nemesis(armed.token, None);
        }
    }

    /// Whether a window has begun and was not seen to be healed.
    pub fn is_window_on(&self) -> bool {
        !self.unhealed.is_empty()
    }
}

/// The nodes that windows hit, by the windows' numbers.
#[derive(Debug, Default)]
struct StruckNodes(BTreeMap<i64, Vec<Node>>);

impl StruckNodes {
    /// A window strikes these.
    fn strike(&mut self, window: i64, nodes: impl IntoIterator<Item = Node>) {
        self.0.insert(window, nodes.into_iter().collect());
    }

    fn has(&self, node: &Node) -> bool {
        self.0.values().flatten().any(|struck| struck == node)
    }
}

/// A window that waits for its trigger: for its moment, or for a client's state.
#[derive(Debug)]
struct ArmedTrigger {
    /// The window's number.
    window: i64,
    trigger: Trigger,
    /// Whether it strikes the client whose state fires it, which no other window may hit at that moment.
    strikes_client: bool,
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
            Trigger::Op { by_ms, .. } | Trigger::Count { by_ms, .. } => (0, by_ms),
        };
        Self {
            window: i64::try_from(window.id).unwrap_or(i64::MAX),
            trigger: window.trigger.clone(),
            strikes_client: match &window.target {
                Target::Client => true,
                Target::Node(node) => node.is_client(),
                _ => false,
            },
            from: (ops_began + Duration::from_millis(from_ms)).max(now),
            until: (ops_began + Duration::from_millis(by_ms)).max(now) + PATIENCE,
            token,
        }
    }

    /// When it has to be looked at again, if nothing happens before.
    fn due(&self, (clients, struck): (&Clients, &StruckNodes)) -> Duration {
        match self.trigger {
            Trigger::At { .. } => self.from,
            Trigger::Count { operations, .. } if clients.completed >= operations => self.from,
            Trigger::Count { .. } => self.until,
            Trigger::State { .. } | Trigger::Op { .. } => {
                let workers = clients.workers.iter();
                let ready = workers.filter_map(|worker| self.ready(worker, (clients, struck)));
                ready.min().unwrap_or(self.until).max(self.from)
            }
        }
    }

    /// When the client's state will have lasted long enough, if it is in the state, and the window may strike it.
    fn ready(&self, worker: &Worker, (clients, struck): (&Clients, &StruckNodes)) -> Option<Duration> {
        if self.strikes_client && struck.has(&worker.node) {
            return None;
        }
        match &self.trigger {
            Trigger::At { .. } | Trigger::Count { .. } => None,
            Trigger::State {
                state,
                client,
                after_ms,
                ..
            } => {
                let own = client.as_ref().is_none_or(|client| *client == worker.node);
                own.then(|| self.in_state(state, *after_ms, worker, clients)).flatten()
            }
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
        if *state == ClientState::Holding {
            let granted = worker.granted.filter(|_| clients.holds.is_holder(worker.number))?;
            return Some(granted + Duration::from_millis(after_ms));
        }
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
            ClientState::Answered(_) | ClientState::Holding => false,
        };
        fits.then_some(ready)
    }

    /// Fires if the moment has come, and is given up if it has waited too long.
    fn poll(self, (clients, struck): (&Clients, &StruckNodes), now: Duration) -> TriggerState {
        if now < self.from {
            return TriggerState::Waits(self);
        }
        let fires = match self.trigger {
            Trigger::At { .. } => true,
            Trigger::Count { operations, .. } => clients.completed >= operations,
            Trigger::State { .. } | Trigger::Op { .. } => false,
        };
        if fires {
            return TriggerState::Fires(None);
        }
        let ready = |worker: &&Worker| self.ready(worker, (clients, struck)).is_some_and(|at| at <= now);
        match clients.workers.iter().find(ready) {
            Some(worker) => TriggerState::Fires(Some(worker.node.clone())),
            None if now < self.until => TriggerState::Waits(self),
            None => TriggerState::Expires,
        }
    }
}
