//! Who waits behind what: a client that waits to hold inherits the cause of the znode that is in its way.
//!
//! A client is behind a znode if the recipe's order excludes it while that stands: by the numbers of sequential znodes,
//! where the grants of the run show that these count ([`QueueDiscipline`]), or, where clients that wait have no znode,
//! because all that may be there are there. The znode has to have stood since before the time that is judged, and until
//! the last reading. A client behind another one that is behind a znode is behind that, too. Where the order, the
//! znode or its age is not proven, an anomaly stands alone.

use super::queue_order::QueueDiscipline;
use super::queued_znodes::{QueuedZnode, ZnodeKeeper, queued, waiting};
use super::record::{Cause, CauseZnode};
use super::subject::{AnomalySubject, WaitingClient};
use super::wait_state::WaitStates;
use crate::analysis::transaction_log::TransactionBounds;
use crate::analysis::{Analysis, AnomalySpan};
use crate::findings::Findings;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use zooquake_history::evidence::Znode;
use zooquake_history::operation::Mode;

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
    let waiters = waiting(found);
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
            znode: Some(CauseZnode {
                path: queued.znode.path.clone(),
                czxid: queued.znode.czxid,
            }),
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
