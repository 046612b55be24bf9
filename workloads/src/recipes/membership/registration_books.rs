//! What a client is to be a member as, what it is known to be one as, and the request that brings the one to the other.

use std::sync::Arc;

use super::OwnMember;
use crate::recipes::bug::Bug;
use crate::recipes::{Env, OwnZnode};
use crate::zk::Zk;

/// What a client is to be a member as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedMember {
    /// The name of the member.
    pub member: String,
    pub value: i64,
    /// The value that it registered with.
    pub first: i64,
}

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationStep {
    /// The entry is to be created.
    Create(WantedMember),
    /// This entry is to have this value.
    Write(OwnMember, i64),
    /// The znode of this member is to go.
    Delete(String),
}

/// The books of one client.
#[derive(Default)]
pub struct RegistrationBooks {
    /// The session; `None` while there is none.
    pub session: Option<Arc<dyn Zk>>,
    /// What it is to be a member as; `None` if it is to be none.
    pub wanted: Option<WantedMember>,
    /// The entry that it is known to have.
    pub own: Option<OwnMember>,
    /// The name of an entry that the session may have: the create of it was sent, and no answer is known.
    pub unsure: Option<String>,
    /// What the last delete removed for certain.
    pub removed: Option<OwnZnode>,
    /// Why ZooKeeper refused the last request.
    pub refused: Option<String>,
    /// Whether an operation waits for the end of it.
    pub attended: bool,
}

impl RegistrationBooks {
    /// The next request; `None` if the client is what it is to be.
    pub fn step(&self) -> Option<RegistrationStep> {
        use RegistrationStep::{Create, Delete, Write};
        match (&self.wanted, &self.own) {
            (Some(wanted), Some(own)) if own.member == wanted.member => {
                let write = || Write(own.clone(), wanted.value);
                (own.value != Some(wanted.value)).then(write)
            }
            (_, Some(own)) => Some(Delete(own.member.clone())),
            (Some(wanted), None) => match &self.unsure {
                Some(other) if *other != wanted.member => Some(Delete(other.clone())),
                _ => Some(Create(wanted.clone())),
            },
            (None, None) => self.unsure.clone().map(Delete),
        }
    }

    /// The entry, if it is as it is to be.
    pub fn reached(&self) -> Option<OwnMember> {
        let own = self.own.clone();
        own.filter(|own| self.wanted.is_some() && self.step().is_none() && self.is_session(own.session))
    }

    /// Whether this is the session that the client has.
    pub fn is_session(&self, session: i64) -> bool {
        self.session.as_ref().is_some_and(|zk| zk.session() == session)
    }

    /// The session is over, and its znode goes with it.
    pub fn end(&mut self, env: &Env) {
        (self.session, self.unsure) = (None, None);
        if !env.has(Bug::NotRegisteredAgain) {
            self.own = None;
        }
        // The planted G5 has forgotten the updates.
        if let Some(wanted) = self.wanted.as_mut().filter(|_| env.has(Bug::FirstValueAgain)) {
            wanted.value = wanted.first;
        }
    }

    /// This entry is there.
    pub fn made(&mut self, own: OwnMember) {
        if self.is_session(own.session) {
            (self.own, self.unsure) = (Some(own), None);
        }
    }

    /// The entry of this session is not there any more. `removed` by a delete of this client's for certain.
    pub fn gone(&mut self, session: i64, removed: bool) {
        if self.is_session(session) {
            let own = self.own.take();
            (self.removed, self.unsure) = (own.filter(|_| removed).as_ref().map(OwnMember::znode), None);
        }
    }
}
