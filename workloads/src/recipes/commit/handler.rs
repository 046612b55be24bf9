//! The operations of a two-phase commit: `begin` and `decide` of the coordinator, `vote` and `decided` of the sites.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zooquake_history::operation::commit::{Answer as Answered, Request as Asked};

use super::Party;
use crate::protocol::Request;
use crate::recipes::Working;
use crate::service::{Answer, Service, SessionHandle, parse};

/// A party, as the client program drives it.
#[derive(Clone)]
pub struct Handler(Arc<dyn Party>);

impl Handler {
    /// Serves this party.
    pub fn new(party: impl Party + 'static) -> Self {
        Self(Arc::new(party))
    }

    async fn serve(&self, request: &Request, deadline: Option<Duration>) -> Result<Answer, Answer> {
        let asked: Asked = parse(request)?;
        let tx = asked.tx().to_string();
        // Its name is a znode's.
        if tx.is_empty() || tx.contains('/') {
            return Err(Answer::fail(format!("`{tx}` is no name of a transaction")));
        }
        let decided = |decision| {
            let tx = tx.clone();
            Answered::Decided { tx, decision }
        };
        let about = || Answered::About { tx: tx.clone() };
        let answer = match asked {
            Asked::Begin(transaction) => self.0.begin(transaction, deadline).await.map(|()| about()),
            Asked::Decide(transaction) => self.0.decide(transaction, deadline).await.map(decided),
            Asked::Decided { .. } => self.0.decided(&tx, deadline).await.map(decided),
            Asked::Vote { vote, work_ms, .. } => {
                let voted = self.0.vote(&tx, vote, Duration::from_millis(work_ms), deadline).await;
                let tx = tx.clone();
                voted.map(|voted| Answered::Voted { tx, voted })
            }
        };
        Ok(answer.map_or_else(|ended| Answer::from(ended).with(about()), Answer::ok))
    }
}

impl Service for Handler {
    fn operations(&self) -> &'static [&'static str] {
        &["begin", "decide", "vote", "decided"]
    }

    fn answer(&self, request: Request, deadline: Option<Duration>) -> BoxFuture<'static, (Answer, Option<Working>)> {
        let handler = self.clone();
        async move {
            let served = handler.serve(&request, deadline).await;
            (served.unwrap_or_else(|answer| answer), None)
        }
        .boxed()
    }

    fn session(&self) -> BoxFuture<'static, SessionHandle> {
        self.0.session()
    }
}
