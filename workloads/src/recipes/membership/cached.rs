//! The group of a client that sees each last change and is a member again after its session has ended. Under any fault
//! one task brings its entry to what was asked for last.
//!
//! A request whose outcome is unknown is sent again as it was. A second create finds the znode of the first one, whose
//! owner is the client's own session; a second setData of the same version is refused if the first one was applied,
//! and then the data are read; a second delete finds no znode. Requests of a session take effect in the order in which
//! they are sent, so that the answer to the second one decides the first one for good.
//!
//! The znode goes with its session, and is created anew in the next one. What stands under its name until then is of
//! an earlier session, of this process or of one before it, and is waited for: it goes when that session ends.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::select;

use super::{
    GroupMember, GroupReader, NOT_REGISTERED, OwnMember, REGISTERED_ALREADY, ReadingOrder, ShownGroup, data, path,
};
use crate::recipes::bug::Bug;
use crate::recipes::requests::{overdue, steady};
use crate::recipes::{Env, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, SessionState, SharedValue, Zk};

/// `membership/cached`: it shows what it reads with the read that sets the watch, and nothing while it is disconnected.
#[derive(Clone)]
pub struct CachedMembership {
    env: Env,
    group: ShownGroup,
    books: SharedValue<RegistrationBooks>,
}

impl CachedMembership {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        let client = Self {
            env: env.clone(),
            group: ShownGroup::new(env),
            books: SharedValue::default(),
        };
        env.host.spawn(client.clone().keep_session().boxed());
        env.host.spawn(client.clone().keep_entry().boxed());
        client
    }

    /// Has a session at all times, and shows what is read in it.
    async fn keep_session(self) {
        let order = ReadingOrder {
            // The planted G1 sets the watch after it has read the data, by a second listing that it does not look at.
            list_watched: !self.env.has(Bug::ListWatchedLate),
            data_watched: !self.env.has(Bug::DataUnwatched),
            reads_anew: true,
        };
        loop {
            let zk = self.env.connect().await;
            self.books.update(|books| books.session = Some(zk.clone()));
            let reader = GroupReader::new(&self.env, zk, self.group.clone(), order);
            reader.run().await;
            self.books.update(|books| books.end(&self.env));
        }
    }
}

#[async_trait]
impl GroupMember for CachedMembership {
    /// An attempt that has not ended by `deadline` is undone, in the background if need be.
    async fn register(&self, member: &str, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        let wanted = WantedMember {
            member: member.to_string(),
            value,
            first: value,
        };
        let begun = self.books.update(|books| {
            let member = books.wanted.is_some() && books.own.is_some();
            if !member {
                books.wanted = Some(wanted);
                (books.refused, books.attended) = (None, true);
            }
            !member
        });
        if !begun {
            return Err(OpError::Fail(REGISTERED_ALREADY.to_string()));
        }
        let ended = self.end_of(deadline, RegistrationBooks::reached).await;
        self.books.update(|books| {
            books.attended = false;
            // It may have come about in this very moment.
            let ended = ended.or_else(|| books.reached().map(Ok));
            match ended.unwrap_or_else(|| Err(overdue())) {
                Ok(own) => Ok(own),
                Err(why) => {
                    books.wanted = None;
                    Err(match (why, books.step()) {
                        (OpError::Fail(why), Some(_)) => OpError::Info(why),
                        (why, _) => why,
                    })
                }
            }
        })
    }

    /// An attempt that has not ended by `deadline` goes on in the background.
    async fn update(&self, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError> {
        // The planted G4 answers from its books.
        let lost = |books: &RegistrationBooks| {
            books
                .session
                .as_ref()
                .is_some_and(|zk| zk.state() != SessionState::Connected)
        };
        let known = self.books.with(|books| books.own.clone().filter(|_| lost(books)));
        if let Some(own) = known.filter(|_| self.env.has(Bug::AnswersFromBooks)) {
            return Ok(own);
        }
        self.books.update(|books| {
            self.is_wanted(books)?;
            books.wanted.iter_mut().for_each(|wanted| wanted.value = value);
            (books.refused, books.attended) = (None, true);
            Ok(())
        })?;
        let ended = self.end_of(deadline, RegistrationBooks::reached).await;
        self.books.update(|books| {
            books.attended = false;
            let ended = ended
                .or_else(|| books.reached().map(Ok))
                .unwrap_or_else(|| Err(overdue()));
            if let (Err(OpError::Fail(_)), Some(wanted), Some(own)) = (&ended, &mut books.wanted, &books.own) {
                wanted.value = own.value.unwrap_or(wanted.value);
            }
            ended
        })
    }

    /// An attempt that has not ended by `deadline` goes on in the background.
    async fn deregister(&self, deadline: Option<Duration>) -> Result<Option<OwnZnode>, OpError> {
        self.books.update(|books| {
            self.is_wanted(books)?;
            (books.wanted, books.removed) = (None, None);
            (books.refused, books.attended) = (None, true);
            Ok(())
        })?;
        let gone = |books: &RegistrationBooks| books.step().is_none().then(|| books.removed.clone());
        let ended = self.end_of(deadline, gone).await;
        self.books.update(|books| books.attended = false);
        match ended.unwrap_or_else(|| Err(overdue())) {
            // It goes on.
            Err(OpError::Fail(why)) => Err(OpError::Info(why)),
            ended => ended,
        }
    }

    fn registered(&self) -> Option<OwnMember> {
        self.books.with(|books| books.own.clone())
    }

    fn group(&self) -> &ShownGroup {
        &self.group
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.books.until(|books| books.session.clone()).await)
    }

    /// Waits until nothing goes on but what an operation waits for.
    async fn idle(&self) {
        let idle = |books: &RegistrationBooks| (books.attended || books.step().is_none()).then_some(());
        self.books.until(idle).await;
    }
}

impl CachedMembership {
    /// Whether the client is to be a member. The planted G2 does not make an entry again, and so cannot change it.
    fn is_wanted(&self, books: &RegistrationBooks) -> Result<(), OpError> {
        let lost = |own: &OwnMember| !books.is_session(own.session);
        if books.wanted.is_none() || self.env.has(Bug::NotRegisteredAgain) && books.own.as_ref().is_some_and(lost) {
            return Err(OpError::Fail(NOT_REGISTERED.to_string()));
        }
        Ok(())
    }

    /// Waits until `reached` finds what was asked for, or ZooKeeper has refused it; `None` after `deadline`.
    async fn end_of<T: Send>(
        &self,
        deadline: Option<Duration>,
        reached: impl Fn(&RegistrationBooks) -> Option<T> + Send + Sync,
    ) -> Option<Result<T, OpError>> {
        let refused = |books: &RegistrationBooks| Some(OpError::Fail(books.refused.clone()?));
        let ended = |books: &RegistrationBooks| reached(books).map(Ok).or_else(|| refused(books).map(Err));
        let ended = self.books.until(ended);
        self.env.within(deadline, ended).await
    }

    /// Sends what is to be sent, as long as the process lives.
    async fn keep_entry(self) {
        loop {
            let (zk, step) = self
                .books
                .until(|books| Some((books.session.clone()?, books.step()?)))
                .await;
            if self.perform(zk.as_ref(), &step).await.is_err() && !steady(&self.env, zk.as_ref()).await {
                let ended = |books: &RegistrationBooks| (!books.is_session(zk.session())).then_some(());
                self.books.until(ended).await;
            }
        }
    }

    /// Sends one request.
    ///
    /// # Errors
    /// It has to be sent again.
    async fn perform(&self, zk: &dyn Zk, step: &RegistrationStep) -> Result<(), Error> {
        match step {
            RegistrationStep::Create(wanted) => self.create(zk, wanted).await,
            RegistrationStep::Write(own, value) => {
                match zk.set(&path(&own.member), &data(*value), Some(own.stat.version)).await {
                    Ok(stat) => {
                        let value = Some(*value);
                        self.made(OwnMember {
                            stat,
                            value,
                            ..own.clone()
                        });
                        Ok(())
                    }
                    // Written before, by a request whose reply was lost.
                    Err(Error::BadVersion) => self.look(zk, &own.member).await.map(drop),
                    Err(Error::NoNode) => {
                        self.books.update(|books| books.gone(zk.session(), false));
                        Err(Error::NoNode)
                    }
                    Err(error) => Err(self.refused("set", error)),
                }
            }
            RegistrationStep::Delete(member) => match zk.delete(&path(member), None).await {
                deleted @ (Ok(()) | Err(Error::NoNode)) => {
                    self.books.update(|books| books.gone(zk.session(), deleted.is_ok()));
                    Ok(())
                }
                Err(error) => Err(self.refused("delete", error)),
            },
        }
    }

    async fn create(&self, zk: &dyn Zk, wanted: &WantedMember) -> Result<(), Error> {
        let WantedMember { member, value, .. } = wanted;
        let before = self.books.update(|books| books.unsure.replace(member.clone()));
        let data = data(*value);
        let mode = match self.env.has(Bug::PersistentMember) {
            true => CreateMode::Persistent,
            false => CreateMode::Ephemeral,
        };
        match zk.create(&path(member), &data, mode).await {
            Ok(created) => match created.stat {
                Some(stat) => {
                    self.made(OwnMember::read(member, zk, stat, &data));
                    Ok(())
                }
                None => self.look(zk, member).await.map(drop),
            },
            Err(Error::NodeExists) => match self.look(zk, member).await? {
                true => Ok(()),
                false => {
                    self.books.update(|books| books.unsure = None);
                    self.leave(zk, wanted).await
                }
            },
            Err(error) if error.is_definite() => {
                self.books.update(|books| books.unsure = before);
                Err(self.refused("create", error))
            }
            Err(error) => Err(error),
        }
    }

    /// Looks whether the session has an entry of this name. The planted G6 does not look whose it is.
    async fn look(&self, zk: &dyn Zk, member: &str) -> Result<bool, Error> {
        match zk.get(&path(member)).await {
            Ok((data, stat)) if stat.ephemeral_owner == zk.session() || self.env.has(Bug::FormerEntryTaken) => {
                self.made(OwnMember::read(member, zk, stat, &data));
                Ok(true)
            }
            Ok(_) | Err(Error::NoNode) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until the entry of another session is gone, or need not go any more.
    async fn leave(&self, zk: &dyn Zk, wanted: &WantedMember) -> Result<(), Error> {
        if let (Some(_), watch) = zk.exists_and_watch(&path(&wanted.member)).await? {
            let other = |books: &RegistrationBooks| {
                let same = books.is_session(zk.session())
                    && books.wanted.as_ref().is_some_and(|now| now.member == wanted.member);
                (!same).then_some(())
            };
            select(watch, std::pin::pin!(self.books.until(other))).await;
        }
        Ok(())
    }

    fn made(&self, own: OwnMember) {
        self.books.update(|books| books.made(own));
    }

    /// Takes note of an error that proves that the request had no effect.
    fn refused(&self, doing: &str, error: Error) -> Error {
        if error.is_definite() {
            self.books
                .update(|books| books.refused = Some(format!("{doing}: {error}")));
        }
        error
    }
}

/// What a client is to be a member as.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WantedMember {
    /// The name of the member.
    member: String,
    value: i64,
    /// The value that it registered with.
    first: i64,
}

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RegistrationStep {
    /// The entry is to be created.
    Create(WantedMember),
    /// This entry is to have this value.
    Write(OwnMember, i64),
    /// The znode of this member is to go.
    Delete(String),
}

/// The books of one client: what it is to be a member as, what it is known to be one as, and the request that brings
/// the one to the other.
#[derive(Default)]
struct RegistrationBooks {
    /// The session; `None` while there is none.
    session: Option<Arc<dyn Zk>>,
    /// What it is to be a member as; `None` if it is to be none.
    wanted: Option<WantedMember>,
    /// The entry that it is known to have.
    own: Option<OwnMember>,
    /// The name of an entry that the session may have: the create of it was sent, and no answer is known.
    unsure: Option<String>,
    /// What the last delete removed for certain.
    removed: Option<OwnZnode>,
    /// Why ZooKeeper refused the last request.
    refused: Option<String>,
    /// Whether an operation waits for the end of it.
    attended: bool,
}

impl RegistrationBooks {
    /// The next request; `None` if the client is what it is to be.
    fn step(&self) -> Option<RegistrationStep> {
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
    fn reached(&self) -> Option<OwnMember> {
        let own = self.own.clone();
        own.filter(|own| self.wanted.is_some() && self.step().is_none() && self.is_session(own.session))
    }

    /// Whether this is the session that the client has.
    fn is_session(&self, session: i64) -> bool {
        self.session.as_ref().is_some_and(|zk| zk.session() == session)
    }

    /// The session is over, and its znode goes with it.
    fn end(&mut self, env: &Env) {
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
    fn made(&mut self, own: OwnMember) {
        if self.is_session(own.session) {
            (self.own, self.unsure) = (Some(own), None);
        }
    }

    /// The entry of this session is not there any more. `removed` by a delete of this client's for certain.
    fn gone(&mut self, session: i64, removed: bool) {
        if self.is_session(session) {
            let own = self.own.take();
            (self.removed, self.unsure) = (own.filter(|_| removed).as_ref().map(OwnMember::znode), None);
        }
    }
}
