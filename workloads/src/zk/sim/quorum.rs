//! The messages between leader and learners, and the election of a leader.

use std::time::Duration;

use super::ensemble::{DueEvent, Ensemble};
use super::leader::Learner;
use super::server::Role;
use super::wire::{ConnectionMessage, NodeId};

/// How often a server that looks for a leader counts votes again.
const RECOUNT: Duration = Duration::from_millis(50);

impl Ensemble {
    /// Whether two servers reach each other both ways, and both act.
    fn hear_each_other(&self, one: NodeId, other: NodeId) -> bool {
        let acts = |node: NodeId| self.servers[node].runs() && !self.nodes[node].frozen;
        acts(one) && acts(other) && !self.is_cut(one, other) && !self.is_cut(other, one)
    }

    /// The voters that look for a leader and exchange votes with this server, itself among them if it votes.
    fn lookers(&self, server: usize) -> Vec<usize> {
        let looks = |other: &usize| {
            let looker = &self.servers[*other];
            looker.votes && matches!(looker.role, Role::Looking) && self.hear_each_other(server, *other)
        };
        (0..self.servers.len()).filter(looks).collect()
    }

    /// The best candidate among the voters that exchange votes with a server: by epoch, then by its log, then by its
    /// number.
    fn candidate(&self, server: usize) -> Option<usize> {
        let vote = |other: &usize| {
            let candidate = &self.servers[*other];
            (candidate.current_epoch, candidate.last_logged(), *other)
        };
        self.lookers(server).into_iter().max_by_key(vote)
    }

    /// Counts votes: the server follows who leads already, or leads if a majority takes it for the best candidate.
    pub(super) fn look(&mut self, server: usize, turn: u64) {
        if self.servers[server].turn != turn {
            return;
        }
        let leads = |other: &usize| {
            matches!(self.servers[*other].role, Role::Leading(_)) && self.hear_each_other(server, *other)
        };
        let leader = (0..self.servers.len())
            .filter(leads)
            .max_by_key(|leader| self.servers[*leader].current_epoch);
        if let Some(leader) = leader {
            self.follow(server, leader);
            return;
        }
        if self.servers[server].votes && self.candidate(server) == Some(server) {
            let mut supporters = self.lookers(server);
            supporters.retain(|other| *other != server && self.candidate(*other) == Some(server));
            if supporters.len() + 1 >= self.majority() {
                self.lead(server, supporters);
                return;
            }
        }
        self.after(RECOUNT, DueEvent::Look(server, turn));
    }

    /// A leader hears a learner.
    pub(super) fn hear_learner(&mut self, leader: usize, learner: usize, wire: usize, message: ConnectionMessage) {
        if let ConnectionMessage::Follow {
            accepted, log, zxid, ..
        } = message
        {
            self.welcome(leader, learner, (wire, accepted), (log, zxid));
            return;
        }
        let now = self.now();
        let Some(leading) = self.leading(leader) else { return };
        let Some(known) = leading.learners.get_mut(&learner).filter(|known| known.wire == wire) else {
            return;
        };
        known.heard = now;
        match message {
            ConnectionMessage::Fin => {
                leading.learners.remove(&learner);
                self.close(wire, 1);
            }
            ConnectionMessage::InSync => {
                known.in_sync = true;
                if leading.established {
                    self.send(wire, 1, ConnectionMessage::UpToDate);
                } else {
                    self.establish_if_supported(leader);
                }
            }
            ConnectionMessage::Ack(zxid) => self.acknowledged(leader, learner, zxid),
            ConnectionMessage::Forward(origin, session, write) => {
                // The client waits for the commit.
                let _ = self.prepare(leader, session, write, Some(origin));
            }
            ConnectionMessage::AskSync(origin) => self.sync(leader, origin),
            ConnectionMessage::Revalidate(client, session) => {
                let timeout = leading.tracker.take_over(session, learner, now);
                self.send(wire, 1, ConnectionMessage::Revalidated(client, session, timeout));
            }
            ConnectionMessage::Touched(sessions) => sessions.into_iter().for_each(|session| {
                leading.tracker.touch(session, now);
            }),
            // Nothing else comes from a learner.
            _ => {}
        }
    }

    /// A learner comes with the end of its log, and gets what it lacks.
    fn welcome(&mut self, leader: usize, learner: usize, (wire, accepted): (usize, i64), (length, last): (usize, i64)) {
        let (now, majority) = (self.now(), self.majority());
        let votes = self.servers[learner].votes;
        let own = self.servers[leader].accepted_epoch;
        let Some(leading) = self.leading(leader) else {
            self.close(wire, 1);
            return;
        };
        if votes {
            leading.promised.insert(learner, accepted);
        }
        let heard = now;
        let known = Learner {
            wire,
            in_sync: false,
            heard,
            log: (length, last),
        };
        let before = leading.learners.insert(learner, known);
        let stale = before.map(|before| before.wire);
        if leading.epoch == 0 && leading.promised.len() + 1 >= majority {
            leading.epoch = leading.promised.values().copied().fold(own, i64::max) + 1;
            let epoch = leading.epoch;
            let waiting: Vec<usize> = leading.learners.keys().copied().collect();
            self.servers[leader].accepted_epoch = epoch;
            waiting
                .into_iter()
                .for_each(|learner| self.synchronise(leader, learner));
        } else if leading.epoch != 0 {
            self.synchronise(leader, learner);
        }
        if let Some(stale) = stale.filter(|stale| *stale != wire) {
            self.close(stale, 1);
        }
    }

    /// Sends a learner what it lacks of the log, or the whole tree where its log went another way.
    fn synchronise(&mut self, leader: usize, learner: usize) {
        let server = &self.servers[leader];
        let Role::Leading(leading) = &server.role else { return };
        let Some(known) = leading.learners.get(&learner) else {
            return;
        };
        let (wire, epoch, (length, last)) = (known.wire, leading.epoch, known.log);
        let ends_alike = length == 0 || server.log.get(length - 1).is_some_and(|txn| txn.zxid == last);
        let (message, proposed) = if ends_alike {
            let diff = ConnectionMessage::Diff(epoch, server.log[length..].to_vec(), server.applied);
            (diff, Vec::new())
        } else {
            let (committed, proposed) = server.log.split_at(server.applied);
            let tree = Box::new(server.tree.clone());
            let snapshot = ConnectionMessage::Snapshot(epoch, committed.to_vec(), tree);
            (snapshot, proposed.to_vec())
        };
        self.send(wire, 1, message);
        for txn in proposed {
            self.send(wire, 1, ConnectionMessage::Propose(txn));
        }
    }

    /// A learner hears its leader.
    pub(super) fn hear_leader(&mut self, server: usize, wire: usize, message: ConnectionMessage) {
        let now = self.now();
        let learner = &mut self.servers[server];
        let Role::Following(following) = &mut learner.role else {
            return;
        };
        if following.wire != wire {
            return;
        }
        following.heard = now;
        match message {
            ConnectionMessage::Fin => self.look_for_leader(server),
            ConnectionMessage::Diff(epoch, missing, committed) => {
                if learner.log.is_empty() {
                    learner.snapshot = committed.min(missing.len());
                }
                learner.log.extend(missing);
                let acks: Vec<i64> = learner.log[committed.min(learner.log.len())..]
                    .iter()
                    .map(|txn| txn.zxid)
                    .collect();
                self.take_epoch(server, epoch, committed);
                acks.into_iter()
                    .for_each(|zxid| self.send(wire, 0, ConnectionMessage::Ack(zxid)));
            }
            ConnectionMessage::Snapshot(epoch, log, tree) => {
                // As ZooKeeper does then, it cuts off of its log what the leader does not have, and logs the rest of
                // the leader's.
                let common = learner
                    .log
                    .iter()
                    .zip(&log)
                    .take_while(|(own, other)| own.zxid == other.zxid);
                learner.snapshot = learner.snapshot.min(common.count());
                (learner.applied, learner.log, learner.tree) = (log.len(), log, *tree);
                let committed = learner.applied;
                self.take_epoch(server, epoch, committed);
            }
            ConnectionMessage::UpToDate => {
                following.serves = true;
                let began = learner.current_epoch << 32;
                learner.tree.zxid = learner.tree.zxid.max(began);
                self.changed();
            }
            ConnectionMessage::Propose(txn) => {
                let zxid = txn.zxid;
                learner.log.push(txn);
                self.send(wire, 0, ConnectionMessage::Ack(zxid));
            }
            // What was committed when the learner came has been applied already.
            ConnectionMessage::Commit(zxid) if learner.log.get(learner.applied).is_some_and(|txn| txn.zxid == zxid) => {
                self.apply_next(server);
            }
            ConnectionMessage::Inform(txn) => {
                if txn.zxid > learner.last_logged() {
                    learner.log.push(txn);
                }
                self.apply_next(server);
            }
            ConnectionMessage::Heartbeat => {
                let touched = std::mem::take(&mut learner.touched).into_iter().collect();
                self.send(wire, 0, ConnectionMessage::Touched(touched));
            }
            ConnectionMessage::Synced(origin) => self.done(server, origin, None),
            ConnectionMessage::Revalidated(client, session, timeout) => {
                self.revalidated(server, client, session, timeout)
            }
            // Nothing else comes from a leader.
            _ => {}
        }
    }

    /// A learner has the leader's log.
    fn take_epoch(&mut self, server: usize, epoch: i64, committed: usize) {
        while self.servers[server].applied < committed.min(self.servers[server].log.len()) {
            self.apply_next(server);
        }
        let learner = &mut self.servers[server];
        (learner.accepted_epoch, learner.current_epoch) = (epoch, epoch);
        if let Role::Following(following) = &learner.role {
            let wire = following.wire;
            self.send(wire, 0, ConnectionMessage::InSync);
        }
    }

    /// Applies the next transaction of a server's log: watches fire, sessions end, and who waits for it here is
    /// answered.
    pub(super) fn apply_next(&mut self, server: usize) {
        let applying = &mut self.servers[server];
        let Some(txn) = applying.log.get(applying.applied).cloned() else {
            return;
        };
        applying.applied += 1;
        applying.tree.zxid = txn.zxid;
        let mut fired = Vec::new();
        for change in &txn.changes {
            applying.tree.apply(change);
            fired.extend(applying.watches.fire(change));
        }
        for (wire, path, event) in fired {
            self.send(wire, 1, ConnectionMessage::Event(path, event));
        }
        if let Some(origin) = txn.origin.filter(|origin| origin.server == server) {
            self.done(server, origin, Some(&txn));
        }
        self.end_session_of(server, &txn);
        self.changed();
    }
}
