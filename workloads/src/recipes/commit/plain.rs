//! What the tutorial's variants have in common. They know no unknown outcomes: an error ends the operation, and so does
//! the end of the session; another one is opened for the next operation.
//!
//! The tutorial has the sites of a transaction be the children that are there. Here its znode names them, since a site that
//! is quick would else decide before the coordinator has made the others' znodes.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready, select_all};

use super::{APP, Decision, Journal, Transaction, Vote, decision_path, path, undecided, vote_path};
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, Watch, WatchEvent, Zk};

/// What each party has: a name, a session handle and a log.
#[derive(Clone)]
pub struct Member {
    pub env: Env,
    pub name: String,
    pub handle: Handle,
    pub journal: Journal,
}

impl Member {
    /// A client of this name, which begins to open its session.
    pub fn new(env: &Env, name: &str, journal: Journal) -> Self {
        Self {
            env: env.clone(),
            name: name.to_string(),
            handle: Handle::open(env),
            journal,
        }
    }

    /// Creates the transaction, and one znode for each site.
    pub async fn begin(&self, transaction: &Transaction) -> Result<(), OpError> {
        let zk = self.create(transaction).await?;
        for site in &transaction.sites {
            zk.create(&vote_path(&transaction.tx, site), b"", CreateMode::Persistent)
                .await
                .map_err(|error| OpError::unknown("create the znode of a site", &error))?;
        }
        Ok(())
    }

    /// [`Member::begin`] by a deadline, as the variants that create a znode for each site answer it.
    pub fn begin_by(
        &self,
        transaction: Transaction,
        deadline: Option<Duration>,
    ) -> BoxFuture<'static, Result<(), OpError>> {
        let member = self.clone();
        async move {
            let begun = member.env.within(deadline, member.begin(&transaction)).await;
            begun.unwrap_or_else(|| Err(overdue()))
        }
        .boxed()
    }

    /// What a site learns that waits for the decision to be published.
    pub fn told(&self, tx: &str, deadline: Option<Duration>) -> BoxFuture<'static, Result<Decision, OpError>> {
        let (member, tx) = (self.clone(), tx.to_string());
        async move {
            let learn = async {
                let zk = member.handle.live().await;
                wait_decision(zk.as_ref(), &decision_path(&tx)).await
            };
            member.decided(&tx, deadline, learn).await
        }
        .boxed()
    }

    /// Creates the znode of the transaction.
    pub async fn create(&self, transaction: &Transaction) -> Result<std::sync::Arc<dyn Zk>, OpError> {
        let zk = self.handle.live().await;
        create_app(zk.as_ref()).await;
        zk.create(&path(&transaction.tx), &transaction.data(), CreateMode::Persistent)
            .await
            .map_err(|error| OpError::of("create the transaction", &error))?;
        Ok(zk)
    }

    /// Waits for its znode, works, and writes its vote to it.
    pub async fn vote(
        &self,
        tx: &str,
        vote: Vote,
        work: Duration,
        deadline: Option<Duration>,
    ) -> Result<Vote, OpError> {
        let own = vote_path(tx, &self.name);
        let prepare = async {
            let zk = self.handle.live().await;
            wait_for(zk.as_ref(), &own).await?;
            self.env.host.sleep(work).await;
            Ok(zk)
        };
        let zk = match self.env.within(deadline, prepare).await {
            Some(Ok(zk)) => zk,
            Some(Err(OpError::Fail(why) | OpError::Info(why))) => return Err(OpError::Fail(why)),
            None => return Err(not_voted()),
        };
        let vote = self.log_vote(tx, vote)?;
        match self
            .env
            .within(deadline, zk.set(&own, vote.word().as_bytes(), None))
            .await
        {
            Some(Ok(_)) => Ok(vote),
            Some(Err(error)) => Err(OpError::of("write the vote", &error)),
            None => Err(OpError::Info("timed out; the vote is on its way".to_string())),
        }
    }

    /// Writes the vote to the log, before anybody is told. Answers the one that the log has.
    pub fn log_vote(&self, tx: &str, vote: Vote) -> Result<Vote, OpError> {
        self.journal
            .vote(tx, vote)
            .map_err(|error| OpError::Fail(format!("not voted, the log cannot be written: {error}")))
    }

    /// The decision in the log, or else the one that is learnt, which goes to the log before anybody is told.
    pub async fn decided(
        &self,
        tx: &str,
        deadline: Option<Duration>,
        learn: impl Future<Output = Result<Decision, OpError>> + Send,
    ) -> Result<Decision, OpError> {
        if let Some(decision) = self.journal.decided(tx) {
            return Ok(decision);
        }
        let decision = self
            .env
            .within(deadline, learn)
            .await
            .unwrap_or_else(|| Err(undecided()))?;
        self.journal
            .decide(tx, decision)
            .map_err(|error| OpError::Info(format!("the log cannot be written: {error}")))
    }

    /// The session that the client has now.
    pub fn session(&self) -> BoxFuture<'static, SessionHandle> {
        let handle = self.handle.clone();
        async move {
            SessionHandle {
                zk: handle.current().await,
                temporary: false,
            }
        }
        .boxed()
    }
}

/// A vote that was never sent.
pub fn not_voted() -> OpError {
    OpError::Fail("timed out before it voted".to_string())
}

/// The end of a coordinator's operation that came too late.
pub fn overdue() -> OpError {
    OpError::Info("timed out; what was done stays".to_string())
}

/// Exists, then create: a race gives NodeExists, which is only printed, like every other error.
async fn create_app(zk: &dyn Zk) {
    let created = match zk.exists(APP).await {
        Ok(Some(_)) => return,
        Ok(None) => zk.create(APP, b"", CreateMode::Persistent).await.map(|_| ()),
        Err(error) => Err(error),
    };
    if let Err(error) = created {
        eprintln!("create {APP}: {error}");
    }
}

fn reading(error: &Error) -> OpError {
    OpError::unknown("read", error)
}

fn heard(event: &WatchEvent) -> Result<(), OpError> {
    match event {
        WatchEvent::Session(state) => Err(OpError::Info(format!("the session is {} while waiting", state.name()))),
        _ => Ok(()),
    }
}

/// Waits until a znode is there.
pub async fn wait_for(zk: &dyn Zk, path: &str) -> Result<(), OpError> {
    loop {
        let (stat, watch) = zk.exists_and_watch(path).await.map_err(|error| reading(&error))?;
        if stat.is_some() {
            return Ok(());
        }
        heard(&watch.await)?;
    }
}

/// Waits until there is a decision znode, and reads it.
pub async fn wait_decision(zk: &dyn Zk, path: &str) -> Result<Decision, OpError> {
    wait_for(zk, path).await?;
    let (data, _) = zk.get(path).await.map_err(|error| reading(&error))?;
    Decision::read(&data).ok_or_else(|| OpError::Info(format!("{path} has no decision")))
}

/// Waits for the transaction, and reads it.
pub async fn read_transaction(zk: &dyn Zk, tx: &str) -> Result<Transaction, OpError> {
    wait_for(zk, &path(tx)).await?;
    let (data, _) = zk.get(&path(tx)).await.map_err(|error| reading(&error))?;
    serde_json::from_slice(&data).map_err(|error| OpError::Info(format!("{} makes no sense: {error}", path(tx))))
}

/// Reads and watches every site's znode until all have voted; one abort is enough. A znode that is not there yet, or has
/// nothing in it, means only that its site has not voted yet.
pub async fn gather(zk: &dyn Zk, tx: &str, sites: &[String]) -> Result<Decision, OpError> {
    loop {
        let mut pending: Vec<Watch> = Vec::new();
        for site in sites {
            match look(zk, &vote_path(tx, site)).await.map_err(|error| reading(&error))? {
                Look::Voted(Decision::Abort) => return Ok(Decision::Abort),
                Look::Voted(Decision::Commit) => {}
                Look::Wait(watch) => pending.push(watch),
            }
        }
        if pending.is_empty() {
            return Ok(Decision::Commit);
        }
        heard(&select_all(pending).await.0)?;
    }
}

/// What a look at a site's znode tells.
pub enum Look {
    /// Its vote.
    Voted(Decision),
    /// Nothing yet; the watch tells of a change.
    Wait(Watch),
}

async fn look(zk: &dyn Zk, path: &str) -> Result<Look, Error> {
    match zk.get_and_watch(path).await {
        Ok((data, _, watch)) => Ok(Decision::read(&data).map_or(Look::Wait(watch), Look::Voted)),
        Err(Error::NoNode) => {
            let (stat, watch) = zk.exists_and_watch(path).await?;
            let there = || ready(WatchEvent::Created).boxed();
            Ok(Look::Wait(if stat.is_some() { there() } else { watch }))
        }
        Err(error) => Err(error),
    }
}

/// The coordinator of the tutorial tells the sites its decision.
pub async fn publish(zk: &dyn Zk, tx: &str, decision: Decision) -> Result<Decision, OpError> {
    zk.create(
        &super::decision_path(tx),
        decision.word().as_bytes(),
        CreateMode::Persistent,
    )
    .await
    .map(|_| decision)
    .map_err(|error| OpError::unknown("publish the decision", &error))
}
