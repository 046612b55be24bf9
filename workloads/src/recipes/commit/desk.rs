//! The operations of a two-phase commit: `begin` and `decide` of the coordinator, `vote` and `decided` of the sites.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::{Party, Transaction, Vote};
use crate::protocol::Request;
use crate::recipes::Working;
use crate::service::{Answer, Seat, Service, parse};

/// A party, as the client program drives it.
#[derive(Clone)]
pub struct Desk(Arc<dyn Party>);

#[derive(Deserialize)]
struct Voting {
    tx: String,
    vote: Vote,
    #[serde(default)]
    work_ms: u64,
}

#[derive(Deserialize)]
struct Named {
    tx: String,
}

impl Desk {
    /// Serves this party.
    pub fn new(party: impl Party + 'static) -> Self {
        Self(Arc::new(party))
    }

    async fn serve(&self, request: &Request, deadline: Option<Duration>) -> Result<Answer, Answer> {
        let (tx, answer) = match request.f.as_str() {
            "begin" => {
                let asked = named(parse::<Transaction>(request)?, |asked| &asked.tx)?;
                let begun = self.0.begin(asked.clone(), deadline).await;
                let answer = begun.map(|()| json!({"tx": asked.tx}));
                (asked.tx, answer)
            }
            "decide" => {
                let asked = named(parse::<Transaction>(request)?, |asked| &asked.tx)?;
                let decision = self.0.decide(asked.clone(), deadline).await;
                let answer = decision.map(|decision| json!({"tx": asked.tx, "decision": decision}));
                (asked.tx, answer)
            }
            "vote" => {
                let Voting { tx, vote, work_ms } = named(parse(request)?, |asked: &Voting| &asked.tx)?;
                let voted = self.0.vote(&tx, vote, Duration::from_millis(work_ms), deadline).await;
                let answer = voted.map(|voted| json!({"tx": tx, "voted": voted}));
                (tx, answer)
            }
            "decided" => {
                let Named { tx } = named(parse(request)?, |asked: &Named| &asked.tx)?;
                let decision = self.0.decided(&tx, deadline).await;
                let answer = decision.map(|decision| json!({"tx": tx, "decision": decision}));
                (tx, answer)
            }
            other => return Err(Answer::fail(format!("no operation `{other}`"))),
        };
        Ok(answer.map_or_else(|ended| Answer::from(ended).with(json!({"tx": tx})), Answer::ok))
    }
}

/// A transaction's name is a znode's.
fn named<T>(asked: T, name: impl Fn(&T) -> &String) -> Result<T, Answer> {
    let tx = name(&asked);
    if tx.is_empty() || tx.contains('/') {
        return Err(Answer::fail(format!("`{tx}` is no name of a transaction")));
    }
    Ok(asked)
}

impl Service for Desk {
    fn operations(&self) -> &'static [&'static str] {
        &["begin", "decide", "vote", "decided"]
    }

    fn answer(&self, request: Request, deadline: Option<Duration>) -> BoxFuture<'static, (Answer, Option<Working>)> {
        let desk = self.clone();
        async move {
            let served = desk.serve(&request, deadline).await;
            (served.unwrap_or_else(|answer| answer), None)
        }
        .boxed()
    }

    fn session(&self) -> BoxFuture<'static, Seat> {
        self.0.session()
    }
}
