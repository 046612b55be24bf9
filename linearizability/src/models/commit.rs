//! Atomic commit: `begin` with `[transaction sites]`, `vote` with `[transaction site vote]`, and `decided` with
//! `[transaction site]`, answered with `[transaction site decision]`.
//!
//! All sites of a transaction get the same decision, and it is commit only if each of them voted yes before (Gray and
//! Lamport, "Consensus on transaction commit", ACM TODS 31(1), 2006: stability, consistency, and non-blocking aside).
//!
//! An order exists exactly if the sites did not get both decisions, and, where one got commit, nobody voted no and each
//! site's yes was sent before the first commit was answered. That takes time O(n). A vote of unknown outcome may have
//! come at any time after its invocation; only a yes is of use.

use crate::call::{Call, CallOutcome, InputError, Reading};
use crate::equality::ValueNumbers;
use crate::generate::{Completion, GeneratedClients, GeneratedLoad, SimulatedObject, Simulation, one_client, simulate};
use crate::judgement::{Inquiry, Judgement, apart, judge};
use crate::model::{BrokenClaim, Model, NearLinearDecision, Op, contradiction, earliest};
use crate::models::{ModelEntry, ModelFit, ModelSize};
use crate::value::Value;
use fastrand::Rng;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Two sites got different decisions.
const SPLIT: BrokenClaim = BrokenClaim {
    kind: "split-decision",
    property: "atomicity",
    says: "both commit and abort of one transaction were reported",
};
const FLIP: BrokenClaim = BrokenClaim {
    kind: "decision-flip",
    property: "finality",
    says: "one site received both commit and abort of one transaction",
};
const UNVOTED: BrokenClaim = BrokenClaim {
    kind: "commit-without-votes",
    property: "validity",
    says: "commit was reported although a site had voted no, or had not voted yes by then",
};

/// Transactions that all sites commit, or none.
pub static ATOMIC_COMMIT: ModelEntry = ModelEntry {
    names: &["atomic-commit"],
    summary: "begin [tx sites], vote [tx site yes|no], decided [tx site], answered [tx site commit|abort]",
    operations: &["begin", "vote", "decided"],
    size: ModelSize::Fixed,
    begins: Some("nobody has voted at first"),
    // What is added, only its reads show.
    fits: |operations| ModelFit::shown_if(operations.any(&["vote", "decided"]) && !operations.any(&["add"])),
    simulations: &[Simulation {
        name: "atomic-commit",
        clients: one_client,
        loads: &[GeneratedLoad::COMMON],
        run: |options, _| simulate(options, Commits::default()),
    }],
    judge: |model, calls, _, _, inquiry| {
        let mut transactions = ValueNumbers::default();
        let transaction = |call: &Call<'_>| {
            let (f, at) = (call.f, call.invoke);
            if !model.operations.contains(&f) {
                return Err(model.unable(call));
            }
            let Some(name) = part(&call.asked, 0) else {
                return Err(InputError::Unexpected {
                    what: format!("the {f} of event {at} names no transaction"),
                    found: call.asked.clone(),
                });
            };
            transactions.number(name, || format!("the transaction of event {at}"))
        };
        // Its operations have no positions of their own, so that nothing orders them.
        let Inquiry::Verdict(budget) = inquiry else {
            return Ok(Judgement::default());
        };
        apart(calls, transaction, |calls| {
            Ok(judge(SPLIT, &Transaction, read(calls)?, budget))
        })
    },
};

/// The operations of one transaction.
///
/// A vote names a site that takes part whatever became of it, and so does a begin that did not fail.
fn read<'a>(calls: &[&'a Call<'a>]) -> Result<Reading<'a, CommitOp>, InputError> {
    let (mut reading, mut sites, mut known) = (Reading::new(), ValueNumbers::default(), HashSet::new());
    for &call in calls {
        let (f, at, ok) = (call.f, call.invoke, call.outcome == CallOutcome::Ok);
        let mut site = |name: &Value| sites.number(name, || format!("the site of the {f} of event {at}"));
        let unread = |what: &str| Err(InputError::Unable(format!("the {f} of event {at} names no {what}")));
        let told = part(&call.asked, 1).unwrap_or(&Value::Nil);
        let mut taking_part = Vec::new();
        match f {
            "begin" if call.outcome == CallOutcome::Fail => {}
            "begin" => match told.sequence() {
                Some(names) => taking_part = names.iter().map(&mut site).collect::<Result<_, _>>()?,
                None => return unread("sites"),
            },
            "vote" if told.is_nil() => return unread("site"),
            "vote" => {
                let site = site(told)?;
                let vote = ok
                    .then_some(&call.answered)
                    .into_iter()
                    .chain([&call.asked])
                    .find_map(|value| word(value, ["no", "yes"]));
                match vote {
                    None if ok => return unread("vote, neither yes nor no"),
                    // What was asked for is not known, so it may be yes.
                    vote => reading.add(call, CommitOp::Vote(site, vote.unwrap_or(true))),
                }
                taking_part.push(site);
            }
            _ if ok => {
                let by = match told {
                    Value::Nil => &Value::from(format!("process {}", call.process).as_str()),
                    told => told,
                };
                match word(&call.answered, ["abort", "commit"]) {
                    Some(commit) => reading.add(call, CommitOp::Decided(site(by)?, commit)),
                    None => return unread("decision, neither commit nor abort"),
                }
            }
            _ => {}
        }
        for site in taking_part.into_iter().filter(|&site| known.insert(site)) {
            // That it does was so from the beginning. Several may share this position, as `near` decides every
            // transaction.
            reading.ops.push(Op::done(CommitOp::Site(site), 0, 0));
            reading.calls.push(call);
        }
    }
    Ok(reading)
}

/// Of a value that is a sequence what stands at a place, unless that is nothing.
fn part(value: &Value, place: usize) -> Option<&Value> {
    value.sequence()?.get(place).filter(|part| !part.is_nil())
}

/// Which of two words stands third in a value, as a keyword or as a text: whether it is the second one.
fn word(value: &Value, words: [&str; 2]) -> Option<bool> {
    let third = part(value, 2)?.word()?;
    let place = words.iter().position(|word| *word == third)?;
    Some(place == 1)
}

/// The transaction, of which nothing is decided at the beginning.
#[derive(Debug, Clone, Copy)]
pub struct Transaction;

/// What happens to it. Sites are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitOp {
    /// This site takes part.
    Site(u32),
    /// It voted, yes or no.
    Vote(u32, bool),
    /// It got the decision to commit, or to abort.
    Decided(u32, bool),
}

/// How far a transaction is. Both lists are ascending, and change no more once it is committed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Progress {
    /// Who takes part.
    sites: Rc<[u32]>,
    /// Who voted yes.
    yes: Rc<[u32]>,
    /// Whether somebody voted no.
    no: bool,
    /// Whether it is committed, or aborted.
    committed: Option<bool>,
}

impl Progress {
    fn may_commit(&self) -> bool {
        !self.no && self.sites.iter().all(|site| self.yes.binary_search(site).is_ok())
    }
}

impl Model for Transaction {
    type State = Progress;
    type Input = CommitOp;

    fn initial(&self) -> Progress {
        Progress::default()
    }

    fn step(&self, progress: &Progress, input: &CommitOp) -> Option<Progress> {
        let mut next = progress.clone();
        match (*input, progress.committed == Some(true)) {
            (CommitOp::Site(site), false) => next.sites = with(&progress.sites, site),
            (CommitOp::Site(site), true) => drop(progress.yes.binary_search(&site).ok()?),
            (CommitOp::Vote(site, true), false) => next.yes = with(&progress.yes, site),
            (CommitOp::Vote(_, true), true) => {}
            (CommitOp::Vote(_, false), false) => next.no = true,
            (CommitOp::Vote(_, false), true) => return None,
            (CommitOp::Decided(_, commit), _) => {
                let decided = progress.committed.is_some();
                if decided && progress.committed != Some(commit) || !decided && commit && !progress.may_commit() {
                    return None;
                }
                next.committed = Some(commit);
            }
        }
        Some(next)
    }

    fn heap(&self, progress: &Progress) -> usize {
        size_of_val(&*progress.sites) + size_of_val(&*progress.yes)
    }

    fn near(&self, ops: &[Op<CommitOp>]) -> NearLinearDecision {
        let first = |wanted: fn(&CommitOp) -> bool| {
            let all = (0..ops.len()).filter(|&op| ops[op].must() && wanted(&ops[op].input));
            all.min_by_key(|&op| ops[op].complete)
        };
        let Some(commit) = first(|op| matches!(op, CommitOp::Decided(_, true))) else {
            return NearLinearDecision::Linearizable;
        };
        let abort = first(|op| matches!(op, CommitOp::Decided(_, false)));
        let both = abort.map(|abort| {
            let by = |op: usize| match ops[op].input {
                CommitOp::Site(site) | CommitOp::Vote(site, _) | CommitOp::Decided(site, _) => site,
            };
            let claim = if by(commit) == by(abort) { &FLIP } else { &SPLIT };
            contradiction(ops, vec![commit, abort], claim)
        });
        let no = first(|op| matches!(op, CommitOp::Vote(_, false)));
        let lacking = no.into_iter().chain(lacking(ops, commit));
        let unvoted = lacking.map(|op| contradiction(ops, vec![op, commit], &UNVOTED));
        earliest(ops, both.into_iter().chain(unvoted)).map_or(NearLinearDecision::Linearizable, NearLinearDecision::Not)
    }
}

/// The first site to take part that was sent no yes before a commit was answered.
fn lacking(ops: &[Op<CommitOp>], commit: usize) -> Option<usize> {
    let mut sent: HashMap<u32, usize> = HashMap::new();
    for op in ops {
        if let CommitOp::Vote(site, true) = op.input {
            let first = sent.entry(site).or_insert(op.invoke);
            *first = op.invoke.min(*first);
        }
    }
    let in_time = |site: &u32| sent.get(site).is_some_and(|&at| Some(at) < ops[commit].complete);
    let lacks = |&op: &usize| ops[op].must() && matches!(&ops[op].input, CommitOp::Site(site) if !in_time(site));
    (0..ops.len()).filter(lacks).min_by_key(|&op| ops[op].complete)
}

/// A list with one more, if it is not among them.
fn with(list: &Rc<[u32]>, one: u32) -> Rc<[u32]> {
    match list.binary_search(&one) {
        Ok(_) => Rc::clone(list),
        Err(at) => [&list[..at], &[one], &list[at..]].concat().into(),
    }
}

/// The sites of each simulated transaction.
const SITES: u32 = 3;

/// Simulated transactions, one after the other: each is begun, its sites vote, and then get the decision.
#[derive(Debug, Default)]
struct Commits {
    /// By their numbers; none is begun as number 0.
    all: Vec<TransactionObject>,
    /// Operations that were drawn.
    drawn: u32,
}

/// How far a simulated transaction is.
#[derive(Debug, Clone, Copy, Default)]
struct TransactionObject {
    /// A bit for each site that voted yes.
    yes: u32,
    /// Whether some vote may never come.
    doubtful: bool,
    committed: Option<bool>,
}

/// An operation on a simulated transaction, by some site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommitCall {
    /// To begin it.
    Begin(usize),
    /// To vote yes or no.
    Vote(usize, u32, bool),
    /// To ask for the decision.
    Decided(usize, u32),
}

impl SimulatedObject for Commits {
    type Op = CommitCall;

    fn draw(&mut self, _: usize, rng: &mut Rng) -> CommitCall {
        let (transaction, step) = (self.drawn / (1 + 2 * SITES) + 1, self.drawn % (1 + 2 * SITES));
        self.drawn += 1;
        let transaction = transaction as usize;
        self.all.resize(transaction + 1, TransactionObject::default());
        match step.checked_sub(1) {
            None => CommitCall::Begin(transaction),
            Some(site) if site < SITES => CommitCall::Vote(transaction, site, rng.u8(0..8) > 0),
            Some(site) => CommitCall::Decided(transaction, site - SITES),
        }
    }

    fn request(op: &CommitCall) -> (&'static str, Value) {
        match *op {
            CommitCall::Begin(transaction) => (
                "begin",
                Value::from_iter([Value::from(transaction as u64), (0..SITES).map(Value::from).collect()]),
            ),
            CommitCall::Vote(transaction, site, yes) => (
                "vote",
                Value::from_iter([
                    Value::from(transaction as u64),
                    Value::from(site),
                    Value::from(if yes { "yes" } else { "no" }),
                ]),
            ),
            CommitCall::Decided(transaction, site) => (
                "decided",
                Value::from_iter([Value::from(transaction as u64), Value::from(site)]),
            ),
        }
    }

    fn apply(&mut self, _: usize, op: &CommitCall) -> Option<Completion> {
        match *op {
            CommitCall::Begin(_) => {}
            CommitCall::Vote(transaction, site, yes) => {
                let transaction = &mut self.all[transaction];
                transaction.yes |= u32::from(yes) << site;
                if transaction.committed.is_none() && (!yes || transaction.yes.count_ones() == SITES) {
                    transaction.committed = Some(yes);
                }
            }
            CommitCall::Decided(number, site) => {
                let transaction = &mut self.all[number];
                if transaction.committed.is_none() && transaction.doubtful {
                    transaction.committed = Some(false);
                }
                return transaction.committed.map(|commit| decision(number, site, commit));
            }
        }
        Some(Completion::Ok(Self::request(op).1))
    }

    fn receive(&mut self, _: usize, op: &CommitCall, answer: Option<&Completion>) {
        if let (CommitCall::Vote(transaction, ..), None) = (op, answer) {
            self.all[*transaction].doubtful = true;
        }
    }

    fn may_be_late(&self, op: &CommitCall) -> bool {
        matches!(op, CommitCall::Vote(..))
    }

    fn plant_by(clients: &mut GeneratedClients<Self>, client: usize, _: bool) -> bool {
        for (site, commit) in [(0, true), (1, false)] {
            clients.at_once(client, &CommitCall::Decided(0, site), &decision(0, site, commit));
        }
        true
    }
}

/// The answer with a decision to a site.
fn decision(transaction: usize, site: u32, commit: bool) -> Completion {
    Completion::Ok(Value::from_iter([
        Value::from(transaction as u64),
        Value::from(site),
        Value::from(if commit { "commit" } else { "abort" }),
    ]))
}
