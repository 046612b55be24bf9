//! The operations of a two-phase commit: `begin` and `decide` of the coordinator, `vote` and `decided` of the sites.

use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::commit::{CommitAnswer as Answered, CommitRequest as Asked, f};

use super::Party;
use crate::protocol::Request;
use crate::recipes::WorkGuard;
use crate::service::{Answer, Service, SessionHandle, parse};

/// A party, as the client program drives it.
pub struct CommitHandler<P>(pub P);

#[async_trait]
impl<P: Party> Service for CommitHandler<P> {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::BEGIN, f::DECIDE, f::VOTE, f::DECIDED]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let asked: Asked = parse(request)?;
        let tx = asked.tx().to_string();
        // Its name is a znode's.
        if tx.is_empty() || tx.contains('/') {
            return Err(Answer::fail(format!("`{tx}` is not the name of a transaction")));
        }
        let decided = |decision| {
            let tx = tx.clone();
            Answered::Decided { tx, decision }
        };
        let about = || Answered::About { tx: tx.clone() };
        let answer = match asked {
            Asked::Begin(transaction) => self.0.begin(&transaction, deadline).await.map(|()| about()),
            Asked::Decide(transaction) => self.0.decide(&transaction, deadline).await.map(decided),
            Asked::Decided { .. } => self.0.decided(&tx, deadline).await.map(decided),
            Asked::Vote { vote, work_ms, .. } => {
                let voted = self.0.vote(&tx, vote, Duration::from_millis(work_ms), deadline).await;
                let tx = tx.clone();
                voted.map(|voted| Answered::Voted { tx, voted })
            }
        };
        let answer = answer.map_or_else(|ended| Answer::from(ended).with(about()), Answer::ok);
        Ok((answer, None))
    }

    async fn session(&self) -> SessionHandle {
        SessionHandle::lasting(self.0.member().handle.current().await)
    }
}
