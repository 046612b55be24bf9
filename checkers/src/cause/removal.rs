//! Which transaction removed a znode, and what lay behind it.

use super::queue_order::{QueueDiscipline, place};
use super::{Cause, CauseZnode};
use crate::analysis::clients::session;
use crate::analysis::transaction_log::{TransactionBounds, TransactionTimes};
use crate::analysis::{Analysis, FaultWindow, Grant, Write};
use crate::text::seconds;
use std::collections::HashMap;
use zooquake_history::operation::Holders;
use zooquake_history::{FaultKind, Txn};

/// The removals of znodes in the transaction logs.
pub struct Removals<'r, 'a> {
    run: &'r Analysis<'a>,
    /// By path, in the order of the logs.
    by_path: HashMap<&'a str, Vec<&'a Txn>>,
    bounds: TransactionBounds,
    ages: TransactionTimes,
    discipline: QueueDiscipline,
}

impl<'r, 'a> Removals<'r, 'a> {
    /// Reads the removals out of a run; none unless its logs are whole.
    pub fn new(run: &'r Analysis<'a>) -> Self {
        let mut by_path: HashMap<&str, Vec<&Txn>> = HashMap::new();
        let txns = run.record.txnlog.filter(|_| run.log.whole()).unwrap_or_default();
        for txn in txns.iter().filter(|txn| run.log.committed(txn)) {
            for change in txn
                .changes()
                .filter(|change| matches!(change.op, "delete" | "closeSession"))
            {
                by_path.entry(change.path).or_default().push(txn);
            }
        }
        Self {
            run,
            by_path,
            bounds: TransactionBounds::new(run),
            ages: TransactionTimes::new(run),
            discipline: QueueDiscipline::new(run),
        }
    }

    /// The transaction that removed a znode: the first removal at its path after its creation.
    pub fn of_znode(&self, path: &str, czxid: i64) -> Option<&'a Txn> {
        self.by_path.get(path)?.iter().find(|txn| txn.zxid > czxid).copied()
    }

    /// Who deleted an item, and the window that lost the reply to that; `None` if the logs do not have it.
    pub fn of_item(&self, path: &str, czxid: i64) -> Option<Cause> {
        let txn = self.of_znode(path, czxid)?;
        let cause = self.cause(path, czxid, txn);
        let whose = self.run.clients.owner_words(&txn.session);
        Some(match self.run.applied.of_transaction(txn.zxid) {
            Some(request) => {
                let window = self.run.events[request.on].window();
                let number = window.unwrap_or_default();
                Cause {
                    proven: true,
                    window,
                    events: vec![request.begin, request.on],
                    sentence: format!(
                        "Window {number} {} the reply to the delete of {path} that the session {}{whose} had asked for (transaction \
                         0x{:x}).",
                        request.deed(),
                        txn.session,
                        txn.zxid
                    ),
                    ..cause
                }
            }
            None => Cause {
                proven: true,
                sentence: format!(
                    "The transaction log shows that the session {}{whose} deleted its znode {path} in transaction 0x{:x}.",
                    txn.session, txn.zxid
                ),
                ..cause
            },
        })
    }

    /// What ended a grant in the ensemble before a newer one was read, though its client went on: the end of its
    /// session, or a delete. `None` if its znode certainly stood until then.
    pub fn of_grant(&self, number: usize, newer: usize) -> Option<Cause> {
        let run = self.run;
        let (grant, newer) = (&run.grants.all[number], &run.grants.all[newer]);
        let (path, czxid, read) = (grant.path?, grant.czxid?, grant.read?);
        let until = run.time(newer.read?);
        let txn = self.of_znode(path, czxid)?;
        if self.ages.not_before(txn.zxid).is_some_and(|earliest| earliest > until) {
            return None;
        }
        let proven = self.let_in(grant, newer, txn);
        let first = self.first_let_in(grant, newer, txn);
        let let_in = first.read?;
        let mut on = run.faults.hitting(grant.node, run.time(read), run.time(let_in));
        let window = on.next().filter(|_| on.next().is_none());
        let meanwhile = window.map(|window| format!(", while {} was on", window.words()));
        let what = match (
            txn.op.as_str(),
            session(&txn.session) == grant.session.and_then(session),
        ) {
            ("closeSession", _) => format!(
                "The session {} of {} ended (transaction 0x{:x})",
                txn.session, grant.node, txn.zxid
            ),
            (_, true) => format!("{} itself deleted it in transaction 0x{:x}", grant.node, txn.zxid),
            (_, false) => format!(
                "Another session, {}{}, deleted it in transaction 0x{:x}",
                txn.session,
                self.run.clients.owner_words(&txn.session),
                txn.zxid
            ),
        };
        let lets_in = match proven {
            true => "This let in",
            false => "This may have let in",
        };
        let mut events: Vec<usize> = [read, let_in].into();
        let began = window
            .and_then(|window| run.injected.get(&window.id))
            .and_then(|injected| injected.began());
        events.extend(began);
        events.sort_unstable();
        Some(Cause {
            proven,
            window: window.map(|window| window.id),
            events,
            sentence: format!(
                "Grant {} rested on {path}. {what}{}. {lets_in} grant {} of {}, while {} still took itself for the holder.",
                grant.name,
                meanwhile.unwrap_or_default(),
                first.name,
                first.node,
                grant.node
            ),
            ..self.cause(path, czxid, txn)
        })
    }

    /// Whether a grant was let in by the transaction that ended an older one: its znode stood behind that one's, or the
    /// older one's went before this one's came, or before this one was read.
    fn let_in(&self, older: &Grant<'_>, newer: &Grant<'_>, txn: &Txn) -> bool {
        let until = newer.read.map(|read| self.run.time(read));
        let behind = newer.path.and_then(place).zip(older.path.and_then(place));
        let behind = behind.is_some_and(|(newer, older)| newer.parent == older.parent && newer.number > older.number);
        newer.czxid.is_some_and(|newer| newer > txn.zxid)
            || self
                .bounds
                .made_by(txn.zxid)
                .zip(until)
                .is_some_and(|(made, until)| made <= until)
            || behind && newer.mode.is_some_and(|mode| self.discipline.is_shown(mode))
    }

    /// The first grant, read by the newer one at the latest, that the transaction which ended an older one let in
    /// beside it; the newer one if none was certainly let in.
    fn first_let_in<'g>(&'g self, older: &Grant<'_>, newer: &'g Grant<'a>, txn: &Txn) -> &'g Grant<'a> {
        let capacity = self.run.capacity;
        let beside = |grant: &&Grant<'a>| {
            let mut holders = Holders::default();
            older.mode.into_iter().for_each(|mode| *holders.count_mut(mode) += 1);
            let excluded = grant.mode.is_some_and(|mode| holders.exclude(mode, capacity));
            excluded && grant.node != older.node && grant.read > older.read && grant.read <= newer.read
        };
        let all = self.run.grants.all.iter().filter(beside);
        let first = all
            .filter(|grant| self.let_in(older, grant, txn))
            .min_by_key(|grant| grant.read);
        first.unwrap_or(newer)
    }

    /// What ended the older grant of a write before a newer one was read, with whether its client could know: it may
    /// have been sent before the grant was over, or to a client that was frozen, which no lease prevents; or to one
    /// that had not noticed yet.
    pub fn of_write(&self, write: Write, newer: usize) -> Option<Cause> {
        let mut cause = self.of_grant(write.grant, newer)?;
        let run = self.run;
        let sent = run.ops.completes[write.read].and_then(|op| run.ops.work[op].invoke);
        if let Some((sent, over)) = sent.zip(cause.transaction) {
            cause.sentence += &self.notice_words(write, sent, over);
            cause.events.push(sent);
            cause.events.sort_unstable();
        }
        Some(cause)
    }

    /// When a write was sent, against the transaction that ended its grant; empty where its order to that is not known.
    fn notice_words(&self, write: Write, sent: usize, over: i64) -> String {
        let run = self.run;
        let node = run.grants.all[write.grant].node;
        let at = run.time(sent);
        let freezes = |window: &&FaultWindow<'_>| FaultKind::by_name(window.fault).freezes;
        if let Some(frozen) = run.faults.hitting(node, at, run.time(write.read)).find(freezes) {
            return format!(
                " The write was sent at {} and made after {}: a lease does not keep a client that was frozen from writing.",
                run.at(sent),
                frozen.words()
            );
        }
        if self.ages.not_before(over).is_some_and(|earliest| at < earliest) {
            return format!(
                " The write was sent at {}, before that: a lease does not keep it from arriving later.",
                run.at(sent)
            );
        }
        let Some(over) = self.bounds.made_by(over).filter(|&over| over <= at) else {
            return String::new();
        };
        let noticed = run
            .clients
            .lost_connection(run.events, node, run.grants.all[write.grant].read.unwrap_or(sent));
        let noticed = match noticed {
            None => format!("{node} never reported that it is not connected"),
            Some(noticed) => {
                let until = run.time(noticed);
                let cut = run
                    .faults
                    .hitting(node, 0, until)
                    .filter(|window| window.on.is_some_and(|on| on <= until));
                let since = cut.last().map(|window| {
                    let on = window.on.unwrap_or(window.from);
                    format!(", {} after {} had struck", seconds(until - on), window.words())
                });
                format!(
                    "{node} reported `{}` at {}{}",
                    run.events[noticed].state().unwrap_or("lost"),
                    run.at(noticed),
                    since.unwrap_or_default()
                )
            }
        };
        format!(
            " The write was sent at {}, at least {} after that, and {node} noticed late: {noticed}.",
            run.at(sent),
            seconds(at - over)
        )
    }

    fn cause(&self, path: &str, czxid: i64, txn: &Txn) -> Cause {
        Cause {
            znode: Some(CauseZnode::new(path, czxid)),
            transaction: Some(txn.zxid),
            session: Some(txn.session.clone()),
            ..Cause::default()
        }
    }
}
