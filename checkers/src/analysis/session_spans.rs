//! The sessions of clients over time: when each was opened and ended, and which servers it was connected to.

use super::Analysis;
use super::clients::session;
use super::transaction_log::TransactionBounds;
use std::collections::BTreeMap;
use zooquake_history::Event;

/// What ended a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// Its client closed it, by its own notice.
    Closed,
    /// The ensemble expired it: its client reported that, or had died before.
    Expired,
    /// The transaction logs have its end, and no notice of its client decides which of the two it was.
    Either,
}

/// A session of a client, with times in nanoseconds since the run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpan<'a> {
    /// Its client.
    pub node: &'a str,
    /// Its number.
    pub session: u64,
    /// When it was there for certain: the first event that names it, or the first answer of a server that shows the
    /// transaction which created it.
    pub from: u64,
    /// What ended it, and the first moment at which that is shown; `None` if nothing shows an end.
    pub end: Option<(SessionEnd, u64)>,
    /// When its client reported that it is not connected, or died, until it was connected again, or until its end.
    pub away: Vec<(u64, Option<u64>)>,
    /// When it was first seen at another server than before, and at which.
    pub moves: Vec<(u64, &'a str)>,
}

impl<'a> SessionSpan<'a> {
    /// The sessions that a run's clients named as their own, those of each client in the order in which they began.
    pub fn all(run: &Analysis<'a>) -> Vec<Self> {
        // What an answer of a server shows was made then at the latest.
        let samples = run.record.servers.into_iter().flatten();
        let shown = TransactionBounds::known(samples.map(|sample| (sample.zxid, sample.time)));
        let mut logged: BTreeMap<(u64, &str), u64> = BTreeMap::new();
        for txn in run.record.txnlog.unwrap_or_default() {
            if let (Some(number), Some(at)) = (session(&txn.session), shown.made_by(txn.zxid)) {
                logged.entry((number, txn.op.as_str())).or_insert(at);
            }
        }
        let mut named: BTreeMap<u64, Vec<&'a Event>> = BTreeMap::new();
        for event in run.events {
            let number = event.session().and_then(session);
            if let Some(number) = number.filter(|_| event.node.is_some()) {
                named.entry(number).or_default().push(event);
            }
        }
        let span = |(number, owner): (&u64, &super::SessionOwner<'a>)| {
            let events = named.get(number).map_or(&[][..], Vec::as_slice);
            let events = events
                .iter()
                .copied()
                .filter(|event| event.node.as_deref() == Some(owner.node));
            let created = logged.get(&(*number, "createSession")).copied();
            let mut span = Self {
                node: owner.node,
                session: *number,
                from: created.unwrap_or(u64::MAX).min(run.time(owner.event)),
                end: None,
                away: Vec::new(),
                moves: Vec::new(),
            };
            span.follow(events);
            span.close(run, logged.get(&(*number, "closeSession")).copied());
            span.leave(run);
            span
        };
        let mut all: Vec<Self> = run.clients.sessions.iter().map(span).collect();
        all.sort_by_key(|span| (span.node, span.from, span.session));
        all
    }

    /// Reads what its client reported of it.
    fn follow(&mut self, events: impl Iterator<Item = &'a Event>) {
        let mut at: Option<&str> = None;
        for event in events {
            let server = event.server().filter(|server| at != Some(server));
            if let Some(server) = server {
                self.moves.extend(at.map(|_| (event.time, server)));
                at = Some(server);
            }
            let open = self.away.last_mut().filter(|(_, until)| until.is_none());
            match (event.state().filter(|_| event.f == "session"), open) {
                (Some("disconnected"), None) => self.away.push((event.time, None)),
                (Some("connected"), Some(away)) => away.1 = Some(event.time),
                (Some("expired"), _) => self.end = self.end.or(Some((SessionEnd::Expired, event.time))),
                (Some("closed"), _) => self.end = self.end.or(Some((SessionEnd::Closed, event.time))),
                _ => {}
            }
        }
    }

    /// Adds that nobody is connected once the process is dead.
    fn leave(&mut self, run: &Analysis<'a>) {
        let until = self.end.map_or(u64::MAX, |(_, at)| at);
        let mut exits = run.clients.exits_of(self.node).iter().map(|&at| run.time(at));
        let exit = exits.find(|at| (self.from..until).contains(at));
        let open = self.away.last().is_some_and(|(_, until)| until.is_none());
        self.away.extend(exit.filter(|_| !open).map(|at| (at, None)));
    }

    /// Adds what the transaction logs show: the ensemble ends a session before its client learns of it.
    fn close(&mut self, run: &Analysis<'a>, logged: Option<u64>) {
        let Some(logged) = logged else { return };
        let mut exits = run.clients.exits_of(self.node).iter();
        let died = exits.any(|&at| (self.from..=logged).contains(&run.time(at)));
        self.end = Some(match self.end {
            Some((end, reported)) => (end, reported.min(logged)),
            None if died => (SessionEnd::Expired, logged),
            None => (SessionEnd::Either, logged),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{SessionEnd, SessionSpan};
    use crate::analysis::Analysis;
    use serde_json::{Value, json};
    use zooquake_history::{Event, EventType, Process, Record, ServerSample, Txn};

    fn note(time: u64, node: &str, f: &str, value: Value) -> Event {
        Event {
            index: 0,
            time,
            process: Process::Name(node.into()),
            kind: EventType::Info,
            f: f.into(),
            value: value.into(),
            error: None,
            node: Some(node.into()),
        }
    }

    fn told(time: u64, node: &str, state: &str, session: &str, server: &str) -> Event {
        let value = json!({"state": state, "session": session, "server": server});
        note(time, node, "session", value)
    }

    fn record(mut events: Vec<Event>, txns: &[(i64, &str, &str)]) -> Record {
        let mut record = Record::default();
        events
            .iter_mut()
            .enumerate()
            .for_each(|(index, event)| event.index = index);
        record.history.events = events;
        let txn = |&(zxid, op, session): &(i64, &str, &str)| Txn {
            zxid,
            op: op.to_owned(),
            session: session.to_owned(),
            ..Txn::default()
        };
        record.txnlog = Some(txns.iter().map(txn).collect());
        let sample = |n: i64| ServerSample {
            time: n as u64 * 100,
            server: "n1".to_owned(),
            zxid: n,
            ..ServerSample::default()
        };
        record.servers = Some((0..20).map(sample).collect());
        record
    }

    #[test]
    fn a_session_is_opened_moves_and_is_expired_before_its_client_learns_of_it() {
        let events = vec![
            told(250, "c1", "connected", "0xa", "n1"),
            told(300, "c1", "disconnected", "0xa", "n1"),
            told(400, "c1", "connected", "0xa", "n2"),
            told(500, "c1", "disconnected", "0xa", "n2"),
            told(900, "c1", "expired", "0xa", "n2"),
            told(950, "c1", "connected", "0xb", "n2"),
        ];
        let record = record(events, &[(2, "createSession", "0xa"), (7, "closeSession", "0xa")]);
        let all = SessionSpan::all(&Analysis::new(&record));
        let first = SessionSpan {
            node: "c1",
            session: 10,
            from: 200,
            end: Some((SessionEnd::Expired, 700)),
            away: vec![(300, Some(400)), (500, None)],
            moves: vec![(400, "n2")],
        };
        assert_eq!(all[0], first);
        assert_eq!((all[1].session, all[1].from, all[1].end), (11, 950, None));
    }

    #[test]
    fn a_session_of_a_dead_client_is_expired_and_a_closed_one_is_not() {
        let hello = |node: &str, session: &str| note(0, node, "hello", json!({ "session": session }));
        let events = vec![
            hello("c1", "0xa"),
            hello("c2", "0xb"),
            hello("c3", "0xc"),
            note(300, "c1", "exit", json!({"incarnation": 1})),
            told(450, "c2", "closed", "0xb", "n1"),
            // What the servers showed after the end of a history is no evidence.
            note(2000, "c2", "hello", json!({})),
        ];
        let closed = [
            (9, "closeSession", "0xa"),
            (5, "closeSession", "0xb"),
            (6, "closeSession", "0xc"),
        ];
        let record = record(events, &closed);
        let all = SessionSpan::all(&Analysis::new(&record));
        let ends: Vec<_> = all.iter().map(|span| span.end).collect();
        assert_eq!(all[0].away, [(300, None)], "nobody is connected after the death");
        let expected = [
            (SessionEnd::Expired, 900),
            (SessionEnd::Closed, 450),
            (SessionEnd::Either, 600),
        ];
        assert_eq!(ends, expected.map(Some));
    }

    #[test]
    fn without_anything_that_names_a_session_there_is_none() {
        let record = record(vec![note(0, "c1", "hello", json!({}))], &[(1, "createSession", "0xa")]);
        assert_eq!(SessionSpan::all(&Analysis::new(&record)), []);
    }
}
