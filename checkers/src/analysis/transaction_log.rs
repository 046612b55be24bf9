//! The transaction logs: what they show of znodes, and whether they are complete, so that the absence of a transaction
//! proves anything; when, by all the evidence, transactions were made; and who deleted whose znodes.
//!
//! They are complete if the logs of a majority of the voters were read whole and have nothing that does not count (a
//! record of an older version does not contain that), if no zxid is unknown because servers logged different
//! transactions under it, if the transactions of each epoch count from 1 without a gap, as ZooKeeper counts them, and
//! if no later transaction is named: in its epoch by an answer, by the evidence of a lost reply or by the znode tree;
//! of any epoch by a sample of a server, since a server that starts may name a transaction that nobody else has, and
//! loses it.
//!
//! Transactions are made in the order of their zxids. So an event that names one, or the state of a server that has
//! one, comes after all before it ([`TransactionBounds`]). And one that is later than another was not made before the
//! request that made the other was sent, nor before the leader of its epoch, asked what its last transaction was, named
//! an earlier one ([`TransactionTimes`]).

use super::clients::session;
use super::{Analysis, Grants, RecordView};
use crate::text::few;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use zooquake_history::operation::grant;
use zooquake_history::plan::record_files::TXNLOGS;
use zooquake_history::{Event, EventType, Node, ServerSample, ServerTxnLog, Txn, Value};

/// The transaction logs, by znode.
#[derive(Debug, Default)]
pub struct TransactionLog<'a> {
    /// What they lack to be complete, in words.
    lack: Option<String>,
    /// Whether a transaction hides what it touched.
    hidden: bool,
    /// The transactions that created something at each path, in their order.
    created: HashMap<&'a str, Vec<&'a Txn>>,
    /// The transactions that may have created a znode: with the path, if it is recorded, of what they touched.
    makers: HashMap<(i64, Option<&'a str>), &'a Txn>,
    /// Of each epoch the last transaction that was certainly committed; `None` of a record without the servers that
    /// logged each transaction.
    committed: Option<HighestZxids>,
}

impl<'a> TransactionLog<'a> {
    pub(crate) fn new(record: &RecordView<'a>) -> Self {
        let txns = record.txnlog.unwrap_or_default();
        let named = match txns {
            [] => HighestZxids::new(),
            _ => highest_named(record),
        };
        let (mut created, mut makers) = (HashMap::<&str, Vec<&Txn>>::new(), HashMap::new());
        for txn in txns {
            // An older record of a multi may name some of what it touched, and not how.
            let hides = txn.hides_parts();
            for change in txn.changes().filter(|change| hides || creates(change.op)) {
                makers.insert((txn.zxid, Some(change.path)), txn);
                makers.insert((txn.zxid, None), txn);
                if !hides {
                    created.entry(change.path).or_default().push(txn);
                }
            }
            if hides && txn.paths.is_empty() {
                makers.insert((txn.zxid, None), txn);
            }
        }
        let of_servers = record.server_txnlogs.is_some() || is_without_servers(record);
        Self {
            lack: lack(record, &named),
            hidden: txns.iter().any(Txn::hides_parts),
            created,
            makers,
            committed: of_servers.then(|| committed(record, txns, named)),
        }
    }

    /// What the logs lack to be complete, in words: transactions may be missing that were made. `None` if none can be.
    pub fn lack(&self) -> Option<&str> {
        self.lack.as_deref()
    }

    /// Whether the logs have every transaction of the run, and none that hides what it touched, as a multi of an older
    /// record does.
    pub fn whole(&self) -> bool {
        self.lack.is_none() && !self.hidden
    }

    /// Whether a transaction was certainly committed: an answer, the znode tree or a committed later one of its epoch
    /// shows it, or a majority of the voters logged it. In a record without the servers that logged each, all are taken
    /// to be.
    pub fn committed(&self, txn: &Txn) -> bool {
        let last = |committed: &HighestZxids| committed.get(&epoch(txn.zxid)).copied();
        self.committed.as_ref().is_none_or(|all| last(all) >= Some(txn.zxid))
    }

    /// The transaction that created the znode at a path; `None` unless the logs are [whole](Self::whole) and have just
    /// one.
    fn only_create(&self, path: &str) -> Option<&'a Txn> {
        match self.created.get(path)?.as_slice() {
            [only] if self.whole() => Some(only),
            _ => None,
        }
    }

    /// Sets the creation zxid of grants whose clients did not report it to the one in the logs, found by the path of
    /// the znode.
    pub(super) fn date(&self, grants: &mut Grants<'_>) {
        for grant in grants.all.iter_mut().filter(|grant| grant.czxid.is_none()) {
            grant.czxid = grant.path.and_then(|path| self.only_create(path)).map(|txn| txn.zxid);
        }
    }

    /// The transaction with this zxid, if it may have created a znode at `path`, or anywhere if that is not known.
    pub fn create(&self, zxid: i64, path: Option<&str>) -> Option<&'a Txn> {
        let any = self.makers.get(&(zxid, None)).copied();
        let told = self.makers.get(&(zxid, path)).copied();
        told.or(any.filter(|txn| txn.hides_parts() && txn.paths.is_empty()))
    }
}

/// Whether a change is the creation of a znode.
pub fn creates(op: &str) -> bool {
    op.starts_with("create") && op != "createSession"
}

/// Of each epoch the last transaction that was certainly committed.
fn committed(record: &RecordView<'_>, txns: &[Txn], named: HighestZxids) -> HighestZxids {
    let voters: BTreeSet<String> = record.plan.cluster.voters().iter().map(Node::to_string).collect();
    let majority = |txn: &&Txn| txn.servers.iter().filter(|&server| voters.contains(server)).count() * 2 > voters.len();
    let logged = txns.iter().filter(majority).map(|txn| txn.zxid);
    highest(logged.chain(named.into_values()))
}

/// By epoch the highest transaction of it.
type HighestZxids = BTreeMap<i64, i64>;

/// The epoch of a transaction.
fn epoch(zxid: i64) -> i64 {
    zxid >> 32
}

/// The place of a transaction in its epoch, from 1.
fn counter(zxid: i64) -> i64 {
    zxid & 0xffff_ffff
}

/// Whether no transaction can be missing between two of the logs. No log contains with which transaction an epoch
/// ended.
fn follows(before: i64, next: i64) -> bool {
    next == before + 1 || counter(next) == 1 && epoch(next) > epoch(before)
}

/// The highest of some transactions in each epoch. What is no transaction (an epoch before its first one, a number that
/// is none) is left out.
fn highest(zxids: impl Iterator<Item = i64>) -> HighestZxids {
    let mut all = HighestZxids::new();
    for zxid in zxids.filter(|&zxid| zxid > 0 && counter(zxid) > 0) {
        let highest = all.entry(epoch(zxid)).or_insert(zxid);
        *highest = zxid.max(*highest);
    }
    all
}

/// The highest transaction of each epoch that an event or the znode tree names: all up to it in its epoch were
/// committed.
fn highest_named(record: &RecordView<'_>) -> HighestZxids {
    let events = record.history.events.iter().flat_map(named_zxids);
    let znodes = record
        .readings
        .into_iter()
        .flatten()
        .flat_map(|reading| &reading.znodes);
    highest(events.chain(znodes.flat_map(|znode| [znode.czxid, znode.mzxid])))
}

/// What the transaction logs lack to be complete, in words; `None` if nothing. `named` is what [`highest_named`] gives.
fn lack(record: &RecordView<'_>, named: &HighestZxids) -> Option<String> {
    let txns = match record.txnlog {
        None => return Some("no transaction log was read".to_owned()),
        Some([]) => return Some("the transaction logs that were read have no transaction".to_owned()),
        Some(txns) => txns,
    };
    if is_without_servers(record) {
        return Some(format!(
            "{TXNLOGS}, which states what was read of each server's log, was not read"
        ));
    }
    let logs = record.server_txnlogs;
    let unknown = logs.and_then(|logs| unknown(txns, logs));
    let servers = || logs.and_then(|logs| unread(record, logs));
    unknown
        .or_else(servers)
        .or_else(|| first_gap(txns))
        .or_else(|| early_end(record, txns, named))
}

/// Whether what was read of each server's log is not there, and no older version recorded the run.
fn is_without_servers(record: &RecordView<'_>) -> bool {
    record.server_txnlogs.is_none() && record.plan.names(TXNLOGS)
}

/// Where servers logged different transactions under one zxid, and no majority of the voters the same.
fn unknown(txns: &[Txn], logs: &[ServerTxnLog]) -> Option<String> {
    let counts = |zxid| txns.binary_search_by_key(&zxid, |txn| txn.zxid).is_ok();
    let differ = logs.iter().flat_map(|log| log.differs.iter().map(|txn| txn.zxid));
    let first = differ.filter(|&zxid| !counts(zxid)).min()?;
    let has = |log: &&ServerTxnLog| log.differs.iter().any(|txn| txn.zxid == first);
    let servers: Vec<&str> = logs.iter().filter(has).map(|log| log.server.as_str()).collect();
    Some(format!(
        "the transaction logs of {} differ at 0x{first:x}, and no majority of the voters logged the same there",
        servers.join(" and ")
    ))
}

/// Of which voters the logs were not read whole, or are no evidence of what was committed, unless those of a majority
/// are.
fn unread(record: &RecordView<'_>, logs: &[ServerTxnLog]) -> Option<String> {
    let voters = record.plan.cluster.voters();
    let lack = |voter: &Node| match logs.iter().find(|log| *voter == *log.server) {
        None => Some(format!("nothing of {voter}")),
        Some(log) if log.whole && log.transactions == 0 => Some(format!("no transaction of {voter}")),
        Some(log) if log.whole && !log.differs.is_empty() => Some(format!("other transactions of {voter}")),
        Some(log) if log.whole => None,
        Some(log) => Some(format!(
            "not all of {voter} ({})",
            log.problem.as_deref().unwrap_or("the record gives no reason")
        )),
    };
    let lacks: Vec<String> = voters.iter().filter_map(lack).collect();
    let whole = voters.len() - lacks.len();
    (whole * 2 <= voters.len() && !voters.is_empty()).then(|| {
        let lacks: Vec<&str> = lacks.iter().map(String::as_str).collect();
        format!(
            "the transaction logs of {whole} of {} voters were read whole, and of no majority: {}",
            voters.len(),
            few(&lacks)
        )
    })
}

/// Where a transaction is missing before another one of its epoch.
fn first_gap(txns: &[Txn]) -> Option<String> {
    let first = txns.first().map(|txn| txn.zxid).filter(|&zxid| counter(zxid) != 1);
    let pairs = txns.windows(2).map(|pair| (pair[0].zxid, pair[1].zxid));
    let missing = || pairs.clone().find(|&(before, next)| !follows(before, next));
    match (first, missing()) {
        (Some(first), _) => Some(format!(
            "the transaction logs begin with 0x{first:x}, which is not the first transaction of its epoch"
        )),
        (None, Some((before, next))) => Some(format!(
            "the transaction logs have a gap: 0x{next:x} follows on 0x{before:x}"
        )),
        (None, None) => None,
    }
}

/// Where an epoch, or all, ends before a transaction that is named.
fn early_end(record: &RecordView<'_>, txns: &[Txn], named: &HighestZxids) -> Option<String> {
    let logged = highest(txns.iter().map(|txn| txn.zxid));
    let last = txns.iter().map(|txn| txn.zxid).max().unwrap_or(0);
    if let Some((epoch, zxid)) = named.iter().find(|&(epoch, zxid)| logged.get(epoch) < Some(zxid)) {
        let until = match logged.get(epoch) {
            Some(last) => format!("end at 0x{last:x}"),
            None => format!("have none of epoch {epoch}"),
        };
        return Some(format!(
            "the transaction logs {until}, while the history or the znode tree names 0x{zxid:x}"
        ));
    }
    let samples = record.servers.into_iter().flatten();
    let later = samples.filter(|sample| counter(sample.zxid) > 0 && sample.zxid > last);
    later.max_by_key(|sample| sample.zxid).map(|sample| {
        format!(
            "the transaction logs end at 0x{last:x}, while {} named 0x{:x} as its last transaction",
            sample.server, sample.zxid
        )
    })
}

/// The fields whose number is a zxid, at any depth: what answers of any family name, and what a fault's evidence names
/// of a lost reply.
const ZXID_FIELDS: [&str; 3] = ["czxid", "mzxid", "zxid"];

/// The zxids that an answer or a notice names, in no order; none of a request, which names what is to be.
pub fn named_zxids(event: &Event) -> Vec<i64> {
    let mut found = Vec::new();
    if event.kind != EventType::Invoke {
        collect_zxids(&event.value, &mut found);
    }
    found
}

fn collect_zxids(value: &Value, found: &mut Vec<i64>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter() {
                match value.as_i64() {
                    Some(zxid) if ZXID_FIELDS.iter().any(|field| name == field) => found.push(zxid),
                    _ => collect_zxids(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| collect_zxids(value, found)),
        _ => {}
    }
}

/// Transactions and that by which they were certainly made: a moment, in nanoseconds since the run began, or an event.
#[derive(Debug)]
pub struct TransactionBounds<T = u64> {
    /// By zxid; each bound is the earliest from there on.
    known: Vec<(i64, T)>,
}

impl TransactionBounds {
    /// The moments that a run shows, by its events and the samples of servers.
    pub fn new(run: &Analysis<'_>) -> Self {
        let events = run.events.iter();
        let named = events.flat_map(|event| named_zxids(event).into_iter().map(|zxid| (zxid, event.time)));
        let samples = run.record.servers.into_iter().flatten();
        Self::known(named.chain(samples.map(|sample| (sample.zxid, sample.time))))
    }
}

impl TransactionBounds<usize> {
    /// The first events that show the transactions of a run; a disputed answer shows nothing.
    pub fn events(run: &Analysis<'_>) -> Self {
        let events = run.events.iter().enumerate();
        let certain = events.filter(|(at, _)| !run.ops.disputed.contains(at));
        Self::known(certain.flat_map(|(at, event)| named_zxids(event).into_iter().map(move |zxid| (zxid, at))))
    }
}

impl<T: Copy + Ord> TransactionBounds<T> {
    /// The bounds by transactions that are named, each at one.
    pub fn known(named: impl Iterator<Item = (i64, T)>) -> Self {
        let mut known: Vec<(i64, T)> = named.collect();
        known.sort_unstable();
        for at in (1..known.len()).rev() {
            known[at - 1].1 = known[at - 1].1.min(known[at].1);
        }
        Self { known }
    }

    /// The earliest known bound by which a transaction was made; `None` if nothing names it or a later one.
    pub fn made_by(&self, zxid: i64) -> Option<T> {
        let place = self.known.partition_point(|&(other, _)| other < zxid);
        self.known.get(place).map(|&(_, bound)| bound)
    }
}

/// Transactions and moments before which they were certainly not made, in nanoseconds since the run began.
#[derive(Debug, Default)]
pub struct TransactionTimes {
    /// By zxid; each moment is the latest up to there.
    requests: Vec<(i64, u64)>,
    /// The last transactions of leaders, by zxid; each moment is the latest up to there within the epoch.
    leaders: Vec<(i64, u64)>,
}

impl TransactionTimes {
    /// Reads the moments out of a run.
    pub fn new(run: &Analysis<'_>) -> Self {
        let requests = dated_requests(run).map(|(made, at)| (made, run.time(at)));
        Self {
            requests: latest(requests.collect(), |_, _| true),
            leaders: latest(leader_zxids(run).collect(), |a, b| a >> 32 == b >> 32),
        }
    }

    /// The latest known moment before which the transaction `zxid` was not made, in nanoseconds since the run began;
    /// `None` if no evidence bounds it.
    pub fn not_before(&self, zxid: i64) -> Option<u64> {
        let below = |all: &[(i64, u64)]| {
            let place = all.partition_point(|&(other, _)| other < zxid);
            all[..place].last().copied()
        };
        let leader = below(&self.leaders).filter(|(other, _)| other >> 32 == zxid >> 32);
        below(&self.requests).into_iter().chain(leader).map(|(_, at)| at).max()
    }
}

/// In the order of zxids, each with the latest moment of those before it that are `alike`.
fn latest(mut all: Vec<(i64, u64)>, alike: impl Fn(i64, i64) -> bool) -> Vec<(i64, u64)> {
    all.sort_unstable();
    for at in 1..all.len() {
        let (zxid, before) = all[at - 1];
        if alike(zxid, all[at].0) {
            all[at].1 = all[at].1.max(before);
        }
    }
    all
}

/// The transactions that answers name as made by their requests, each with the event by which its request had not been
/// sent. A client whose last attempt ended without an answer may have made its transaction in that one.
fn dated_requests(run: &Analysis<'_>) -> impl Iterator<Item = (i64, usize)> {
    let mut first: HashMap<(&str, &str), usize> = HashMap::new();
    let work = run.ops.work.iter().filter(|op| op.f != grant::f::READ);
    work.chain(&run.ops.control).filter_map(move |op| {
        let sent = *first.entry((op.node, op.f)).or_insert(op.invoke?);
        let end = op.end.filter(|&end| run.events[end].kind == EventType::Ok)?;
        first.remove(&(op.node, op.f));
        let event = &run.events[end];
        let made = [event.czxid(), event.mzxid(), event.zxid()]
            .into_iter()
            .flatten()
            .max()?;
        Some((made, sent))
    })
}

/// What leaders named as their last transaction, each with the moment at which the same server had answered before:
/// what comes later in the epoch was made after that.
fn leader_zxids(run: &Analysis<'_>) -> impl Iterator<Item = (i64, u64)> {
    let mut last: HashMap<&str, u64> = HashMap::new();
    let samples = run.record.servers.into_iter().flatten();
    samples.filter_map(move |sample: &ServerSample| {
        let before = last.insert(&sample.server, sample.time)?;
        (sample.mode == "leader").then_some((sample.zxid, before))
    })
}

/// A committed deletion of a znode by a request, alone or in a multi; none that the end of a session brings.
#[derive(Debug, Clone, Copy)]
pub struct Deletion<'a> {
    /// The transaction that deleted it.
    pub txn: &'a Txn,
    /// Where it was.
    pub path: &'a str,
    /// The transaction that created it.
    pub made: &'a Txn,
}

/// The deletions in the order of the logs, each of a znode that certainly was the one made by [`Deletion::made`], whose
/// session was not closed before.
///
/// Where the logs lack a transaction, or do not contain what one did or whether it was committed, nothing that stood
/// before is known until it is created again. Without the lists of parts of an older record that is so after each
/// multi.
pub fn deletions<'a>(run: &Analysis<'a>) -> Vec<Deletion<'a>> {
    let txns = run.record.txnlog.unwrap_or_default();
    let missing = missing_zxids(run, txns);
    let (mut standing, mut found) = (StandingZnodes::default(), Vec::new());
    let mut last: Option<i64> = None;
    for txn in txns {
        let lost = |last: i64| missing.range(last.min(txn.zxid)..txn.zxid).next().is_some();
        // Complete logs have the end of each epoch.
        let gap = |last: i64| !follows(last, txn.zxid) || epoch(last) < epoch(txn.zxid) && run.log.lack().is_some();
        if last.is_some_and(|last| gap(last) || lost(last)) || !run.log.committed(txn) {
            standing.forget();
        }
        last = Some(txn.zxid);
        if run.log.committed(txn) {
            standing.follow(txn, &mut found);
        }
    }
    found
}

/// The transactions that answers name and the logs do not have.
fn missing_zxids(run: &Analysis<'_>, txns: &[Txn]) -> BTreeSet<i64> {
    let logged: HashSet<i64> = txns.iter().map(|txn| txn.zxid).collect();
    let answers = run.events.iter().filter(|event| event.kind == EventType::Ok);
    let named = answers.flat_map(named_zxids);
    named.filter(|zxid| !logged.contains(zxid)).collect()
}

/// The znodes that stand after the transactions followed so far.
#[derive(Default)]
struct StandingZnodes<'a> {
    /// What created the znode at each path, and as the how many-th of the transactions.
    there: HashMap<&'a str, (usize, &'a Txn)>,
    /// How many transactions came until now.
    count: usize,
    /// By which of these all that stood before became unknown.
    forgotten: usize,
    /// By which of these each session ended.
    ended: HashMap<u64, usize>,
}

impl<'a> StandingZnodes<'a> {
    /// What stands now may have been made anew, or may be gone.
    fn forget(&mut self) {
        self.forgotten = self.count;
    }

    /// Follows a transaction. The end of a session removes its ephemerals: those that the transaction lists, and
    /// perhaps others that the session made.
    fn follow(&mut self, txn: &'a Txn, found: &mut Vec<Deletion<'a>>) {
        self.count += 1;
        if txn.op == "closeSession" {
            match session(&txn.session) {
                Some(ended) => drop(self.ended.insert(ended, self.count)),
                None => self.forget(),
            }
        }
        if txn.hides_parts() || txn.changes().next().is_none() && !changes_nothing(&txn.op) {
            return self.forget();
        }
        for change in txn.changes() {
            match change.op {
                op if creates(op) => drop(self.there.insert(change.path, (self.count, txn))),
                "delete" => found.extend(self.delete(txn, change.path)),
                "closeSession" => drop(self.there.remove(change.path)),
                op if changes_nothing(op) => {}
                _ => self.forget(),
            }
        }
    }

    fn delete(&mut self, txn: &'a Txn, path: &'a str) -> Option<Deletion<'a>> {
        let (at, made) = self.there.remove(path)?;
        let ended = session(&made.session).and_then(|session| self.ended.get(&session));
        let known = at > self.forgotten && ended.is_none_or(|&ended| at > ended);
        known.then_some(Deletion { txn, path, made })
    }
}

/// Whether a transaction, or a part of a multi, creates and deletes no znode. A multi with an empty list of parts had
/// none.
fn changes_nothing(op: &str) -> bool {
    matches!(
        op,
        "createSession" | "closeSession" | "setData" | "setACL" | "check" | "reconfig" | "error" | "multi"
    )
}
