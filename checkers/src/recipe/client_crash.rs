//! `client-crash`: the process of a client of a user's own recipe ended by itself, and nothing excuses it.
//!
//! Ending when a session expires is common practice, and a supervisor starts such a process again. A death is excused
//! if a fault was on or had ended less than two session timeouts before, or if a notice of the process reported that a
//! session had expired: less than two session timeouts before, or with no other one after it. Where no notice did, the
//! transaction logs must show that each session that the process had named was closed later than it died, if at all;
//! where they do not, the death is a reason against `valid`. A session that the process reported as closed by itself
//! has not expired. More deaths than `max_restarts` in one window are excused by nothing.

use crate::analysis::clients::session;
use crate::analysis::faults::ENGINE_LOSS;
use crate::analysis::transaction_log::TransactionTimes;
use crate::analysis::{Analysis, FaultWindow, InjectedFault, ops};
use crate::findings::{Finding, Findings};
use crate::text::count;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::{Event, EventType, Txn};

/// The checkers of a user's own recipe, beside those of its family, by the names in `results.json`.
pub const CHECKERS: &[&str] = &["client-crash"];

/// The life of one process of a client that ended by itself.
#[derive(Debug)]
struct ProcessLife<'a> {
    node: &'a str,
    /// The event of its `hello`; `None` if it sent none.
    hello: Option<usize>,
    /// Where its stream ended.
    exit: usize,
    /// The sessions that it named, except those that it reported as over.
    sessions: BTreeSet<u64>,
    /// Whether it named any.
    named: bool,
    /// The event of its last notice that one had expired, and whether it was connected again after that.
    expired: Option<(usize, bool)>,
}

/// Why a death is not judged, or that nothing excuses it.
enum DeathExcuse<'r> {
    /// A fault, or a session that was over.
    Good,
    /// Whether a session was over is not known; why, in words.
    Unknown(&'r str),
    None,
}

pub fn check(run: &Analysis<'_>, out: &mut Findings) {
    let mut lives = lives(run);
    // A process whose streams are lost with an engine has ended for us alone.
    lives.retain(|life| !lost(run, run.time(life.exit)));
    let mut told = BTreeSet::new();
    for window in run.faults.all() {
        often(run, window, &lives, &mut told, out);
    }
    let closed = closed(run);
    let ages = TransactionTimes::new(run);
    for life in &lives {
        match excuse(run, life, (&closed, &ages)) {
            DeathExcuse::None if told.insert(life.exit) => crashed(run, life, out),
            DeathExcuse::Unknown(why) => out.reasons.push(format!(
                "the process of {} ended by itself at {}, with no fault near; whether a session of it had ended before is not \
                 known: {why}",
                life.node,
                run.at(life.exit)
            )),
            DeathExcuse::None | DeathExcuse::Good => {}
        }
    }
    CHECKERS.iter().for_each(|checker| out.ran(checker, lives.len()));
}

/// The processes that ended by themselves, in the order in which they did.
fn lives<'a>(run: &Analysis<'a>) -> Vec<ProcessLife<'a>> {
    let mut open: HashMap<&str, ProcessLife<'a>> = HashMap::new();
    let mut ended = Vec::new();
    let granted = |event: &Event| event.f == run.names.ops.takes && event.kind == EventType::Ok;
    for (at, event) in run.events.iter().enumerate() {
        let control = ops::named_client(event);
        let Some(node) = control.or_else(|| granted(event).then(|| ops::node(event))) else {
            continue;
        };
        let new = || ProcessLife {
            node,
            hello: None,
            exit: at,
            sessions: BTreeSet::new(),
            named: false,
            expired: None,
        };
        match event.f.as_str() {
            "exit" if control.is_some() => {
                let life = open.remove(node).unwrap_or_else(new);
                if event.by_itself() == Some(true) {
                    ended.push(ProcessLife { exit: at, ..life });
                }
                continue;
            }
            "hello" => drop(open.insert(
                node,
                ProcessLife {
                    hello: Some(at),
                    ..new()
                },
            )),
            _ => {}
        }
        open.entry(node).or_insert_with(new).heard(at, event);
    }
    ended
}

impl ProcessLife<'_> {
    /// Takes the sessions that an event of its client names.
    fn heard(&mut self, at: usize, event: &Event) {
        let listed = event.sessions().into_iter().flatten().filter_map(|one| one.as_str());
        let named: BTreeSet<u64> = event.session().into_iter().chain(listed).filter_map(session).collect();
        self.named |= !named.is_empty();
        match event.state().filter(|_| event.f == "session") {
            Some(state @ ("expired" | "closed")) => {
                self.sessions.retain(|session| !named.contains(session));
                if state == "expired" {
                    self.expired = Some((at, false));
                }
                return;
            }
            Some("connected") => self.expired = self.expired.map(|(at, _)| (at, true)),
            _ => {}
        }
        self.sessions.extend(named);
    }
}

/// The transactions that closed each session.
fn closed<'a>(run: &Analysis<'a>) -> BTreeMap<u64, &'a Txn> {
    let txns = run.record.txnlog.unwrap_or_default().iter();
    let closes = txns.filter(|txn| txn.op == "closeSession");
    closes.filter_map(|txn| Some((session(&txn.session)?, txn))).collect()
}

fn excuse<'r>(
    run: &'r Analysis<'_>,
    life: &ProcessLife<'_>,
    (closed, ages): (&BTreeMap<u64, &Txn>, &TransactionTimes),
) -> DeathExcuse<'r> {
    let died = run.time(life.exit);
    let twice = run.record.plan.cluster.timing.session_ms.saturating_mul(2_000_000);
    let near = |window: &FaultWindow<'_>| {
        let until = window.until.map_or(u64::MAX, |until| until.saturating_add(twice));
        window.from <= died && died < until
    };
    let expired = |(at, again): (usize, bool)| !again || died.saturating_sub(run.time(at)) < twice;
    if life.expired.is_some_and(expired) || run.faults.all().iter().any(near) {
        return DeathExcuse::Good;
    }
    if let Some(lack) = run.log.lack() {
        return DeathExcuse::Unknown(lack);
    }
    // One without a `hello` had no session yet.
    if !life.named && life.hello.is_some() {
        return DeathExcuse::Unknown("it had named no session");
    }
    let before = |session: &u64| {
        let closed = closed.get(session);
        // Of a leader it is known that it was asked, and what its last transaction was then.
        closed.is_some_and(|txn| ages.not_before(txn.zxid).is_none_or(|at| at < died))
    };
    match life.sessions.iter().any(before) {
        true => DeathExcuse::Unknown("the transaction logs do not show that it lived until then"),
        false => DeathExcuse::None,
    }
}

fn crashed(run: &Analysis<'_>, life: &ProcessLife<'_>, out: &mut Findings) {
    let since = life
        .hello
        .map(|hello| format!(", {} after its hello", passed(run, hello, life.exit)));
    let why = format!(
        "The process of {} ended by itself at {}{}. No fault was on then or had ended less than two session timeouts before, and no \
         session of it had expired.{}",
        life.node,
        run.at(life.exit),
        since.unwrap_or_default(),
        last_words(run, life.node),
    );
    out.add(run, found(vec![life.exit], why));
}

/// More deaths of one client in one window than it may be started again.
fn often(
    run: &Analysis<'_>,
    window: &FaultWindow<'_>,
    lives: &[ProcessLife<'_>],
    told: &mut BTreeSet<usize>,
    out: &mut Findings,
) {
    let Some(recipe) = &run.record.plan.workload.recipe else {
        return;
    };
    let most = recipe.max_restarts as usize;
    let within = |life: &&ProcessLife<'_>| window.meets(run.time(life.exit), run.time(life.exit));
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for life in lives.iter().filter(within) {
        of.entry(life.node).or_default().push(life.exit);
    }
    for (node, exits) in of.into_iter().filter(|(_, exits)| exits.len() > most) {
        told.extend(&exits);
        let why = format!(
            "The process of {node} ended by itself {} in one window of {}, from {} to {}; it may be started again {} in one.{}",
            count(exits.len(), "time"),
            window.fault,
            run.at(exits[0]),
            run.at(exits[exits.len() - 1]),
            count(most, "time"),
            last_words(run, node),
        );
        let began = run.injected.get(&window.id).and_then(InjectedFault::began);
        let found = found(began.into_iter().chain(exits[..=most].iter().copied()).collect(), why);
        out.add(run, found);
    }
}

fn passed(run: &Analysis<'_>, from: usize, to: usize) -> String {
    crate::text::seconds(run.time(to).saturating_sub(run.time(from)))
}

/// Whether an engine of containers was lost at a moment.
fn lost(run: &Analysis<'_>, at: u64) -> bool {
    let mut losses = run.faults.all().iter().filter(|window| window.fault == ENGINE_LOSS);
    losses.any(|loss| loss.meets(at, at))
}

/// The end of the client's log, if there is one.
fn last_words(run: &Analysis<'_>, node: &str) -> String {
    match run.record.client_logs.get(node).filter(|lines| !lines.is_empty()) {
        Some(lines) => format!(" The last lines of its log: {}", lines.join(" | ")),
        None => String::new(),
    }
}

fn found(witness: Vec<usize>, why: String) -> Finding<'static> {
    Finding::new("client-crash", "the client stays up", witness, why)
}
