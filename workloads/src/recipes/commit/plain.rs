//! What the tutorial's variants have in common. They do not handle unknown outcomes: an error ends the operation, and
//! so does the end of the session; another one is opened for the next operation.
//!
//! The tutorial has the sites of a transaction be the children that are there. Here its znode names them, since a site
//! that is quick would else decide before the coordinator has made the others' znodes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{ready, select_all};

use super::{APP, Decision, Journal, TransactionZnode, Vote, path, vote_path};
use crate::recipes::requests::{ensure_or_print, heard};
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, OpError};
use crate::zk::{CreateMode, Error, Watch, WatchEvent, Zk};

/// What each party has: a session handle and a log.
pub struct PartyClient {
    pub env: Env,
    pub handle: Handle,
    pub journal: Journal,
}

impl PartyClient {
    /// A client that begins to open its session.
    pub fn new(env: &Env, journal: Journal) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            journal,
        }
    }

    /// Creates the transaction, and one znode for each site.
    pub async fn begin(&self, transaction: &TransactionZnode) -> Result<(), OpError> {
        let zk = self.create(transaction).await?;
        for site in &transaction.sites {
            zk.create(&vote_path(&transaction.tx, site), b"", CreateMode::Persistent)
                .await
                .map_err(|error| OpError::unknown("create the znode of a site", &error))?;
        }
        Ok(())
    }

    /// Creates the znode of the transaction.
    pub async fn create(&self, transaction: &TransactionZnode) -> Result<Arc<dyn Zk>, OpError> {
        let zk = self.handle.live().await;
        ensure_or_print(zk.as_ref(), APP).await;
        zk.create(&path(&transaction.tx), &transaction.data(), CreateMode::Persistent)
            .await
            .map_err(|error| OpError::from_error("create the transaction", &error))?;
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
        let own = vote_path(tx, &self.env.client);
        let prepare = async {
            let zk = self.handle.live().await;
            wait_for(zk.as_ref(), &own).await?;
            self.env.host.sleep(work).await;
            Ok(zk)
        };
        let zk = self.before_vote(deadline, prepare).await?;
        let vote = self.log_vote(tx, vote)?;
        match self
            .env
            .within(deadline, zk.set(&own, vote.word().as_bytes(), None))
            .await
        {
            Some(Ok(_)) => Ok(vote),
            Some(Err(error)) => Err(OpError::from_error("write the vote", &error)),
            None => Err(OpError::Info("timed out; the vote is on its way".to_string())),
        }
    }

    /// Does what comes before a vote. Whatever ends it, nothing of the vote was sent.
    pub async fn before_vote<T>(
        &self,
        deadline: Option<Duration>,
        work: impl Future<Output = Result<T, OpError>> + Send,
    ) -> Result<T, OpError> {
        let ended = self.env.within(deadline, work).await.ok_or_else(not_voted)?;
        ended.map_err(|(OpError::Fail(why) | OpError::Info(why))| OpError::Fail(why))
    }

    /// Writes the vote to the log, before it is sent. Returns the vote that the log has.
    pub fn log_vote(&self, tx: &str, vote: Vote) -> Result<Vote, OpError> {
        self.journal
            .vote(tx, vote)
            .map_err(|error| OpError::Fail(format!("not voted, the log cannot be written: {error}")))
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

fn reading(error: &Error) -> OpError {
    OpError::unknown("read", error)
}

/// Waits until a znode is there.
pub async fn wait_for(zk: &dyn Zk, path: &str) -> Result<(), OpError> {
    loop {
        let (stat, watch) = zk.exists_and_watch(path).await.map_err(|error| reading(&error))?;
        if stat.is_some() {
            return Ok(());
        }
        heard(watch.await)?;
    }
}

/// Waits until there is a decision znode, and reads it.
pub async fn wait_decision(zk: &dyn Zk, path: &str) -> Result<Decision, OpError> {
    wait_for(zk, path).await?;
    let (data, _) = zk.get(path).await.map_err(|error| reading(&error))?;
    Decision::read(&data).ok_or_else(|| OpError::Info(format!("{path} has no decision")))
}

/// Waits for the transaction, and reads it.
pub async fn read_transaction(zk: &dyn Zk, tx: &str) -> Result<TransactionZnode, OpError> {
    wait_for(zk, &path(tx)).await?;
    let (data, _) = zk.get(&path(tx)).await.map_err(|error| reading(&error))?;
    serde_json::from_slice(&data).map_err(|error| OpError::Info(format!("{} makes no sense: {error}", path(tx))))
}

/// Reads and watches every site's znode until all have voted; one abort is enough. A znode that is not there yet, or
/// has nothing in it, means only that its site has not voted yet.
pub async fn gather(zk: &dyn Zk, tx: &str, sites: &[String]) -> Result<Decision, OpError> {
    loop {
        let mut pending: Vec<Watch> = Vec::new();
        for site in sites {
            match look(zk, &vote_path(tx, site)).await.map_err(|error| reading(&error))? {
                VoteRead::Voted(Decision::Abort) => return Ok(Decision::Abort),
                VoteRead::Voted(Decision::Commit) => {}
                VoteRead::Wait(watch) => pending.push(watch),
            }
        }
        if pending.is_empty() {
            return Ok(Decision::Commit);
        }
        heard(select_all(pending).await.0)?;
    }
}

/// The result of a read of a site's znode.
pub enum VoteRead {
    /// Its vote.
    Voted(Decision),
    /// Nothing yet; the watch fires at a change.
    Wait(Watch),
}

async fn look(zk: &dyn Zk, path: &str) -> Result<VoteRead, Error> {
    match zk.get_and_watch(path).await {
        Ok((data, _, watch)) => Ok(Decision::read(&data).map_or(VoteRead::Wait(watch), VoteRead::Voted)),
        Err(Error::NoNode) => {
            let (stat, watch) = zk.exists_and_watch(path).await?;
            let there = || ready(WatchEvent::Created).boxed();
            Ok(VoteRead::Wait(if stat.is_some() { there() } else { watch }))
        }
        Err(error) => Err(error),
    }
}

/// The coordinator of the tutorial publishes its decision to the sites.
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
