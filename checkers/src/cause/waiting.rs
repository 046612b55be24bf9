//! Why a client waits: behind what, or what became of it since it asked.
//!
//! A client is behind a znode if the recipe's order excludes it while that stands: by the numbers of sequential znodes,
//! where the grants of the run show that these count ([`QueueDiscipline`]), or, where clients that wait have no znode,
//! because all that may be there are there. The znode has to have stood since before the time that is judged, and until
//! the last reading. A client behind another one that is behind a znode is behind that, too; each inherits the cause of
//! what is in its way. Where the order, the znode or its age is not proven, an anomaly stands alone.
//!
//! Of a client that no znode is shown to stand before it is read what became of the znode by which it waits, of the
//! session in which it made that, and of its connection: from complete transaction logs; without them only from what
//! the client reported of its sessions.

use super::queue_order::{QueueDiscipline, QueueModes, QueuePlace, place};
use super::removal::Removals;
use super::{AnomalySubject, Cause, CauseZnode, WaitingClient};
use crate::analysis::transaction_log::{TransactionBounds, TransactionTimes};
use crate::analysis::{Analysis, AnomalySpan, FaultWindow, SessionEnd, SessionSpan};
use crate::findings::Findings;
use crate::text::seconds;
use crate::znodes::orphan_node::is_below_parents;
use crate::znodes::quiesce_answers;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::evidence::Znode;
use zooquake_history::operation::Mode;
use zooquake_history::{EventType, Txn};

/// What is in the way of a client that waits: the first znodes before it that leave no room, as positions in the list.
type Obstacles = Vec<usize>;

/// Gives each client that waits behind a znode the cause of that, and any other one what became of it since it asked.
pub fn add(run: &Analysis<'_>, found: &mut Findings) {
    behind_znodes(run, found);
    let states = OnceCell::new();
    for (&at, subject) in &found.subjects {
        let (AnomalySubject::Waiter(client) | AnomalySubject::Member(client)) = subject else {
            continue;
        };
        let anomaly = &mut found.anomalies[at];
        if anomaly.cause.is_none() {
            anomaly.cause = states.get_or_init(|| WaitStates::new(run)).cause(client);
        }
    }
}

fn behind_znodes(run: &Analysis<'_>, found: &mut Findings) {
    let waiters = waiting_clients(found);
    if waiters.is_empty() {
        return;
    }
    let queue = queued(run, found, &waiters);
    let bounds = TransactionBounds::new(run);
    let line = WaitingLine {
        run,
        queue: &queue,
        bounds: &bounds,
        discipline: QueueDiscipline::new(run),
    };
    let mut behind: BTreeMap<usize, Obstacles> = BTreeMap::new();
    // In the order of their places, so that who stands before another one is known before it.
    for (at, queued) in queue.iter().enumerate() {
        if let ZnodeKeeper::Waiter(anomaly) = queued.keeper
            && let Some((_, client)) = waiters.iter().find(|(own, _)| *own == anomaly)
            && let Some(obstacles) = line.before(at, client, &behind)
        {
            behind.insert(anomaly, obstacles);
        }
    }
    for (anomaly, client) in &waiters {
        if let Some(obstacles) = line.vacancies(client) {
            behind.insert(*anomaly, obstacles);
        }
    }
    for (anomaly, obstacles) in behind {
        let cause = line.cause(&obstacles, found);
        let accepted = is_accepted(run, found, anomaly, &line.orphans(&obstacles));
        let found = &mut found.anomalies[anomaly];
        found.cause = Some(cause);
        found.accepted = accepted.unwrap_or(found.accepted);
    }
}

/// Whether the variant declares an anomaly under a fault that was near each orphan that it follows from; `None` if it
/// follows from none.
fn is_accepted(run: &Analysis<'_>, found: &Findings, anomaly: usize, orphans: &[usize]) -> Option<bool> {
    let plan = &run.record.plan;
    let kind = &found.anomalies[anomaly].kind;
    let known = |orphan: &usize| {
        let span = found.anomalies[*orphan].span.unwrap_or(AnomalySpan::Any);
        let mut declared = plan
            .workload
            .accepted
            .iter()
            .filter(|declared| declared.anomaly == *kind);
        declared.any(|declared| run.faults.any_near(plan, span, &declared.faults))
    };
    (!orphans.is_empty()).then(|| orphans.iter().all(known))
}

/// The znodes at the end of a run, and what is needed to place a client among them.
struct WaitingLine<'r, 'a> {
    run: &'r Analysis<'a>,
    queue: &'r [QueuedZnode<'a>],
    bounds: &'r TransactionBounds,
    discipline: QueueDiscipline,
}

impl WaitingLine<'_, '_> {
    /// Whether a znode stood throughout what is judged of a client's waiting.
    fn stood(&self, znode: &Znode, client: &WaitingClient) -> bool {
        let made = self.bounds.made_by(znode.czxid);
        client.pending && made.is_some_and(|made| made <= self.run.time(client.since))
    }

    /// How many znodes exclude who wants to hold in a mode.
    fn room(&self, mode: Mode) -> usize {
        match mode {
            Mode::Exclusive if !self.run.grants.moded => self.run.capacity.get(),
            Mode::Exclusive | Mode::Shared => 1,
        }
    }

    /// What is in the way of the client whose znode is at a position; `None` unless it leaves no room.
    fn before(&self, at: usize, client: &WaitingClient, behind: &BTreeMap<usize, Obstacles>) -> Option<Obstacles> {
        let mode = client.mode.filter(|&mode| self.discipline.is_shown(mode))?;
        let place = self.queue[at].place?;
        let (room, shared) = (self.room(mode), mode == Mode::Shared);
        let mut obstacles = Obstacles::new();
        let mut count = 0;
        for (number, other) in self.queue[..at].iter().enumerate() {
            let same = other.place.is_some_and(|other| other.parent == place.parent);
            let excludes = other.mode == Some(Mode::Exclusive) || !shared && other.mode.is_some();
            if !same || !excludes || count == room {
                continue;
            }
            match other.keeper {
                ZnodeKeeper::Waiter(anomaly) => match behind.get(&anomaly) {
                    Some(more) => obstacles.extend(more),
                    None => return None,
                },
                ZnodeKeeper::Other => return None,
                ZnodeKeeper::Orphan(_) | ZnodeKeeper::Holder | ZnodeKeeper::Unnamed => {
                    if !self.stood(other.znode, client) {
                        return None;
                    }
                    obstacles.push(number);
                }
            }
            count += 1;
        }
        obstacles.sort_unstable();
        obstacles.dedup();
        (count == room).then_some(obstacles)
    }

    /// What is in the way of a client where nobody waits by a znode and the client has made none since it was asked.
    fn vacancies(&self, client: &WaitingClient) -> Option<Obstacles> {
        let run = self.run;
        let waits = |queued: &QueuedZnode<'_>| matches!(queued.keeper, ZnodeKeeper::Waiter(_) | ZnodeKeeper::Other);
        if run.grants.moded || self.queue.iter().any(waits) || !run.log.whole() || self.has_created(client) {
            return None;
        }
        let obstacles = self.queue.iter().enumerate();
        let obstacles = obstacles.filter(|(_, queued)| self.stood(queued.znode, client));
        let obstacles: Obstacles = obstacles.map(|(at, _)| at).take(run.capacity.get()).collect();
        (obstacles.len() == run.capacity.get()).then_some(obstacles)
    }

    /// Whether a session of a client may have created something among the contenders since it was asked.
    fn has_created(&self, client: &WaitingClient) -> bool {
        let run = self.run;
        let asked = run.time(client.asked);
        let own = |text: &str| {
            let owner = run.clients.owner(text);
            owner.is_none_or(|owner| owner.node == client.node)
        };
        let parents = &run.record.plan.workload.contenders;
        let among = |path: &str| parents.iter().any(|parent| path.starts_with(parent.as_str()));
        let mut txns = run.record.txnlog.into_iter().flatten();
        txns.any(|txn| {
            let mut changes = txn.changes();
            let creates = changes.any(|change| change.op.starts_with("create") && among(change.path));
            creates && own(&txn.session) && self.bounds.made_by(txn.zxid).is_none_or(|made| made > asked)
        })
    }

    /// The anomalies of the orphans among some znodes.
    fn orphans(&self, obstacles: &[usize]) -> Vec<usize> {
        let keepers = obstacles.iter().map(|&at| self.queue[at].keeper);
        let orphans = keepers.filter_map(|keeper| match keeper {
            ZnodeKeeper::Orphan(anomaly) => Some(anomaly),
            _ => None,
        });
        orphans.collect()
    }

    /// The cause that a client behind these znodes has: the last orphan to be made, with which they left no room; else
    /// the last of those that nobody named.
    fn cause(&self, obstacles: &[usize], found: &Findings) -> Cause {
        let kept = |at: &&usize| self.queue[**at].keeper != ZnodeKeeper::Holder;
        let last = obstacles.iter().filter(kept).max_by_key(|&&at| {
            let queued = &self.queue[at];
            (matches!(queued.keeper, ZnodeKeeper::Orphan(_)), queued.znode.czxid)
        });
        let Some(&at) = last.or(obstacles.last()) else {
            return Cause::default();
        };
        let queued = &self.queue[at];
        let names: Vec<String> = obstacles.iter().map(|&at| self.words(&self.queue[at])).collect();
        let root = match queued.keeper {
            ZnodeKeeper::Orphan(anomaly) => Some(anomaly),
            _ => None,
        };
        let orphan = root.and_then(|root| found.anomalies[root].cause.clone());
        Cause {
            root,
            proven: queued.keeper != ZnodeKeeper::Holder,
            znode: Some(CauseZnode::new(&queued.znode.path, queued.znode.czxid)),
            session: queued.znode.owner.clone(),
            events: orphan.map(|cause| cause.events).unwrap_or_default(),
            sentence: format!(
                "It waits behind {}, which stood there throughout.",
                names.join(", and ")
            ),
            ..Cause::default()
        }
    }

    /// A znode, whether it is ephemeral, who made it, and what became of that client.
    fn words(&self, queued: &QueuedZnode<'_>) -> String {
        let run = self.run;
        let znode = queued.znode;
        let txn = run.log.create(znode.czxid, Some(&znode.path));
        let maker = txn.map(|txn| txn.session.as_str()).or(znode.owner.as_deref());
        let node = maker.and_then(|maker| run.clients.owner(maker));
        let mut words = format!("{} (czxid 0x{:x})", znode.path, znode.czxid);
        words += match queued.keeper {
            ZnodeKeeper::Orphan(_) => ", an orphan",
            ZnodeKeeper::Holder => ", which is held",
            _ => ", which no client named",
        };
        if znode.owner.is_none() {
            words += ", a persistent znode";
        }
        if let (Some(maker), Some(owner)) = (maker, node) {
            words += &format!(", made in the session {maker} of {}", owner.node);
            let exits = run.clients.exits_of(owner.node).iter();
            let died = exits
                .copied()
                .find(|&at| run.time(at) >= self.bounds.made_by(znode.czxid).unwrap_or(0));
            if let Some(at) = died.filter(|_| queued.keeper != ZnodeKeeper::Holder) {
                words += &format!(", whose process ended at {}", run.at(at));
            }
        }
        words
    }
}

/// Who would remove a znode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ZnodeKeeper {
    /// Nobody: it is the orphan of this anomaly.
    Orphan(usize),
    /// A client that waits by it; its anomaly.
    Waiter(usize),
    /// A client that holds by it.
    Holder,
    /// Nobody who named it.
    Unnamed,
    /// A client that named it, and neither holds nor is known to wait by it.
    Other,
}

/// A contender's znode at the end of a run.
#[derive(Debug)]
struct QueuedZnode<'a> {
    /// As the last reading has it.
    znode: &'a Znode,
    /// Its place; `None` if it is not sequential.
    place: Option<QueuePlace<'a>>,
    /// How it is held or waited for; `None` if that is not known.
    mode: Option<Mode>,
    /// Who would remove it.
    keeper: ZnodeKeeper,
}

/// The clients that wait, each with its anomaly, in the order of the anomalies.
fn waiting_clients(found: &Findings) -> Vec<(usize, WaitingClient)> {
    let waiters = found.subjects.iter().filter_map(|(&anomaly, subject)| match subject {
        AnomalySubject::Waiter(client) => Some((anomaly, client.clone())),
        AnomalySubject::Orphan(_) | AnomalySubject::Member(_) => None,
    });
    waiters.collect()
}

/// The contenders' znodes that stand in both readings of the tree, in the order of their places; empty if the tree was
/// not read twice.
fn queued<'a>(run: &Analysis<'a>, found: &Findings, waiters: &[(usize, WaitingClient)]) -> Vec<QueuedZnode<'a>> {
    let Some((before, after)) = run.record.audit() else {
        return Vec::new();
    };
    let stood: BTreeSet<(&str, i64)> = before
        .znodes
        .iter()
        .map(|znode| (znode.path.as_str(), znode.czxid))
        .collect();
    let orphans: HashMap<&CauseZnode, usize> = found
        .subjects
        .iter()
        .filter_map(|(&anomaly, subject)| match subject {
            AnomalySubject::Orphan(znode) => Some((znode, anomaly)),
            AnomalySubject::Waiter(_) | AnomalySubject::Member(_) => None,
        })
        .collect();
    let named = quiesce_answers::named_znodes(run, before, after);
    let modes = QueueModes::new(run);
    let keeper = |znode: &Znode| {
        if let Some(&anomaly) = orphans.get(&CauseZnode::new(&znode.path, znode.czxid)) {
            return ZnodeKeeper::Orphan(anomaly);
        }
        let Some(&node) = named.get(&(znode.path.as_str(), znode.czxid)) else {
            return ZnodeKeeper::Unnamed;
        };
        let mut pending = waiters
            .iter()
            .filter(|(_, client)| client.node == node && client.pending);
        let mut grants = run.grants.all.iter().filter(|grant| grant.node == node);
        let holds = grants.any(|grant| grant.czxid == Some(znode.czxid) && grant.end.is_none());
        match (pending.next(), holds) {
            (_, true) => ZnodeKeeper::Holder,
            (Some(&(anomaly, _)), false) => ZnodeKeeper::Waiter(anomaly),
            (None, false) => ZnodeKeeper::Other,
        }
    };
    let contends =
        |znode: &&Znode| stood.contains(&(znode.path.as_str(), znode.czxid)) && is_below_parents(run, &znode.path);
    let mut all: Vec<QueuedZnode<'a>> = after
        .znodes
        .iter()
        .filter(contends)
        .map(|znode| QueuedZnode {
            znode,
            place: place(&znode.path),
            mode: modes.mode(&znode.path),
            keeper: keeper(znode),
        })
        .collect();
    all.sort_by_key(|queued| (queued.place, queued.znode.czxid));
    all
}

/// A znode that was made among the contenders.
#[derive(Debug, Clone, Copy)]
struct Contender<'a> {
    path: &'a str,
    made: &'a Txn,
    /// The transaction that removed it; `None` if it stands at the end.
    removed: Option<&'a Txn>,
}

/// What removed the znodes up to a place among those of one parent.
#[derive(Debug, Clone, Copy)]
struct Vacancy<'a> {
    /// The last of them to go, and the transaction; `None` if one of them stands.
    last: Option<(&'a str, &'a Txn)>,
}

/// What the logs and the clients' notices show of clients that wait.
struct WaitStates<'r, 'a> {
    run: &'r Analysis<'a>,
    bounds: TransactionBounds,
    times: TransactionTimes,
    /// In the order of their creation.
    contenders: Vec<Contender<'a>>,
    /// By parent, in the order of the places of its sequential znodes.
    vacancies: BTreeMap<&'a str, Vec<(i64, Vacancy<'a>)>>,
    sessions: Vec<SessionSpan<'a>>,
}

impl<'r, 'a> WaitStates<'r, 'a> {
    /// Reads what became of clients out of a run, in time nearly linear in its transactions and events.
    fn new(run: &'r Analysis<'a>) -> Self {
        let removals = Removals::new(run);
        let txns = run.record.txnlog.filter(|_| run.log.whole()).unwrap_or_default();
        let contenders: Vec<Contender<'a>> = txns
            .iter()
            .filter(|txn| run.log.committed(txn))
            .flat_map(|made| made.changes().map(move |change| (made, change)))
            .filter(|(_, change)| change.op.starts_with("create") && is_below_parents(run, change.path))
            .map(|(made, change)| Contender {
                path: change.path,
                made,
                removed: removals.of_znode(change.path, made.zxid),
            })
            .collect();
        Self {
            run,
            bounds: TransactionBounds::new(run),
            times: TransactionTimes::new(run),
            vacancies: vacancies(&contenders),
            contenders,
            sessions: SessionSpan::all(run),
        }
    }

    /// Why a client is likely to wait; `None` if nothing is known to have happened to it since it asked.
    fn cause(&self, client: &WaitingClient) -> Option<Cause> {
        let own = self.contenders.iter().rev().find(|znode| self.is_of(znode, client));
        match own {
            Some(znode) => match znode.removed {
                Some(removal) => Some(self.removed(client, znode, removal)),
                None => self.first_in_line(client, znode),
            },
            None => self.session_ended(client).or_else(|| self.missed(client)),
        }
    }

    /// Whether a client made a znode, and nothing shows that it did so before it had asked.
    fn is_of(&self, znode: &Contender<'_>, client: &WaitingClient) -> bool {
        let owner = self.run.clients.owner(&znode.made.session);
        let made = self.bounds.made_by(znode.made.zxid);
        let mut grants = self.run.grants.all.iter();
        owner.is_some_and(|owner| owner.node == client.node)
            && !grants.any(|grant| grant.czxid == Some(znode.made.zxid))
            && made.is_none_or(|made| made >= self.run.time(client.asked))
    }

    /// Whether no operation that the client was sent before can have made a znode since: all were answered with
    /// certainty.
    fn nothing_is_late(&self, client: &WaitingClient) -> bool {
        let own = self.run.ops.work.iter().filter(|op| op.node == client.node);
        let mut before = own.filter(|op| op.invoke.is_some_and(|sent| sent < client.asked));
        before.all(|op| {
            let end = op.end.filter(|&end| end < client.asked);
            end.is_some_and(|end| matches!(self.run.events[end].kind, EventType::Ok | EventType::Fail))
        })
    }

    /// The znode by which it waited is gone, and it has made no other one.
    fn removed(&self, client: &WaitingClient, znode: &Contender<'_>, removal: &Txn) -> Cause {
        let asked = self.run.time(client.asked);
        let made = self.times.not_before(znode.made.zxid);
        let certain = made.is_some_and(|made| made >= asked) || self.nothing_is_late(client);
        let until = self.bounds.made_by(removal.zxid);
        let on = self.only_fault(&client.node, asked, until);
        let (session, node) = (&removal.session, &client.node);
        let how = match removal.op.as_str() {
            "closeSession" => format!(
                "went with its session {session}, which ended in transaction 0x{:x}",
                removal.zxid
            ),
            _ => format!(
                "was deleted in transaction 0x{:x} by the session {session}{}",
                removal.zxid,
                self.run.clients.owner_words(session)
            ),
        };
        let sentence = format!(
            "The znode {} (czxid 0x{:x}) by which {node} {}waited {how}{}{}. {node} has made no other one since, so nothing is there \
             by which it could be let in.",
            znode.path,
            znode.made.zxid,
            if certain { "" } else { "may have " },
            until
                .map(|until| format!(" (by {})", seconds(until)))
                .unwrap_or_default(),
            while_on(on),
        );
        Cause {
            proven: certain,
            znode: Some(znode.record()),
            transaction: Some(removal.zxid),
            session: Some(session.clone()),
            ..self.of_window(client, on, sentence)
        }
    }

    /// The znode by which it waits stands, and nothing stands before it any more.
    fn first_in_line(&self, client: &WaitingClient, znode: &Contender<'a>) -> Option<Cause> {
        let own = place(znode.path)?;
        let vacancy = self.before(own)?;
        let since = match vacancy.last {
            Some((path, removal)) => format!(
                "nothing has stood before it since transaction 0x{:x} removed {path}{}",
                removal.zxid,
                self.by(removal)
            ),
            None => "nothing ever stood before it".to_owned(),
        };
        let removal = vacancy.last.map(|(_, removal)| removal);
        let (away, on) = self.absence(client, Some(znode.made), removal);
        let sentence = format!(
            "Its znode {} (czxid 0x{:x}) stands, and {since}. {away}",
            znode.path, znode.made.zxid
        );
        Some(Cause {
            proven: true,
            znode: Some(znode.record()),
            session: Some(znode.made.session.clone()),
            ..self.of_window(client, on, sentence)
        })
    }

    /// The client waits without a znode of its own, and what stood in its way went while it was not connected.
    fn missed(&self, client: &WaitingClient) -> Option<Cause> {
        let last = self
            .contenders
            .iter()
            .max_by_key(|znode| znode.removed.map_or(i64::MAX, |txn| txn.zxid))?;
        let removal = last.removed?;
        let (away, on) = self.absence(client, None, Some(removal));
        on?;
        let sentence = format!(
            "{} has made no znode since it asked, and none has been there since transaction 0x{:x} removed {}{}. {away}",
            client.node,
            removal.zxid,
            last.path,
            self.by(removal)
        );
        Some(Cause {
            proven: true,
            znode: Some(last.record()),
            transaction: Some(removal.zxid),
            session: Some(removal.session.clone()),
            ..self.of_window(client, on, sentence)
        })
    }

    /// A session of the client has ended since it asked, by its own report.
    fn session_ended(&self, client: &WaitingClient) -> Option<Cause> {
        let asked = self.run.time(client.asked);
        let ended = self
            .sessions
            .iter()
            .filter(|span| span.node == client.node && span.from <= asked);
        let (span, at) = ended
            .filter_map(|span| Some((span, span.end?)))
            .filter(|(_, (how, at))| *how != SessionEnd::Closed && *at >= asked)
            .map(|(span, (_, at))| (span, at))
            .next_back()?;
        let on = self.only_fault(&client.node, asked, Some(at));
        let nothing = match self.run.log.whole() {
            true => ", and it has made no znode since it asked",
            false => "",
        };
        let sentence = format!(
            "The session 0x{:x} that {} had when it asked ended (by {}){}{nothing}: what it waited for in that session may have \
             gone with it.",
            span.session,
            client.node,
            seconds(at),
            while_on(on),
        );
        Some(Cause {
            proven: false,
            session: Some(format!("0x{:x}", span.session)),
            ..self.of_window(client, on, sentence)
        })
    }

    /// When the client was not connected, after it had made its znode (or had asked) and until what stood in its way
    /// had gone, and the fault that was on then, if there was one alone.
    fn absence(
        &self,
        client: &WaitingClient,
        made: Option<&Txn>,
        removal: Option<&Txn>,
    ) -> (String, Option<&FaultWindow<'a>>) {
        let asked = self.run.time(client.asked);
        let from = made
            .and_then(|made| self.times.not_before(made.zxid))
            .unwrap_or(asked)
            .max(asked);
        let end = self.run.time(self.run.events.len() - 1);
        let until = removal.map_or(end, |txn| self.bounds.made_by(txn.zxid).unwrap_or(end));
        let own = self.sessions.iter().filter(|span| span.node == client.node);
        let mut spells = own.flat_map(|span| {
            span.away
                .iter()
                .map(|&(left, back)| (left, back.or(span.end.map(|(_, at)| at))))
        });
        let last = spells.rfind(|&(left, back)| left <= until && back.is_none_or(|back| back >= from));
        let Some((left, back)) = last else {
            return (format!("{} was connected throughout.", client.node), None);
        };
        let on = self.only_fault(&client.node, left.saturating_sub(self.notice()), back);
        let since = removal.and_then(|txn| self.times.not_before(txn.zxid));
        let meanwhile = since.is_some_and(|since| since >= left && back.is_none_or(|back| until <= back));
        let sentence = format!(
            "{} was not connected {} {}{}, after it had {}{}.",
            client.node,
            if back.is_some() { "from" } else { "any more from" },
            back.map_or(format!("{} on", seconds(left)), |back| format!(
                "{} to {}",
                seconds(left),
                seconds(back)
            )),
            while_on(on),
            if made.is_some() { "made that znode" } else { "asked" },
            if meanwhile { ", and that went meanwhile" } else { "" },
        );
        (sentence, on)
    }

    /// How long a client may take to notice that its connection is gone, in nanoseconds: a session timeout.
    fn notice(&self) -> u64 {
        self.run.record.plan.cluster.timing.session_ms.saturating_mul(1_000_000)
    }

    /// The fault that hit a client in a span, if there was one alone.
    fn only_fault(&self, node: &str, from: u64, until: Option<u64>) -> Option<&FaultWindow<'a>> {
        let mut on = self.run.faults.hitting(node, from, until.unwrap_or(u64::MAX));
        on.next().filter(|_| on.next().is_none())
    }

    /// ` of the session 0x… of c3`: whose transaction removed a znode.
    fn by(&self, removal: &Txn) -> String {
        let whose = self.run.clients.owner_words(&removal.session);
        let ended = match removal.op.as_str() {
            "closeSession" => "the end of ",
            _ => "",
        };
        format!(" ({ended}the session {}{whose})", removal.session)
    }

    /// What stood before a place; `None` if something does.
    fn before(&self, own: QueuePlace<'_>) -> Option<Vacancy<'a>> {
        let all = self.vacancies.get(own.parent)?;
        match all[..all.partition_point(|&(number, _)| number < own.number)].last() {
            None => Some(Vacancy { last: None }),
            Some((_, vacancy)) => vacancy.last.is_some().then_some(*vacancy),
        }
    }

    /// The part of a cause that is the same of all: the window, and the events that it rests on.
    fn of_window(&self, client: &WaitingClient, on: Option<&FaultWindow<'a>>, sentence: String) -> Cause {
        let began = on.and_then(|window| self.run.injected.get(&window.id)?.began());
        let mut events: Vec<usize> = [client.asked].into_iter().chain(began).collect();
        events.sort_unstable();
        Cause {
            window: on.map(|window| window.id),
            events,
            sentence,
            ..Cause::default()
        }
    }
}

impl Contender<'_> {
    fn record(&self) -> CauseZnode {
        CauseZnode::new(self.path, self.made.zxid)
    }
}

/// Of each place among the sequential znodes of a parent what removed those up to it.
fn vacancies<'a>(contenders: &[Contender<'a>]) -> BTreeMap<&'a str, Vec<(i64, Vacancy<'a>)>> {
    let mut placed: BTreeMap<&'a str, Vec<(i64, Contender<'a>)>> = BTreeMap::new();
    for znode in contenders {
        if let Some(QueuePlace { parent, number }) = place(znode.path) {
            placed.entry(parent).or_default().push((number, *znode));
        }
    }
    let up_to = |mut all: Vec<(i64, Contender<'a>)>| {
        all.sort_by_key(|&(number, znode)| (number, znode.made.zxid));
        let mut last: Option<Option<(&'a str, &'a Txn)>> = None;
        let each = all.into_iter().map(|(number, znode)| {
            let own = znode.removed.map(|removed| (znode.path, removed));
            let of_both = match last {
                None => own,
                Some(before) => before
                    .zip(own)
                    .map(|(before, own)| [before, own].into_iter().max_by_key(|(_, txn)| txn.zxid).unwrap_or(own)),
            };
            last = Some(of_both);
            (number, Vacancy { last: of_both })
        });
        each.collect()
    };
    placed.into_iter().map(|(parent, all)| (parent, up_to(all))).collect()
}

/// `, while expire of c2 (window 3, …) was on`; empty without a fault.
fn while_on(on: Option<&FaultWindow<'_>>) -> String {
    on.map(|window| format!(", while {} was on", window.words()))
        .unwrap_or_default()
}
