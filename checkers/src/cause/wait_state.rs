//! What became, since it asked, of a client that waits and that no znode is shown to stand before: of the znode by
//! which it waits, of the session in which it made that, and of its connection.
//!
//! It is read from complete transaction logs; without them only from what the client reported of its sessions.

use super::queue_order::{QueuePlace, place};
use super::record::{Cause, CauseZnode};
use super::removal::Removals;
use super::subject::WaitingClient;
use crate::analysis::transaction_log::{TransactionBounds, TransactionTimes};
use crate::analysis::{Analysis, FaultWindow, SessionEnd, SessionSpan};
use crate::text::seconds;
use crate::znodes::orphan_node::is_below_parents;
use std::collections::BTreeMap;
use zooquake_history::{EventType, Txn};

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
pub struct WaitStates<'r, 'a> {
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
    /// Reads them out of a run, in time nearly linear in its transactions and events.
    pub fn new(run: &'r Analysis<'a>) -> Self {
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
    pub fn cause(&self, client: &WaitingClient) -> Option<Cause> {
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
        CauseZnode {
            path: self.path.to_owned(),
            czxid: self.made.zxid,
        }
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
