//! What the ends of operations mean for a transaction.

use super::Commit;
use super::duty::CommitDuty;
use crate::operation::{Completion, PendingOp};
use zooquake_history::EventType;
use zooquake_history::operation::commit;

impl Commit {
    /// A client reported the decision.
    pub(super) fn decided(&mut self, tx: &str) {
        self.parties.iter_mut().for_each(|party| party.queries.decided(tx));
    }

    /// The site is not asked about a transaction any more.
    pub(super) fn reported(&mut self, client: usize, tx: &str) {
        let party = &mut self.parties[client];
        party.unreported.retain(|other| other != tx);
        party.queries.forget(tx);
    }

    /// The last transaction, by its answers, never began: there is to be another one, and nobody is asked about
    /// this one any more.
    fn give_up(&mut self) {
        let tx = self.name();
        (self.void, self.last_begun) = (true, false);
        for client in 0..self.parties.len() {
            self.reported(client, &tx);
            if !self.parties[client].busy {
                self.parties[client].duty = CommitDuty::Done;
            }
        }
    }

    /// What has become of the coordinator's `begin` or `decide`.
    pub(super) fn coordinated(&mut self, op: &PendingOp, end: &Completion, last: bool) {
        match op.f {
            commit::f::BEGIN if end.kind == EventType::Fail => {
                self.parties[0].duty = CommitDuty::Done;
                let tx = end.get(commit::TX).map_or_else(|| self.name(), str::to_string);
                // Nobody is asked at the end about a transaction that never was.
                (0..self.parties.len()).for_each(|client| self.reported(client, &tx));
                if last {
                    self.give_up();
                }
            }
            commit::f::BEGIN => {
                if end.is_ok() {
                    self.sure.insert(self.name());
                }
                self.parties[0].duty = CommitDuty::Decide;
            }
            _ if end.is_ok() => {
                self.decided(&self.name());
                self.parties[0].duty = CommitDuty::Done;
            }
            // Whatever the decision is, every site is to report it in the end, unless there is nothing to decide.
            _ if last && (self.sure.contains(&self.name()) || !self.all_voted()) => {}
            _ if last => self.give_up(),
            _ => self.parties[0].duty = CommitDuty::Done,
        }
    }

    /// What has become of a site's `vote` or `decided`.
    pub(super) fn answered(&mut self, client: usize, op: &PendingOp, end: &Completion, last: bool) {
        match op.f {
            commit::f::VOTE if end.is_ok() => {
                self.sure.insert(self.name());
                self.parties[client].duty = CommitDuty::Decided(0);
            }
            commit::f::DECIDED if end.is_ok() => {
                self.decided(&self.name());
                self.reported(client, &self.name());
                self.parties[client].duty = CommitDuty::Done;
            }
            _ => self.parties[client].duty.missed(end.kind == EventType::Fail),
        }
        // At the end it is one question among others.
        if last && matches!(self.parties[client].duty, CommitDuty::Decided(_)) {
            let tx = self.name();
            self.parties[client].duty = CommitDuty::Done;
            self.parties[client].queries.first(&tx, self.sure.contains(&tx));
        }
    }
}
