//! The tutorial's two-phase commits: `commit/broadcast`, and its two remedies, `commit/coordinated` and
//! `commit/ephemeral`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::select_all;

use super::plain::{PartyClient, gather, overdue, publish, read_transaction, wait_for};
use super::{Decision, Party, TransactionZnode, Vote, path, vote_path};
use crate::recipes::OpError;
use crate::recipes::requests::heard;
use crate::zk::{CreateMode, Error, Zk};

/// `commit/broadcast`.
///
/// The tutorial's first two-phase commit, faults and all: the coordinator creates one znode for each site, every site
/// watches all of them, and each decides by itself: O(n²) messages, and one abort is enough to abort early.
///
/// If the coordinator dies while it creates the znodes, those that are there wait for the others for ever.
pub struct Broadcast(pub(super) PartyClient);

#[async_trait]
impl Party for Broadcast {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    /// The coordinator decides as the sites do, and sends no site the decision.
    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        gather(zk.as_ref(), &transaction.tx, &transaction.sites).await
    }

    async fn learn(&self, tx: &str) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        let transaction = read_transaction(zk.as_ref(), tx).await?;
        gather(zk.as_ref(), tx, &transaction.sites).await
    }
}

/// `commit/coordinated`.
///
/// The tutorial's remedy for too many messages, faults and all: only the coordinator watches the votes, and it
/// publishes its decision as a znode: O(n) messages.
///
/// If the coordinator dies between the votes and the decision, or cannot determine whether it wrote it, the sites wait.
pub struct CoordinatedParty(pub(super) PartyClient);

#[async_trait]
impl Party for CoordinatedParty {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        let decision = gather(zk.as_ref(), &transaction.tx, &transaction.sites).await?;
        publish(zk.as_ref(), &transaction.tx, decision).await
    }
}

/// `commit/ephemeral`.
///
/// The tutorial's remedy for dead sites, on top of [`CoordinatedParty`], faults and all: each site creates its own
/// znode, an ephemeral one, and the coordinator aborts if one that it has seen goes.
///
/// A znode that goes before the coordinator looks was never seen, so the coordinator waits for it for ever; and nothing
/// is done about a coordinator that dies.
pub struct Ephemeral(pub(super) PartyClient);

impl Ephemeral {
    async fn join_and_vote(&self, zk: Arc<dyn Zk>, tx: &str, vote: Vote, work: Duration) -> Result<Vote, OpError> {
        let own = vote_path(tx, &self.0.env.client);
        match zk.create(&own, b"", CreateMode::Ephemeral).await {
            Ok(_) => {}
            // Its own, from before: that it may be an earlier session's is not thought of.
            Err(Error::NodeExists) => crate::stderr::say(&format!("{own} is there already")),
            Err(error) => return Err(OpError::from_error("join", &error)),
        }
        self.0.env.host.sleep(work).await;
        // It has joined, so something of this is left.
        let vote = self.0.log_vote(tx, vote).map_err(unknown)?;
        zk.set(&own, vote.word().as_bytes(), None)
            .await
            .map(|_| vote)
            .map_err(|error| OpError::unknown("write the vote", &error))
    }
}

fn unknown(ended: OpError) -> OpError {
    let (OpError::Fail(why) | OpError::Info(why)) = ended;
    OpError::Info(why)
}

/// Waits until all sites have joined and voted; one abort is enough, and so is a znode that was there and is gone.
async fn watch_sites(zk: &dyn Zk, transaction: &TransactionZnode) -> Result<Decision, OpError> {
    let failed = |error: &Error| OpError::unknown("read", error);
    let mut seen = BTreeSet::new();
    loop {
        let (names, list) = zk
            .children_and_watch(&path(&transaction.tx))
            .await
            .map_err(|error| failed(&error))?;
        let there: BTreeSet<String> = names
            .into_iter()
            .filter(|name| transaction.sites.contains(name))
            .collect();
        if !seen.is_subset(&there) {
            return Ok(Decision::Abort);
        }
        let (mut pending, mut yes) = (vec![list], 0);
        for site in &there {
            match zk.get_and_watch(&vote_path(&transaction.tx, site)).await {
                Ok((data, _, watch)) => match Decision::read(&data) {
                    Some(Decision::Abort) => return Ok(Decision::Abort),
                    Some(Decision::Commit) => yes += 1,
                    None => pending.push(watch),
                },
                Err(Error::NoNode) => return Ok(Decision::Abort),
                Err(error) => return Err(failed(&error)),
            }
        }
        if yes == transaction.sites.len() {
            return Ok(Decision::Commit);
        }
        seen = there;
        heard(select_all(pending).await.0)?;
    }
}

#[async_trait]
impl Party for Ephemeral {
    fn member(&self) -> &PartyClient {
        &self.0
    }

    /// Sites create their own znodes.
    async fn create(&self, transaction: &TransactionZnode) -> Result<(), OpError> {
        self.0.create(transaction).await.map(drop)
    }

    async fn conclude(&self, transaction: &TransactionZnode) -> Result<Decision, OpError> {
        let zk = self.0.handle.live().await;
        let decision = watch_sites(zk.as_ref(), transaction).await?;
        publish(zk.as_ref(), &transaction.tx, decision).await
    }

    async fn vote(&self, tx: &str, vote: Vote, work: Duration, deadline: Option<Duration>) -> Result<Vote, OpError> {
        let member = &self.0;
        let arrive = async {
            let zk = member.handle.live().await;
            wait_for(zk.as_ref(), &path(tx)).await?;
            Ok(zk)
        };
        let zk = member.before_vote(deadline, arrive).await?;
        let voted = member
            .env
            .within(deadline, self.join_and_vote(zk, tx, vote, work))
            .await;
        voted.ok_or_else(overdue)?
    }
}
