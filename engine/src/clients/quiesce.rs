//! A round of `quiesce`: every client is asked for an answer, and those that cannot answer now are looked at.

use super::Clients;
use crate::context::{Deadline, RunContext};
use crate::effect::{Effect, Question};
use crate::shell_answer::ShellAnswer;
use std::collections::VecDeque;
use std::time::Duration;

/// Longest wait for the answers to a `quiesce` around recovery and audit.
pub const QUIESCE: Duration = Duration::from_secs(10);

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
            Err(error) => run.say(format!("{}: {error}", clients.workers[number].name)),
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
