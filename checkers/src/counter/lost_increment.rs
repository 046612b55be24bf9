//! `lost-increment`: the counter holds less than what was answered requires.
//!
//! A counter never goes back: an increment that is sent when a value has been read makes a greater one, and who looks
//! at the counter after a write that was sent then finds that value or a greater one. One report for each value that it
//! went back from. Also, what is found last is at least the number of increments that had been acknowledged.
//!
//! The cause is the write that took the counter back: the first transaction that writes no more than an earlier one had
//! written.

use super::increments::{CertainValues, CounterAnswer, CounterReading, Increments, ReadingSource};
use crate::analysis::Analysis;
use crate::analysis::clients::session;
use crate::cause::Cause;
use crate::findings::{Finding, Findings};
use std::cell::OnceCell;
use std::collections::HashSet;
use zooquake_history::Txn;

/// Looks for increments that are lost.
pub fn check(
    run: &Analysis<'_>,
    (counts, sure): (&Increments<'_>, &CertainValues<'_>),
    overwrites: &Overwrites<'_, '_>,
    out: &mut Findings,
) {
    let greatest = GreatestValues::new(counts);
    let mut reported = HashSet::new();
    for told in &counts.given {
        let before = told.sent.and_then(|sent| greatest.before(sent));
        if let (Some(greater), Some(sent)) = (before, told.sent)
            && told.value <= greater.value
            && reported.insert(greater.read)
        {
            went_back(run, (greater, told, sent), overwrites, out);
        }
    }
    let mut less = false;
    for held in sure.all() {
        let Some(greater) = greatest.before(held.asked).filter(|told| told.value > held.value) else {
            continue;
        };
        less = true;
        if reported.insert(greater.read) {
            found_less(run, (greater, held), overwrites, out);
        }
    }
    let mut last = sure.last_client().into_iter().chain(sure.tree.last());
    if !less {
        last.any(|held| too_few(run, (counts, held), overwrites, out));
    }
    out.ran("lost-increment", counts.given.len() + counts.got.len());
}

/// The greatest values that were answered until then.
struct GreatestValues<'r, 'a> {
    /// Where each was read, in order, and the first of the greatest until then.
    all: Vec<(usize, &'r CounterAnswer<'a>)>,
}

impl<'r, 'a> GreatestValues<'r, 'a> {
    fn new(counts: &'r Increments<'a>) -> Self {
        let mut all: Vec<&CounterAnswer<'a>> = counts.given.iter().chain(&counts.got).collect();
        all.sort_by_key(|told| told.read);
        let greatest = |first: &mut Option<&'r CounterAnswer<'a>>, told: &'r CounterAnswer<'a>| {
            let kept = first.filter(|first| first.value >= told.value).unwrap_or(told);
            *first = Some(kept);
            Some((told.read, kept))
        };
        Self {
            all: all.into_iter().scan(None, greatest).collect(),
        }
    }

    /// The greatest value of what was read before an event.
    fn before(&self, at: usize) -> Option<&'r CounterAnswer<'a>> {
        Some(self.all[self.all.partition_point(|&(read, _)| read < at).checked_sub(1)?].1)
    }
}

/// The finding, with the write that took the counter back after the transaction `since`.
fn lost<'a>(witness: Vec<usize>, why: String, overwrites: &Overwrites<'_, '_>, since: Option<i64>) -> Finding<'a> {
    Finding::new("lost-increment", "nothing is lost", witness, why).caused(overwrites.after(since.unwrap_or(0)))
}

fn went_back(
    run: &Analysis<'_>,
    (greater, told, sent): (&CounterAnswer<'_>, &CounterAnswer<'_>, usize),
    overwrites: &Overwrites<'_, '_>,
    out: &mut Findings,
) {
    let why = format!(
        "{} received at {} the answer that the counter held {}. {} sent an increment after that, at {}, and was given \
         the id {} at {}: the counter had gone back.",
        greater.node,
        run.at(greater.read),
        greater.value,
        told.node,
        run.at(sent),
        told.value,
        run.at(told.read),
    );
    let first = run.time(greater.sent.unwrap_or(greater.read));
    let witness = vec![greater.read, sent, told.read];
    let since = run.events[greater.read].mzxid();
    out.add_at_end(run, lost(witness, why, overwrites, since), Some(first));
}

fn found_less(
    run: &Analysis<'_>,
    (greater, held): (&CounterAnswer<'_>, &CounterReading<'_>),
    overwrites: &Overwrites<'_, '_>,
    out: &mut Findings,
) {
    let why = format!(
        "{} received at {} the answer that the counter held {}. Yet {}: increments were lost.",
        greater.node,
        run.at(greater.read),
        greater.value,
        held.words(run),
    );
    let witness = [greater.read].into_iter().chain(held.witness()).collect();
    let first = run.time(greater.sent.unwrap_or(greater.read));
    let since = run.events[greater.read].mzxid();
    out.add_at_end(run, lost(witness, why, overwrites, since), Some(first));
}

/// Whether more increments had been acknowledged than the counter holds; the first ones that are too many are the
/// witness.
fn too_few(
    run: &Analysis<'_>,
    (counts, held): (&Increments<'_>, &CounterReading<'_>),
    overwrites: &Overwrites<'_, '_>,
    out: &mut Findings,
) -> bool {
    let acknowledged = counts.given.partition_point(|told| told.read < held.asked);
    let Some(needed) = usize::try_from(held.value).ok().filter(|&value| value < acknowledged) else {
        return false;
    };
    let many = &counts.given[..=needed];
    let when = match held.by {
        ReadingSource::Client(..) => "before that write was sent",
        ReadingSource::Tree => "before that",
    };
    let why = format!(
        "At the end {}. Yet {acknowledged} increments had been acknowledged {when}, the first {} of them by {}: increments were \
         lost.",
        held.words(run),
        many.len(),
        run.at(many[needed].read),
    );
    let witness = many.iter().map(|told| told.read).chain(held.witness()).collect();
    let first = many.iter().map(|told| run.time(told.sent.unwrap_or(told.read))).min();
    out.add_at_end(run, lost(witness, why, overwrites, None), first);
    true
}

/// The writes to a counter that took it back.
pub struct Overwrites<'r, 'a> {
    run: &'r Analysis<'a>,
    path: &'static str,
    /// Read out of the logs when they are asked for first.
    writes: OnceCell<Vec<Overwrite<'a>>>,
}

/// A write of no more than was there.
struct Overwrite<'a> {
    txn: &'a Txn,
    value: i64,
    /// The greatest value that had been written, and the transaction that wrote it first.
    held: (i64, &'a Txn),
}

impl<'r, 'a> Overwrites<'r, 'a> {
    /// The writes that took the counter at a path back.
    pub fn new(run: &'r Analysis<'a>, path: &'static str) -> Self {
        let writes = OnceCell::new();
        Self { run, path, writes }
    }

    /// The cause that is the first of them after the transaction `since`; `None` unless the logs are whole and have it.
    pub fn after(&self, since: i64) -> Option<Cause> {
        let writes = self.writes.get_or_init(|| overwrites(self.run, self.path));
        let first = writes.partition_point(|write| write.txn.zxid <= since);
        Some(writes.get(first)?.cause(self.run))
    }
}

/// The writes to the counter at a path that took it back, each of a greater zxid than those before it; none unless the
/// logs are whole.
fn overwrites<'a>(run: &Analysis<'a>, path: &str) -> Vec<Overwrite<'a>> {
    let txns = run.record.txnlog.filter(|_| run.log.whole()).unwrap_or_default();
    let mut greatest: Option<(i64, &Txn)> = None;
    let mut writes: Vec<Overwrite<'a>> = Vec::new();
    for txn in txns.iter().filter(|txn| run.log.committed(txn)) {
        for change in txn.changes().filter(|change| change.path == path) {
            let Some(value) = change.data.and_then(|data| data.parse::<i64>().ok()) else {
                continue;
            };
            match greatest.filter(|&(held, _)| value <= held) {
                None => greatest = Some((value, txn)),
                Some(held) if writes.last().is_none_or(|last| last.txn.zxid < txn.zxid) => {
                    writes.push(Overwrite { txn, value, held });
                }
                Some(_) => {}
            }
        }
    }
    writes
}

impl Overwrite<'_> {
    /// The write as a cause, with the window that lost the reply to the same write before.
    fn cause(&self, run: &Analysis<'_>) -> Cause {
        let &Self {
            txn,
            value,
            held: (held, before),
        } = self;
        let whose = |txn: &Txn| run.clients.owner_words(&txn.session);
        // A client that never read the reply to its write may make it again.
        let lost = run.applied.all().iter().rev().find(|request| {
            let same = session(&request.txn.session) == session(&txn.session) && request.txn.zxid < txn.zxid;
            same && request.txn.data.as_deref().and_then(|data| data.parse().ok()) == Some(value)
        });
        let again = lost.and_then(|request| Some((run.events[request.on].window()?, request)));
        let why = again.map(|(window, request)| {
            format!(
                " Window {window} had {} the reply to the same write of this client (transaction 0x{:x}).",
                request.deed(),
                request.txn.zxid
            )
        });
        Cause {
            proven: true,
            window: again.map(|(window, _)| window),
            transaction: Some(txn.zxid),
            session: Some(txn.session.clone()),
            events: again.map_or_else(Vec::new, |(_, request)| vec![request.begin, request.on]),
            sentence: format!(
                "Transaction 0x{:x} of the session {}{} wrote {value} where transaction 0x{:x} of the session {}{} had written {held}.{}",
                txn.zxid,
                txn.session,
                whose(txn),
                before.zxid,
                before.session,
                whose(before),
                why.unwrap_or_default()
            ),
            ..Cause::default()
        }
    }
}
