//! Requests whose replies a fault lost after a server had applied them, by the fault's own evidence and the transaction
//! logs.
//!
//! This makes the request certain, and no more: which operation it was of, and whether that is done by it, is a matter
//! of what the logs show that its transaction did.

use super::clients::session;
use super::{InjectedFault, NamedClients, RecordView};
use std::collections::{BTreeMap, HashMap};
use zooquake_history::operation::{SESSION, control::ZXID};
use zooquake_history::{
    Event, EventType, Txn,
    fault::{LOST, OUTCOME},
};

/// One of them. Positions are those of events.
#[derive(Debug, Clone, Copy)]
pub struct AppliedRequest<'a> {
    /// The client whose session it was made in.
    pub node: &'a str,
    /// The event that ties the session to the client.
    pub tie: usize,
    /// The window's `begin`, before which it was not made.
    pub begin: usize,
    /// The window's `on`, which was recorded after it was applied.
    pub on: usize,
    /// Its transaction.
    pub txn: &'a Txn,
}

/// All of them in a run.
#[derive(Debug, Default)]
pub struct AppliedRequests<'a> {
    /// In the order of their windows' `on`.
    all: Vec<AppliedRequest<'a>>,
    /// The place of the last one of each transaction, by its zxid.
    by_zxid: HashMap<i64, usize>,
}

impl<'a> AppliedRequests<'a> {
    /// Reads them out of a run, in time linear in its events and transactions. One whose session is not known to be the
    /// window's target's, or whose transaction the logs do not show to be of that session, is left out.
    pub fn new(
        (record, events): (&RecordView<'a>, &'a [Event]),
        clients: &NamedClients<'a>,
        injected: &BTreeMap<i64, InjectedFault<'a>>,
    ) -> Self {
        let of_nemesis = events.iter().enumerate().filter(|(_, event)| event.is_of("nemesis"));
        let lost = of_nemesis.filter_map(|(on, event)| {
            let evidence = event.evidence()?;
            let seen = event.kind == EventType::Info && event.phase() == Some("on") && event.verified() == Some(true);
            let applied = LOST.read_from(evidence) == Some("reply") && OUTCOME.read_from(evidence) == Some("applied");
            let zxid = ZXID.read_from(evidence).filter(|_| seen && applied)?;
            let made_in = SESSION.read_from(evidence).and_then(session)?;
            let owner = clients.sessions.get(&made_in)?;
            let begin = injected.get(&event.window()?)?.begin.filter(|&begin| begin < on)?;
            (event.target() == Some(owner.node)).then_some((zxid, made_in, *owner, begin, on))
        });
        let lost: Vec<_> = lost.collect();
        if lost.is_empty() {
            return Self::default();
        }
        let mut txns: HashMap<i64, Option<&'a Txn>> = lost.iter().map(|&(zxid, ..)| (zxid, None)).collect();
        for txn in record.txnlog.unwrap_or_default() {
            if let Some(known) = txns.get_mut(&txn.zxid) {
                *known = Some(txn);
            }
        }
        let applied = lost.into_iter().filter_map(|(zxid, made_in, owner, begin, on)| {
            let txn = txns.get(&zxid).copied().flatten()?;
            (session(&txn.session) == Some(made_in)).then_some(AppliedRequest {
                node: owner.node,
                tie: owner.event,
                begin,
                on,
                txn,
            })
        });
        let all: Vec<AppliedRequest<'a>> = applied.collect();
        let by_zxid = all.iter().enumerate().map(|(at, request)| (request.txn.zxid, at));
        Self {
            by_zxid: by_zxid.collect(),
            all,
        }
    }

    /// All, in the order of their windows' `on`.
    pub fn all(&self) -> &[AppliedRequest<'a>] {
        &self.all
    }

    /// The last one that made a transaction.
    pub fn of_transaction(&self, zxid: i64) -> Option<&AppliedRequest<'a>> {
        self.by_zxid.get(&zxid).map(|&at| &self.all[at])
    }
}
