//! Control requests: `confirm` while clients believe that they hold in ways that exclude each other and before what a
//! fault may have cost is given back, `quiesce` around recovery and audit, `view` while nothing changes.

use super::Clients;
use super::worker::Worker;
use crate::context::{Deadline, RunContext};
use crate::effect::{Effect, HistoryEntry, Question, ShellAnswer};
use crate::operation::Completion;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use zooquake_history::operation::control::{HOLDS, RunningNotice, ZNODES, f};
use zooquake_history::operation::membership::REGISTERED;
use zooquake_history::{EventType, node};

/// Longest wait for the answers to a `quiesce` around recovery and audit.
pub const QUIESCE: Duration = Duration::from_secs(10);

/// A control request that was answered.
#[derive(Debug)]
pub(super) struct ControlRequest {
    pub client: usize,
    pub id: u64,
    pub f: &'static str,
}

impl Clients {
    /// While holds have not ended that exclude each other, every client that believes to hold is asked, again and
    /// again; and one whose release waits for that.
    pub(super) fn confirm_holders(&mut self, run: &mut RunContext) {
        let due = |number: &usize| self.holds.confirm_due(*number, run.now) <= run.now;
        let due: Vec<usize> = self.to_confirm().filter(due).collect();
        for number in due {
            self.holds.confirm(number, run.now);
            self.ask_control(run, number, f::CONFIRM);
        }
    }

    /// The clients that have to confirm and can be asked.
    fn to_confirm(&self) -> impl Iterator<Item = usize> + '_ {
        let can = |worker: &Worker| worker.process.connected && !worker.was_asked(f::CONFIRM);
        self.holds
            .to_confirm()
            .filter(move |number| can(&self.workers[*number]))
    }

    /// The moment at which a client has to be asked again.
    pub(super) fn confirm_due(&self, run: &RunContext) -> Option<Duration> {
        self.to_confirm()
            .map(|number| self.holds.confirm_due(number, run.now))
            .min()
    }

    /// Sends a control request and returns its number.
    pub fn ask_control(&mut self, run: &mut RunContext, number: usize, f: &'static str) -> u64 {
        let id = self.request_id();
        self.workers[number].send_control(run, id, f);
        id
    }

    /// A control request was answered.
    pub(super) fn complete_control(&mut self, run: &mut RunContext, request: &ControlRequest, end: Completion) {
        let &ControlRequest { client, id, f } = request;
        let kind = end.kind;
        let holds_nothing = kind == EventType::Ok && HOLDS.read_from(&end.value) == Some(false);
        if f == f::VIEW {
            let worker = &mut self.workers[client];
            let first = worker.views.map_or(worker.view_sent, |(first, _)| first);
            worker.views = (kind == EventType::Ok).then_some((first, worker.view_sent));
            if kind == EventType::Ok {
                self.viewed(run, client, end.value.clone());
            }
        }
        if self.workers[client].quiesce == Some(id) && kind != EventType::Ok {
            let outcome = if kind == EventType::Fail { "fail" } else { "info" };
            let error = end.error.as_deref().map(|error| format!(": {error}"));
            self.workers[client].quiesce_error = Some(format!("answered `{outcome}`{}", error.unwrap_or_default()));
        }
        let named = end.get(ZNODES).map_or(0, |znodes| znodes.len());
        self.workers[client].record_control(run, f, kind, end.value, end.error);
        if f == f::CONFIRM {
            self.confirmed(run, request, kind, holds_nothing);
        }
        let worker = &mut self.workers[client];
        // An answer to an earlier one is no evidence of now.
        if kind == EventType::Ok && worker.quiesce == Some(id) {
            worker.quiesced = true;
            worker.named = named;
        }
    }

    /// A client has answered its view of the group. One that is no member registers again.
    fn viewed(&mut self, run: &RunContext, client: usize, answer: Value) {
        let no_member = REGISTERED.read_from(&answer).is_none_or(Value::is_null);
        let worker = &mut self.workers[client];
        worker.view = Some(answer);
        if no_member && worker.op.is_none() {
            self.generator.is_no_member(client);
            worker.due = Some(run.now);
        }
    }

    fn confirmed(&mut self, run: &RunContext, request: &ControlRequest, kind: EventType, holds_nothing: bool) {
        let &ControlRequest { client, id, .. } = request;
        self.workers[client].last_confirm = Some(kind);
        // An answer to a request from before the grant was read is not about it.
        if holds_nothing && self.holds.is_about_grant(client, id) {
            return self.end_hold(run, client);
        }
        let goes_on = self.holds.owes(client, id)
            && match kind {
                EventType::Ok => self.holds.settle(client),
                EventType::Info => self.holds.could_not_confirm(client),
                EventType::Fail | EventType::Invoke => false,
            };
        if goes_on {
            self.workers[client].due = Some(run.now);
        }
    }

    /// A window was seen to be healed: every client that holds has to confirm.
    pub fn owe_confirms(&mut self, run: &RunContext) {
        self.holds.owe_confirms(run, self.last_request);
    }

    /// Asks every living client to quiesce that can answer now.
    pub fn ask_quiesce(&mut self, run: &mut RunContext) {
        for number in 0..self.workers.len() {
            let worker = &mut self.workers[number];
            worker.quiesced = false;
            worker.named = 0;
            worker.quiesce = None;
            worker.quiesce_error = None;
            if worker.process.connected && worker.answers() {
                let id = self.ask_control(run, number, f::QUIESCE);
                self.workers[number].quiesce = Some(id);
            }
        }
    }

    /// A client that cannot answer a `quiesce` was seen running.
    fn seen_running(&mut self, run: &mut RunContext, number: usize, detail: String) {
        let worker = &mut self.workers[number];
        worker.quiesced = true;
        run.record(HistoryEntry::of_client(
            &worker.node,
            "running",
            json!(RunningNotice { detail }),
        ));
    }

    /// Whether every client has answered, or was seen running.
    pub fn all_quiesced(&self) -> bool {
        self.workers.iter().all(|worker| worker.quiesced)
    }

    /// Who has not answered the `quiesce` sent last, in words.
    pub fn silent(&self, limit: Duration) -> Option<String> {
        let silent = self.workers.iter().filter(|worker| !worker.quiesced);
        let (answered, silent): (Vec<&Worker>, Vec<&Worker>) =
            silent.partition(|worker| worker.quiesce_error.is_some());
        let ms = limit.as_millis();
        let names = node::join(silent.iter().map(|worker| &worker.node), ", ");
        let silent = (!names.is_empty()).then(|| format!("{names} did not answer quiesce within {ms} ms"));
        let of = |worker: &&Worker| {
            let error = worker.quiesce_error.as_deref().unwrap_or_default();
            format!("{} has not come to rest: its quiesce was {error}", worker.node)
        };
        let all: Vec<String> = silent.into_iter().chain(answered.iter().map(of)).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// A `quiesce` to every client, and a look at those that cannot answer it now.
#[derive(Debug)]
pub struct QuiesceRound {
    /// Clients still to be looked at; the first one is being looked at.
    unseen: VecDeque<usize>,
    /// The time for which answers are waited for, once all of those were looked at.
    limit: Duration,
    /// The end of that time; `None` while clients are being looked at.
    pub until: Option<Deadline>,
}

impl QuiesceRound {
    /// Asks every client, and looks whether those run that cannot answer now.
    pub fn begin(run: &mut RunContext, clients: &mut Clients, limit: Duration) -> Self {
        clients.ask_quiesce(run);
        let workers = clients.workers.iter();
        let unasked = workers.filter(|worker| worker.process.connected && !worker.answers());
        let mut round = Self {
            unseen: unasked.map(|worker| worker.number).collect(),
            limit,
            until: None,
        };
        round.look_at_next(run);
        round
    }

    fn look_at_next(&mut self, run: &mut RunContext) {
        match self.unseen.front() {
            Some(&number) => run.emit(Effect::Ask(Question::Runs(number))),
            None => self.until = Some(run.deadline(self.limit)),
        }
    }

    /// Takes what was seen of the client that is looked at, if the answer is about that; records what was seen of one
    /// that runs.
    pub fn take(&mut self, run: &mut RunContext, clients: &mut Clients, answer: Option<ShellAnswer>) {
        let Some(ShellAnswer::Running(seen)) = answer else {
            return;
        };
        let Some(number) = self.unseen.pop_front() else {
            return;
        };
        match seen {
            Ok(detail) => clients.seen_running(run, number, detail),
            Err(error) => run.say(format!("{}: {error}", clients.workers[number].node)),
        }
        self.look_at_next(run);
    }

    /// Whether every client has answered in time, or who has not; `None` while some may yet.
    pub fn outcome(&self, run: &RunContext, clients: &Clients) -> Option<Result<(), String>> {
        let until = self.until?;
        let over = run.interrupted || clients.all_quiesced() || run.passed(until);
        over.then(|| clients.silent(self.limit).map_or(Ok(()), Err))
    }
}
