//! Two-phase commit without a coordinator that must live: the transaction and its sites' znodes come into being
//! together, votes stay, and the first party to create the decision znode has decided.
//!
//! Every request is repeated until its outcome is known. That is harmless: the transaction is compared with what is
//! there, a site's vote is always that of its log, and a decision znode that is there is read, independent of its
//! creator. A site that hears of no decision for a time and a half its session timeout decides as the coordinator
//! would; since nobody can decide twice, it may well count a missing vote as a no.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::plain::{PartyClient, gather, not_voted, wait_decision, wait_for};
use super::{APP, Decision, Party, TransactionZnode, Vote, decision_path, path, vote_path};
use crate::recipes::OpError;
use crate::recipes::bug::Bug;
use crate::zk::{CreateMode, CreatedZnode, Error, MultiError, MultiOp, Reply, Zk};

/// How long to wait before a request is repeated.
const RETRY: Duration = Duration::from_millis(100);

/// `commit/atomic`.
pub struct Atomic(pub(super) PartyClient);

impl Atomic {
    async fn pause(&self) {
        self.0.env.host.sleep(RETRY).await;
    }

    /// Repeats a request until its outcome is known; what it does a second time must do no harm.
    async fn insist<T>(&self, request: impl Fn(&dyn Zk) -> Reply<T> + Send + Sync) -> Result<T, Error> {
        loop {
            let zk = self.0.handle.live().await;
            match request(zk.as_ref()).await {
                Err(Error::Unknown(_)) => self.pause().await,
                known => return known,
            }
        }
    }

    /// Repeats something that only reads and waits until it succeeds.
    async fn patiently<T, F>(&self, read: impl Fn(Arc<dyn Zk>) -> F + Send + Sync) -> T
    where
        F: Future<Output = Result<T, OpError>> + Send,
    {
        loop {
            match read(self.0.handle.live().await).await {
                Ok(found) => return found,
                Err(_) => self.pause().await,
            }
        }
    }

    /// Decides, unless somebody has. Answers the decision that stands.
    async fn settle(&self, tx: &str, decision: Decision) -> Decision {
        let znode = decision_path(tx);
        loop {
            let create = |zk: &dyn Zk| zk.create(&znode, decision.word().as_bytes(), CreateMode::Persistent);
            match self.decide_once(create).await {
                Ok(Some(mistaken)) => return mistaken,
                Ok(None) => return decision,
                Err(Error::NodeExists) if self.0.env.has(Bug::DecisionOverwritten) => {
                    let word = decision.word().as_bytes();
                    if self.insist(|zk| zk.set(&znode, word, None)).await.is_ok() {
                        return decision;
                    }
                }
                Err(Error::NodeExists) => {
                    if let Ok((data, _)) = self.insist(|zk| zk.get(&znode)).await
                        && let Some(stands) = Decision::read(&data)
                    {
                        return stands;
                    }
                }
                // The transaction is not there, and may still come.
                Err(_) => {}
            }
            self.pause().await;
        }
    }

    /// Repeats the creation of the decision until its outcome is known. A planted bug may take the outcome of its first
    /// try for a refusal, and answers abort: T1 where it is unknown, T6 where the second try finds the znode that the
    /// first one made.
    async fn decide_once(
        &self,
        create: impl Fn(&dyn Zk) -> Reply<CreatedZnode> + Send + Sync,
    ) -> Result<Option<Decision>, Error> {
        let first = create(self.0.handle.live().await.as_ref()).await;
        match (first, self.0.env.bug) {
            (Err(Error::Unknown(_)), Some(Bug::UnknownIsFailure)) => Ok(Some(Decision::Abort)),
            (Err(Error::Unknown(_)), bug) => {
                self.pause().await;
                match self.insist(create).await {
                    Err(Error::NodeExists) if bug == Some(Bug::OwnDecisionIsRefusal) => Ok(Some(Decision::Abort)),
                    again => again.map(|_| None),
                }
            }
            (known, _) => known.map(|_| None),
        }
    }

    /// Decides in the coordinator's place; `None` if there is no such transaction yet.
    async fn recover(&self, tx: &str) -> Option<Decision> {
        // What was acknowledged long ago should be seen. Votes only ever come, so it is not needed to be right.
        drop(self.insist(|zk| zk.sync(APP)).await);
        let (data, _) = self.insist(|zk| zk.get(&path(tx))).await.ok()?;
        let transaction: TransactionZnode = serde_json::from_slice(&data).ok()?;
        let sites = match self.0.env.has(Bug::CoordinatorDiesEarly) {
            // Those that are there, for all that there are.
            true => self.insist(|zk| zk.children(&path(tx))).await.ok()?,
            false => transaction.sites,
        };
        let mut decision = Decision::Commit;
        for site in &sites {
            let vote = self.insist(|zk| zk.get(&vote_path(tx, site))).await.ok();
            if vote.and_then(|(data, _)| Decision::read(&data)) != Some(Decision::Commit) {
                decision = Decision::Abort;
            }
        }
        Some(self.settle(tx, decision).await)
    }
}

#[async_trait]
impl Party for Atomic {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    async fn create(&self, transaction: &TransactionZnode) -> Result<(), OpError> {
        if self.0.env.has(Bug::CoordinatorDiesEarly) {
            return self.0.begin(transaction).await;
        }
        if self.0.env.has(Bug::CoordinatorDiesAndGivesUp) && !self.0.handle.is_open() {
            return Err(OpError::Info("there is no session yet".to_string()));
        }
        match self.insist(|zk| zk.create(APP, b"", CreateMode::Persistent)).await {
            Ok(_) | Err(Error::NodeExists) => {}
            Err(error) => return Err(OpError::from_error("create the parent", &error)),
        }
        let own = |site: &String| MultiOp::Create(vote_path(&transaction.tx, site), Vec::new(), CreateMode::Persistent);
        let znode = MultiOp::Create(path(&transaction.tx), transaction.data(), CreateMode::Persistent);
        let ops: Vec<MultiOp> = std::iter::once(znode)
            .chain(transaction.sites.iter().map(own))
            .collect();
        let mut lost = false;
        loop {
            let zk = self.0.handle.live().await;
            match zk.multi(ops.clone()).await {
                Ok(_) => return Ok(()),
                Err(MultiError {
                    error: Error::NodeExists,
                    ..
                }) => break,
                Err(MultiError { error, .. }) if error.is_definite() && !lost => {
                    return Err(OpError::from_error("begin", &error));
                }
                Err(_) => lost = true,
            }
            self.pause().await;
        }
        // From a try whose reply was lost, unless it is another transaction.
        let there = self.insist(|zk| zk.get(&path(&transaction.tx))).await;
        match there {
            Ok((data, _)) if data == transaction.data() => Ok(()),
            Ok(_) => Err(OpError::Fail("there is another transaction of this name".to_string())),
            Err(error) => Err(OpError::unknown("read the transaction", &error)),
        }
    }

    /// Waits for the votes for as long as a session lives without a word, and decides.
    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let (env, TransactionZnode { tx, sites, .. }) = (&self.0.env, transaction);
        let patience = self.0.handle.live().await.timeout();
        let votes = self.patiently(|zk| async move { gather(zk.as_ref(), tx, sites).await });
        let votes = env.within(Some(env.host.now() + patience), votes).await;
        Ok(self.settle(tx, votes.unwrap_or(Decision::Abort)).await)
    }

    async fn vote(&self, tx: &str, vote: Vote, work: Duration, deadline: Option<Duration>) -> Result<Vote, OpError> {
        let (env, own) = (&self.0.env, &vote_path(tx, &self.0.env.client));
        let prepare = async {
            self.patiently(|zk| async move { wait_for(zk.as_ref(), own).await })
                .await;
            env.host.sleep(work).await;
        };
        env.within(deadline, prepare).await.ok_or_else(not_voted)?;
        let vote = self.0.log_vote(tx, vote)?;
        let sent = self.insist(|zk| zk.set(own, vote.word().as_bytes(), None));
        match env.within(deadline, sent).await {
            Some(Ok(_)) => Ok(vote),
            Some(Err(error)) => Err(OpError::unknown("write the vote", &error)),
            None => Err(OpError::Info("timed out; the vote is on its way".to_string())),
        }
    }

    async fn learn(&self, tx: &str) -> Result<Decision, OpError> {
        let (env, znode) = (&self.0.env, &decision_path(tx));
        loop {
            let patience = self.0.handle.live().await.timeout() * 3 / 2;
            let heard = self.patiently(|zk| async move { wait_decision(zk.as_ref(), znode).await });
            if let Some(decision) = env.within(Some(env.host.now() + patience), heard).await {
                return Ok(decision);
            }
            match self.0.env.bug {
                // Only the coordinator decides.
                Some(Bug::CoordinatorDiesUndecided | Bug::CoordinatorDiesAndGivesUp) => continue,
                // The site decides for itself alone.
                Some(Bug::SiteAbortsAlone) => return Ok(Decision::Abort),
                _ => {}
            }
            if let Some(decision) = self.recover(tx).await {
                return Ok(decision);
            }
        }
    }
}
