//! Transactions: what was asked and answered about each, what its znodes contain, and which operations on them cannot
//! be read: they may mean anything.

use crate::analysis::{Analysis, Op};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use zooquake_history::operation::commit::{Decision, SITES, VOTED, f};
use zooquake_history::{Event, EventType};

/// A decision that a client reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionReport<'a> {
    /// The client.
    pub node: &'a str,
    /// Where its answer was read.
    pub read: usize,
    /// What it reported.
    pub decision: Decision,
}

/// A vote that a site was asked for.
#[derive(Debug, Clone, Copy)]
pub struct RequestedVote<'a> {
    /// The site.
    pub node: &'a str,
    /// Where it was asked for; `None` if that is not in the history.
    pub asked: Option<usize>,
    /// What it was asked for: yes or no.
    pub wanted: Option<bool>,
    /// What it answered to have voted, and where that was read.
    pub voted: Option<(bool, usize)>,
    /// Where it answered that it certainly did not vote.
    pub failed: Option<usize>,
    /// Whether it answered that it voted, and how cannot be read.
    pub unreadable: bool,
}

impl RequestedVote<'_> {
    /// Whether a yes may have come of it.
    pub fn may_be_yes(&self) -> bool {
        match self.voted {
            Some((yes, _)) => yes,
            None => self.unreadable || (self.wanted != Some(false) && self.failed.is_none()),
        }
    }
}

/// One transaction. Every position is that of an event in the history.
#[derive(Debug, Clone, Default)]
pub struct JudgedTransaction<'a> {
    /// Its name, `t7`.
    pub name: &'a str,
    /// The first event that names it.
    pub first: usize,
    /// Where it was asked to begin.
    pub begin: Option<usize>,
    /// Whether a request to begin it may have happened.
    pub may_begin: bool,
    /// Of the first request to begin it that certainly failed: where it was sent and answered.
    pub unbegun: Option<(usize, usize)>,
    /// The sites that it was asked to begin with; empty if they cannot be read.
    pub sites: Vec<&'a str>,
    /// An event that proves that its znode came into being.
    pub begun: Option<usize>,
    /// The votes asked for.
    pub votes: Vec<RequestedVote<'a>>,
    /// Where its decision was first asked for.
    pub asked: Option<usize>,
    /// What the coordinator answered.
    pub answers: Vec<DecisionReport<'a>>,
    /// What the sites reported.
    pub reports: Vec<DecisionReport<'a>>,
    /// Whether its znode is in the last reading of the tree.
    pub stands: bool,
    /// Whether a disputed answer is about it, so that nothing is concluded from what is not known of it.
    pub disputed: bool,
    /// The decisions in its decision znode, one entry for each reading of the tree that has it: the number of events
    /// recorded by then, and the decision.
    pub znode: Vec<(usize, Decision)>,
}

impl<'a> JudgedTransaction<'a> {
    /// The decision in the last reading of the decision znode; `None` if no reading has one.
    pub fn written(&self) -> Option<Decision> {
        self.znode.last().map(|&(_, decision)| decision)
    }

    /// Where the only requests to begin it failed, so that it certainly never was; `None` if it may have been.
    pub fn never_begun(&self) -> Option<(usize, usize)> {
        self.unbegun.filter(|_| !self.may_begin && !self.disputed)
    }

    /// The sites' common decision; `None` if there is none yet, or more than one.
    pub fn unanimous(&self) -> Option<DecisionReport<'a>> {
        let first = *self.reports.first()?;
        let same = self.reports.iter().all(|report| report.decision == first.decision);
        (same && !self.disputed).then_some(first)
    }

    /// Where some client first reported this decision.
    pub fn reported(&self, decision: Decision) -> Option<DecisionReport<'a>> {
        let all = self.reports.iter().chain(&self.answers);
        all.filter(|report| report.decision == decision)
            .min_by_key(|report| report.read)
            .copied()
    }
}

/// The transactions of a history, by the first event that names each.
#[derive(Debug, Default)]
pub struct Transactions<'a> {
    pub all: Vec<JudgedTransaction<'a>>,
    /// Events whose transaction, sites, vote or decision cannot be read, and what they are.
    pub unread: Vec<(usize, String)>,
    /// Whether a transaction was begun, or may have been, whose name cannot be read.
    pub begun_unnamed: bool,
    /// Sites that voted, or may have, about a transaction whose name cannot be read.
    pub voted_unnamed: BTreeSet<&'a str>,
    /// Paths of decision znodes that contain neither commit nor abort, one for each reading.
    pub unreadable: Vec<String>,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Transactions<'a> {
    /// Reads the transactions out of a run, in one pass.
    pub fn new(run: &Analysis<'a>) -> Self {
        let (unread, begun_unnamed) = unreadable_operations(run);
        let mut all = Self {
            unread,
            begun_unnamed,
            ..Self::default()
        };
        for op in &run.ops.work {
            all.op(run, op);
            let named = [op.invoke, op.end]
                .into_iter()
                .flatten()
                .any(|at| run.events[at].tx().is_some());
            if op.f == f::VOTE && !named && op.failed(run.events).is_none() {
                all.voted_unnamed.insert(op.node);
            }
        }
        for at in run.ops.in_dispute() {
            if let Some(name) = run.events[at].tx() {
                all.named(name, at).disputed = true;
            }
        }
        for transaction in &mut all.all {
            transaction.reports.sort_by_key(|report| report.read);
            transaction.answers.sort_by_key(|report| report.read);
        }
        all.tree(run);
        all
    }

    /// How many transactions some client reported to be decided so.
    pub fn decided(&self, decision: Decision) -> usize {
        self.all.iter().filter(|tx| tx.reported(decision).is_some()).count()
    }

    /// The transaction that an operation is about.
    pub fn of_operation(&self, run: &Analysis<'a>, op: &Op<'_>) -> Option<&JudgedTransaction<'a>> {
        let named = |at: Option<usize>| run.events[at?].tx();
        let name = named(op.invoke).or_else(|| named(op.end))?;
        self.by_name.get(name).map(|&at| &self.all[at])
    }

    fn named(&mut self, name: &'a str, at: usize) -> &mut JudgedTransaction<'a> {
        let next = self.all.len();
        let number = *self.by_name.entry(name).or_insert(next);
        if number == next {
            self.all.push(JudgedTransaction {
                name,
                first: at,
                ..JudgedTransaction::default()
            });
        }
        let transaction = &mut self.all[number];
        transaction.first = transaction.first.min(at);
        transaction
    }

    /// A request counts by its own fields, and so does an answer, so that each proves something alone. Only a failure,
    /// which need not name its transaction, is known by its request.
    fn op(&mut self, run: &Analysis<'a>, op: &Op<'a>) {
        let events = run.events;
        if let Some((at, name)) = op.invoke.and_then(|at| Some((at, events[at].tx()?))) {
            let transaction = self.named(name, at);
            match op.f {
                f::BEGIN => {
                    match op.failed(events) {
                        Some(failed) => transaction.unbegun = transaction.unbegun.or(Some((at, failed))),
                        None => transaction.may_begin = true,
                    }
                    if transaction.begin.is_none() {
                        transaction.begin = Some(at);
                        transaction.sites = sites(&events[at]).unwrap_or_default();
                    }
                }
                f::DECIDE => {
                    transaction.asked.get_or_insert(at);
                }
                _ => {}
            }
        }
        let answer = op
            .end
            .filter(|end| events[*end].kind == EventType::Ok && !run.ops.disputed.contains(end))
            .and_then(|end| Some((end, events[end].tx()?)));
        if op.f == f::VOTE {
            for part in op.apart() {
                self.vote(run, &part, answer.filter(|&(end, _)| part.end == Some(end)));
            }
        }
        let Some((end, name)) = answer else { return };
        let event = &events[end];
        let decision = event.decision().and_then(Decision::read);
        let transaction = self.named(name, end);
        let report = |decision| DecisionReport {
            node: op.node,
            read: end,
            decision,
        };
        match op.f {
            f::BEGIN | f::VOTE => {
                transaction.may_begin |= op.f == f::BEGIN;
                transaction.begun = Some(transaction.begun.map_or(end, |begun| begun.min(end)));
            }
            f::DECIDE => transaction.answers.extend(decision.map(report)),
            f::DECIDED => transaction.reports.extend(decision.map(report)),
            _ => {}
        }
    }

    fn vote(&mut self, run: &Analysis<'a>, op: &Op<'a>, answer: Option<(usize, &'a str)>) {
        let events = run.events;
        let yes = |vote: Option<&str>| match vote {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        };
        let voted = |end: usize| yes(events[end].voted());
        let asked = op.invoke.filter(|&at| events[at].tx().is_some());
        let name = asked.and_then(|at| events[at].tx());
        let Some(name) = answer.map(|(_, name)| name).or(name) else {
            return;
        };
        let failed = op.failed(events);
        let vote = RequestedVote {
            node: op.node,
            asked,
            wanted: asked.and_then(|at| yes(events[at].vote())),
            voted: answer.and_then(|(end, _)| Some((voted(end)?, end))),
            failed: failed.filter(|_| asked.is_some()),
            unreadable: answer.is_some_and(|(end, _)| events[end].get(VOTED.any()).is_some() && voted(end).is_none()),
        };
        if vote.asked.is_some() || vote.voted.is_some() {
            let first = vote.asked.or(vote.voted.map(|(_, end)| end)).unwrap_or_default();
            self.named(name, first).votes.push(vote);
        }
    }

    /// Reads the znodes of the transactions that the history names: `…/<tx>` and `…/<tx>/decision`.
    fn tree(&mut self, run: &Analysis<'a>) {
        let readings = run.record.readings.unwrap_or_default();
        for (number, reading) in readings.iter().enumerate() {
            let mut said: BTreeMap<usize, Decision> = BTreeMap::new();
            for znode in &reading.znodes {
                let mut parts = znode.path.rsplit('/');
                let (last, above) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                if let Some(&at) = self.by_name.get(last) {
                    self.all[at].stands |= number + 1 == readings.len();
                }
                let (true, Some(&at)) = (last == "decision", self.by_name.get(above)) else {
                    continue;
                };
                match Decision::read(&znode.data) {
                    Some(decision) => {
                        said.insert(at, decision);
                    }
                    // Nothing is written yet.
                    None if znode.data.is_empty() => {}
                    None => self.unreadable.push(znode.path.clone()),
                }
            }
            for (at, decision) in said {
                self.all[at].znode.push((reading.end_index, decision));
            }
        }
    }
}

/// Events whose transaction, sites, vote or decision cannot be read, and what they are; and whether a transaction
/// without a name that can be read was begun, or may have been.
fn unreadable_operations(run: &Analysis<'_>) -> (Vec<(usize, String)>, bool) {
    let (mut events, mut begun) = (Vec::new(), false);
    for op in &run.ops.work {
        if let Some((at, what)) = unread(run, op) {
            begun |= op.f == f::BEGIN && what == UNNAMED && op.failed(run.events).is_none();
            events.push((at, format!("the `{}` of {}, which {what}", op.f, op.node)));
        }
    }
    (events, begun)
}

const UNNAMED: &str = "names no transaction";

/// The event whose fields cannot be read or contradict the request, and why; `None` if all of the operation is
/// readable.
fn unread(run: &Analysis<'_>, op: &Op<'_>) -> Option<(usize, &'static str)> {
    let events = run.events;
    if !matches!(op.f, f::BEGIN | f::DECIDE | f::VOTE | f::DECIDED) {
        return None;
    }
    let done = op.end.filter(|&end| events[end].kind == EventType::Ok);
    let named = |at: Option<usize>| events[at?].tx();
    match (named(op.invoke), named(done)) {
        (None, None) => return Some((op.invoke.or(op.end)?, UNNAMED)),
        (Some(asked), Some(answered)) if asked != answered => {
            return Some((done?, "answers about another transaction"));
        }
        _ => {}
    }
    match op.f {
        f::BEGIN => Some((
            op.invoke.filter(|&at| sites(&events[at]).is_none())?,
            "names no sites that can be read",
        )),
        f::VOTE => {
            let voted = |&at: &usize| matches!(events[at].voted(), Some("yes" | "no"));
            Some((done.filter(|at| !voted(at))?, "is neither yes nor no"))
        }
        _ => {
            let decided = |&at: &usize| events[at].decision().and_then(Decision::read);
            Some((done.filter(|at| decided(at).is_none())?, "is neither commit nor abort"))
        }
    }
}

/// The sites that a `begin` names; `None` if there is what cannot be read.
fn sites(event: &Event) -> Option<Vec<&str>> {
    if event.get(SITES.any()).is_none() {
        return Some(Vec::new());
    }
    event.sites()?.iter().map(|site| site.as_str()).collect()
}
