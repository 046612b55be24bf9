//! Events outside of operations that concern grants: reports of clients that they hold or no longer hold, and the ends
//! of their processes.

use super::{Grants, HoldContradiction, HolderAnswer};
use crate::analysis::ops;
use std::collections::BTreeSet;
use zooquake_history::operation::control::f;
use zooquake_history::{Event, EventType};

impl<'a> Grants<'a> {
    /// Takes note of a client that refused a request because it holds no more; `asked` names the grant if it is certain
    /// which request it refused.
    pub(super) fn not_held(&mut self, event: &'a Event, at: usize, asked: Option<&'a str>) {
        let error = event.error.as_deref().unwrap_or_default();
        if event.kind != EventType::Fail || !error.starts_with("not-held") {
            return;
        }
        let node = ops::node(event);
        match event.grant().or(asked) {
            Some(name) => {
                let known = self.by_name.get(name).copied();
                let own = known.filter(|&grant| self.all[grant].node == node && self.all[grant].read.is_some());
                own.into_iter().for_each(|grant| self.beliefs.denied(grant, at));
            }
            None => self.beliefs.denied_any(node, at),
        }
    }

    pub(super) fn control(&mut self, event: &'a Event, at: usize, sent: Option<usize>) {
        let node = ops::node(event);
        match (event.f.as_str(), event.kind) {
            ("exit", EventType::Info) => {
                self.beliefs.exited(node, at);
                for (_, grant) in self.open.remove(node).unwrap_or_default() {
                    self.all[grant].end.get_or_insert(at);
                }
            }
            ("lost", EventType::Info) => {
                let known = event.grant().and_then(|name| self.by_name.get(name).copied());
                if event.grant().is_none() {
                    self.beliefs.denied_any(node, at);
                }
                if let Some(grant) = known.filter(|&grant| self.all[grant].node == node) {
                    self.beliefs.denied(grant, at);
                    if self.all[grant].read.is_some() {
                        self.end(grant, at);
                    }
                }
            }
            (f::CONFIRM, EventType::Invoke) => self.beliefs.asked(node, at),
            (f::CONFIRM, EventType::Ok) => self.confirm(event, at, sent),
            _ => {}
        }
    }

    fn confirm(&mut self, event: &'a Event, at: usize, sent: Option<usize>) {
        let node = ops::node(event);
        match event.holds() {
            Some(true) => {
                let known = event.grant().and_then(|name| self.by_name.get(name).copied());
                if let Some(grant) = known.filter(|&grant| self.all[grant].node == node) {
                    self.holds(grant, at, sent);
                }
            }
            Some(false) => {
                self.beliefs.disclaimed(node, at, sent);
                // An answer to a request sent before a grant was read may be older than the grant.
                let older = |open: &BTreeSet<(usize, usize)>| open.range(..(sent?, 0)).next().copied();
                while let Some((_, grant)) = self.open.get(node).and_then(older) {
                    self.end(grant, at);
                }
            }
            None => {}
        }
    }

    /// The client answered that it holds by this grant of its own, to a `confirm` sent at `sent`, if that is certain.
    fn holds(&mut self, number: usize, at: usize, sent: Option<usize>) {
        let grant = &mut self.all[number];
        if let Some(denial) = self.beliefs.denial(number, grant) {
            let contradiction = HoldContradiction {
                confirm: at,
                grant: number,
                denial,
            };
            return self.contradictions.push(contradiction);
        }
        let released = grant
            .release
            .is_some_and(|release| self.beliefs.asked_after(grant.node, release));
        if let (Some(sent), Some(read)) = (sent, grant.read)
            && sent > read
            && !released
            && !grant.release_unasked
        {
            grant.confirms.push(HolderAnswer { sent, read: at });
            grant.answers.push(HolderAnswer { sent, read: at });
        }
    }
}
