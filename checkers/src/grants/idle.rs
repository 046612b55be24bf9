//! `idle-lock`, and `leaderless` of an election: for long nobody holds though somebody waits, and nothing excuses it.
//! Advisory.
//!
//! A spell is idle while at every moment some request for a grant is pending and nobody can be working under one: no
//! grant was read whose return was not answered yet. A grant that a client was given and has not answered yet is none,
//! since nobody can be asked to work under it. No window may be on or have ended less than two session timeouts before,
//! the harness may not stand still, and the notices of every client that waits show it as connected.
//!
//! What lasts longer than two session timeouts (a session that nobody closed has expired by then) and longer than a
//! hundred times the run's median hand-over is found, before recovery as well as after it. Candidates that give way to
//! each other for ever do that, and a client that looks again only now and then. Where requests and answers do not pair
//! nothing is found: who held is then not known.
//!
//! Linear in the events, but for sorting.

use crate::analysis::{Analysis, AnomalySpan, LatencyKind, first_after, ops};
use crate::findings::{Finding, Findings};
use crate::text::seconds;
use std::collections::{BTreeSet, HashMap};
use zooquake_history::operation::control::f;
use zooquake_history::{EventType, Process};

/// How many session timeouts a spell lasts at least, and for how many a window is near after its end.
const SESSIONS: u64 = 2;

/// How many median hand-overs a spell lasts at least.
const HAND_OVERS: u64 = 100;

/// Looks for long idle spells.
pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let name = run.names.idle;
    if !run.ops.misfits.is_empty() {
        out.ran(name, 0);
        return;
    }
    let bound = Bound::new(run);
    let spells = spells(run, bound.sessions);
    out.ran(name, spells.len());
    for spell in spells.iter().filter(|spell| spell.ns(run) > bound.longest()) {
        let span = AnomalySpan::Between(spell.from, run.time(spell.until));
        let why = why(run, spell, &bound);
        let found = Finding::new(name, "liveness", spell.witness(run, bound.longest()), why);
        out.add_in(run, found.advisory(true), span);
    }
}

/// How long a spell may last, in nanoseconds.
struct Bound {
    /// Two session timeouts.
    sessions: u64,
    /// Median hand-overs; 0 if nothing was handed over.
    hand_overs: u64,
}

impl Bound {
    fn new(run: &Analysis<'_>) -> Self {
        let session = run.record.plan.cluster.timing.session_ms.saturating_mul(1_000_000);
        let mut took: Vec<u64> = run
            .latencies(LatencyKind::HandOver)
            .iter()
            .map(|latency| latency.ns)
            .collect();
        took.sort_unstable();
        let median = took.get(took.len() / 2).copied().unwrap_or(0);
        Self {
            sessions: session.saturating_mul(SESSIONS),
            hand_overs: median.saturating_mul(HAND_OVERS),
        }
    }

    fn longest(&self) -> u64 {
        self.sessions.max(self.hand_overs)
    }
}

/// A time in which nobody held and somebody waited.
struct IdleSpell {
    /// Where the oldest request was sent that waited when it began.
    request: usize,
    /// When it began, in nanoseconds since the run began.
    from: u64,
    /// The event that ended it, or the last one but for the run's end.
    until: usize,
}

impl IdleSpell {
    fn ns(&self, run: &Analysis<'_>) -> u64 {
        run.time(self.until).saturating_sub(self.from)
    }

    /// A request that waited, and the event that ended the spell: an answer with its request, which is enough by itself
    /// if it waited for longer than the bound.
    fn witness(&self, run: &Analysis<'_>, bound: u64) -> Vec<usize> {
        let works = matches!(run.events[self.until].process, Process::Number(_));
        let ops = if works { &run.ops.work } else { &run.ops.control };
        let Some(op) = run.ops.completes[self.until].map(|op| &ops[op]) else {
            return vec![self.request, self.until];
        };
        let asked = op.invoke.unwrap_or(self.until);
        let time = |from: usize, until: usize| run.time(until).saturating_sub(run.time(from));
        match op.f == run.names.ops.takes && time(asked, self.until) > bound {
            true => vec![asked, self.until],
            // Its request came late enough to show how long it took.
            false if time(self.request, asked) > bound => vec![self.request, asked],
            false => vec![self.request, asked, self.until],
        }
    }
}

/// All idle spells in their order. A window is near for `after` nanoseconds from its end on.
fn spells(run: &Analysis<'_>, after: u64) -> Vec<IdleSpell> {
    let changes = changes(run);
    let (mut state, mut spells, mut open) = (SpellState::default(), Vec::new(), None::<IdleSpell>);
    let mut next = 0;
    while let Some(&(at, _)) = changes.get(next) {
        let mut cut = None;
        while let Some((_, change)) = changes.get(next).filter(|change| change.0 == at) {
            cut = cut.max(state.take(run, at, *change, after));
            next += 1;
        }
        let idle = state.idle();
        if !idle || cut.is_some() {
            let until = cut.unwrap_or(at);
            spells.extend(open.take().map(|spell| IdleSpell { until, ..spell }));
        }
        if let (true, Some(&(request, _)), None) = (idle, state.waiting.first(), &open) {
            open = Some(IdleSpell {
                request,
                from: run.time(at).max(state.quiet_from),
                until: at,
            });
        }
    }
    // The end of the run is no event in it.
    let last = run.events.iter().rposition(|event| event.entered() != Some("done"));
    let last = last.unwrap_or_default();
    spells.extend(open.map(|spell| IdleSpell { until: last, ..spell }));
    spells
}

/// Who holds, who waits and what is on, after some event.
#[derive(Default)]
struct SpellState<'a> {
    holds: usize,
    /// Requests that are pending, each with its client.
    waiting: BTreeSet<(usize, &'a str)>,
    clients: HashMap<&'a str, WaitingClient<'a>>,
    /// How many clients wait and are not connected.
    cut_off: usize,
    windows: usize,
    /// From when on no window is near, if none is on.
    quiet_from: u64,
}

#[derive(Default)]
struct WaitingClient<'a> {
    /// How many requests of its are pending.
    waits: usize,
    /// Whether a `session` notice of it was read since its process began.
    tells: bool,
    /// The sessions that it has not closed or lost, and whether each is connected.
    sessions: HashMap<&'a str, bool>,
    /// How many of these are not connected.
    disconnected: usize,
}

impl<'a> WaitingClient<'a> {
    fn is_cut_off(&self) -> bool {
        self.waits > 0 && self.tells && (self.sessions.is_empty() || self.disconnected > 0)
    }

    fn session(&mut self, session: &'a str, state: &str) {
        self.tells = true;
        let before = self.sessions.remove(session);
        self.disconnected -= usize::from(before == Some(false));
        if let "connected" | "disconnected" = state {
            self.sessions.insert(session, state == "connected");
            self.disconnected += usize::from(state == "disconnected");
        }
    }
}

impl<'a> SpellState<'a> {
    /// Takes a change in; the event that ends a spell in any case, if there is one.
    fn take(&mut self, run: &Analysis<'a>, at: usize, change: HoldChange<'a>, after: u64) -> Option<usize> {
        match change {
            HoldChange::Hold => self.holds += 1,
            HoldChange::HoldEnd => self.holds = self.holds.saturating_sub(1),
            HoldChange::Wait(node) => {
                self.waiting.insert((at, node));
                self.client(node, |client| client.waits += 1);
            }
            HoldChange::WaitEnd(request, node) => {
                self.waiting.remove(&(request, node));
                self.client(node, |client| client.waits -= 1);
            }
            HoldChange::Window => self.windows += 1,
            HoldChange::Healing => {
                self.windows = self.windows.saturating_sub(1);
                self.quiet_from = self.quiet_from.max(run.time(at).saturating_add(after));
            }
            HoldChange::Session { node, session, state } => {
                let waits = self.client(node, |client| {
                    client.session(session, state);
                    client.waits > 0
                });
                return (waits && matches!(state, "disconnected" | "expired")).then_some(at);
            }
            HoldChange::Exit(node) => self.client(node, |client| {
                let waits = client.waits;
                *client = WaitingClient {
                    waits,
                    ..WaitingClient::default()
                };
            }),
            HoldChange::Belief => return Some(at),
            // What was read after it may have waited.
            HoldChange::Stall => return Some(at.saturating_sub(1)),
        }
        None
    }

    fn client<T>(&mut self, node: &'a str, change: impl FnOnce(&mut WaitingClient<'a>) -> T) -> T {
        let client = self.clients.entry(node).or_default();
        let before = client.is_cut_off();
        let result = change(client);
        self.cut_off = self.cut_off + usize::from(client.is_cut_off()) - usize::from(before);
        result
    }

    fn idle(&self) -> bool {
        self.holds == 0 && self.windows == 0 && self.cut_off == 0 && !self.waiting.is_empty()
    }
}

fn why(run: &Analysis<'_>, spell: &IdleSpell, bound: &Bound) -> String {
    let request = &run.events[spell.request];
    let thing = run.names.thing;
    let grant = request
        .grant()
        .map(|grant| format!(" (grant {grant})"))
        .unwrap_or_default();
    let hand_overs = match bound.hand_overs {
        0 => String::new(),
        hand_overs => format!(", and than a hundred median hand-overs ({})", seconds(hand_overs)),
    };
    format!(
        "From {} to {}, for {}, nobody held {thing}, though clients waited for it all the time, such as {} since \
         {}{grant}. That is longer than two session timeouts ({}){hand_overs}. All waiting clients were connected, the \
         harness did not stand still, and no window of a fault was on or had ended less than two session timeouts \
         before.",
        seconds(spell.from),
        run.at(spell.until),
        seconds(spell.ns(run)),
        request.node.as_deref().unwrap_or("a client"),
        run.at(spell.request),
        seconds(bound.sessions),
    )
}

/// What changes with an event at which a spell may begin or end.
#[derive(Debug, Clone, Copy)]
enum HoldChange<'a> {
    /// Somebody may hold from now on.
    Hold,
    /// One that may have held does not any more.
    HoldEnd,
    /// This client waits from now on.
    Wait(&'a str),
    /// The request that was sent there, by this client, waits no more.
    WaitEnd(usize, &'a str),
    /// A window begins.
    Window,
    /// One was seen healed.
    Healing,
    /// A notice of a session.
    Session {
        node: &'a str,
        session: &'a str,
        state: &'a str,
    },
    /// The process of this client ended.
    Exit(&'a str),
    /// A client confirmed that it holds.
    Belief,
    /// The harness stood still before this event.
    Stall,
}

/// All changes, each with its event, in the order of the events.
fn changes<'a>(run: &Analysis<'a>) -> Vec<(usize, HoldChange<'a>)> {
    let mut changes = Vec::new();
    requests(run, &mut changes);
    for window in run.injected.values().filter(|window| window.was_on()) {
        changes.extend(window.began().map(|at| (at, HoldChange::Window)));
        changes.extend(window.healed().map(|at| (at, HoldChange::Healing)));
    }
    for (at, event) in run.events.iter().enumerate() {
        let client = ops::named_client(event);
        let change = match (event.f.as_str(), event.kind, client) {
            ("session", EventType::Info, Some(node)) => event.state().map(|state| HoldChange::Session {
                node,
                session: event.session().unwrap_or_default(),
                state,
            }),
            ("exit", EventType::Info, Some(node)) => Some(HoldChange::Exit(node)),
            (f::CONFIRM, EventType::Ok, Some(_)) if event.holds() == Some(true) => Some(HoldChange::Belief),
            ("stall", _, _) if event.is_of("run") => Some(HoldChange::Stall),
            _ => None,
        };
        changes.extend(change.map(|change| (at, change)));
    }
    // What ends one thing and begins another does both.
    changes.sort_by_key(|&(at, _)| at);
    changes
}

/// Who waits and who may hold. A grant may be held from its answer on, also one of unknown outcome, until its return is
/// answered; if that is unknown, until its client asks anew or its process ends.
fn requests<'a>(run: &Analysis<'a>, changes: &mut Vec<(usize, HoldChange<'a>)>) {
    let ends = hold_ends(run);
    for op in run.ops.work.iter().filter(|op| op.f == run.names.ops.takes) {
        let over = op.end.into_iter().chain(op.cut).min();
        if let Some(sent) = op.sent() {
            changes.push((sent, HoldChange::Wait(op.node)));
            changes.extend(over.map(|over| (over, HoldChange::WaitEnd(sent, op.node))));
        }
        let Some(end) = op.end.filter(|&end| run.events[end].kind != EventType::Fail) else {
            continue;
        };
        let until = ends.get(op.node).and_then(|ends| first_after(ends, end));
        changes.push((end, HoldChange::Hold));
        changes.extend(until.map(|until| (until, HoldChange::HoldEnd)));
    }
}

/// By client the events that end what it may hold, in their order.
fn hold_ends<'a>(run: &Analysis<'a>) -> HashMap<&'a str, Vec<usize>> {
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    let known = |at: &usize| matches!(run.events[*at].kind, EventType::Ok | EventType::Fail);
    for op in &run.ops.work {
        let end = match op.f {
            f if f == run.names.ops.takes => op.invoke,
            f if f == run.names.ops.gives => op.end.filter(known),
            _ => None,
        };
        ends.entry(op.node).or_default().extend(end);
    }
    for (node, exits) in &run.clients.exits {
        ends.entry(node).or_default().extend(exits);
    }
    ends.values_mut().for_each(|ends| ends.sort_unstable());
    ends
}
