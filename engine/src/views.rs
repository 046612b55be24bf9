//! Views: while nothing changes all clients are asked what they show of the group, again and again for the bound of
//! liveness: once before the last operations, some being no members, and once after them.
//! `docs/families/membership.md`.

use super::clients::Clients;
use super::clients::worker::Worker;
use super::context::{Deadline, RunContext};
use super::effect::{Effect, Question, ShellAnswer};
use super::generator::GeneratorPhase;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use zooquake_history::evidence::Reading;
use zooquake_history::operation::membership::{MEMBERS, REGISTERED, VIEW};
use zooquake_history::operation::{CZXID, MZXID, PATH, control};

/// The time between two questions to a client.
const EVERY: Duration = Duration::from_millis(250);

/// What the engine waits beyond the bound, so that the checkers, which compute it from the history, find it reached.
const BEYOND: Duration = Duration::from_secs(1);

/// The longest that clients are asked, in bounds, where answers come late.
const PATIENCE: u32 = 3;

/// Questions for views on their way, after a reading of the tree.
#[derive(Debug)]
pub struct Views {
    moment: ViewsMoment,
    bound: Duration,
    step: ViewsStep,
}

/// When clients are asked for their views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewsMoment {
    /// Before the last operations: the group is what the faults have left of it.
    Calm,
    /// After the last operations: every client is to be a member.
    End,
}

#[derive(Debug)]
enum ViewsStep {
    /// The tree is being read.
    Reading,
    /// Clients are asked again at the first moment; it ends at the second one if the answers of each span the bound,
    /// and at the third one whatever they do.
    Asking(Reading, Deadline, Deadline, Deadline),
    /// The tree is being read again.
    ReadingAgain(Reading),
}

/// An entry of the group: path, czxid and mzxid.
type Entry = (String, i64, i64);

impl Views {
    /// Reads the tree, before clients are asked for the bound of liveness.
    pub fn begin(run: &mut RunContext, clients: &mut Clients, moment: ViewsMoment) -> Self {
        match moment {
            ViewsMoment::Calm => clients.enter(run, "calm", GeneratorPhase::Quiet),
            ViewsMoment::End => clients.enter(run, "views", GeneratorPhase::Final),
        }
        run.emit(Effect::Ask(Question::Tree));
        let bound = clients.bound();
        Self {
            moment,
            bound: bound + BEYOND,
            step: ViewsStep::Reading,
        }
    }

    /// The moment at which it has to be looked at, if nothing happens before.
    pub fn due(&self) -> Option<Deadline> {
        match &self.step {
            ViewsStep::Reading | ViewsStep::ReadingAgain(_) => None,
            ViewsStep::Asking(_, next, ..) => Some(*next),
        }
    }

    /// Goes on until it has to wait; once it is over, returns the reading before the questions and, of a calm, the one
    /// after them, or the reason why the tree was not read.
    pub fn advance(
        &mut self,
        run: &mut RunContext,
        clients: &mut Clients,
        answer: &mut Option<ShellAnswer>,
    ) -> Option<Result<Vec<Reading>, String>> {
        match (&mut self.step, answer.take()) {
            (ViewsStep::Reading | ViewsStep::ReadingAgain(_), Some(ShellAnswer::Tree(Err(why)))) => {
                return Some(Err(why));
            }
            (ViewsStep::ReadingAgain(first), Some(ShellAnswer::Tree(Ok(second)))) => {
                return Some(Ok(vec![std::mem::take(first), second]));
            }
            (ViewsStep::Reading, Some(ShellAnswer::Tree(Ok(reading)))) => {
                clients.forget_views();
                let until = run.deadline(self.bound);
                let at_last = run.deadline(self.bound * PATIENCE);
                self.step = ViewsStep::Asking(reading, run.deadline(Duration::ZERO), until, at_last);
            }
            _ => {}
        }
        let ViewsStep::Asking(reading, next, until, at_last) = &mut self.step else {
            return None;
        };
        let asked = run.passed(*until) && clients.views_span(self.bound - BEYOND) || run.passed(*at_last);
        let over = run.interrupted || asked || clients.all_show(&entries(run, reading), self.moment);
        if over {
            let reading = std::mem::take(reading);
            if self.moment == ViewsMoment::End {
                return Some(Ok(vec![reading]));
            }
            run.emit(Effect::Ask(Question::Tree));
            self.step = ViewsStep::ReadingAgain(reading);
            return None;
        }
        if run.passed(*next) {
            *next = run.deadline(EVERY);
            clients.ask_views(run);
        }
        None
    }
}

/// The entries of the group in the tree: the children of the plan's parents of contenders.
fn entries(run: &RunContext, reading: &Reading) -> BTreeSet<Entry> {
    let parents = &run.plan.workload.contenders;
    let is_child = |path: &str| {
        let parent = path.rsplit_once('/').map(|(parent, _)| parent);
        parents.iter().any(|of| parent == Some(of.as_str()))
    };
    let children = reading.znodes.iter().filter(|znode| is_child(&znode.path));
    children
        .map(|znode| (znode.path.clone(), znode.czxid, znode.mzxid))
        .collect()
}

/// The entries that an answer to `view` shows; `None` if it shows none, or not all of each.
fn shown(answer: &Value) -> Option<BTreeSet<Entry>> {
    let members = MEMBERS.read_from(VIEW.read_from(answer)?)?.as_array()?;
    let entry = |member: &Value| {
        let path = PATH.read_from(member)?.to_owned();
        Some((path, CZXID.read_from(member)?, MZXID.read_from(member)?))
    };
    members.iter().map(entry).collect()
}

/// Whether the entry by which a client believes to be a member is one of these; in a calm it may be none.
fn has_own(answer: &Value, entries: &BTreeSet<Entry>, moment: ViewsMoment) -> bool {
    let own = REGISTERED.read_from(answer);
    if moment == ViewsMoment::Calm && own.is_some_and(Value::is_null) {
        return true;
    }
    let own = own.and_then(|own| Some((PATH.read_from(own)?, CZXID.read_from(own))));
    own.is_some_and(|(path, czxid)| {
        let is = |(there, created, _): &Entry| there == path && czxid.is_none_or(|czxid| czxid == *created);
        entries.iter().any(is)
    })
}

impl Clients {
    /// Forgets the views that were answered before.
    fn forget_views(&mut self) {
        for worker in &mut self.workers {
            (worker.view, worker.views) = (None, None);
        }
    }

    /// Whether the last answers of each client that runs are to requests that span this time. One whose last answer was
    /// not `ok` is waited for no longer.
    fn views_span(&self, bound: Duration) -> bool {
        let spans = |worker: &Worker| worker.views.is_none_or(|(first, last)| last - first >= bound);
        self.workers.iter().filter(|worker| worker.process.runs()).all(spans)
    }

    /// Asks each client for its view that can answer and was answered the last time.
    fn ask_views(&mut self, run: &mut RunContext) {
        for number in 0..self.workers.len() {
            let worker = &self.workers[number];
            if worker.process.connected && worker.answers() && !worker.was_asked(control::f::VIEW) {
                self.workers[number].view_sent = run.now;
                self.ask_control(run, number, control::f::VIEW);
            }
        }
    }

    /// Whether every client is idle, and has last answered that it shows just these entries, its own among them.
    fn all_show(&self, entries: &BTreeSet<Entry>, moment: ViewsMoment) -> bool {
        self.workers.iter().all(|worker| {
            let answer = worker.view.as_ref().filter(|_| worker.op.is_none());
            answer.is_some_and(|answer| shown(answer).as_ref() == Some(entries) && has_own(answer, entries, moment))
        })
    }
}
