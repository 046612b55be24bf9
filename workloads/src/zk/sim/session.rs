//! A session with the ensemble in memory, as recipes see it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use super::client::WatchedReply as Replied;
use super::ensemble::Ensemble;
use super::tree::Path;
use super::txn::Write;
use super::wire::{ClientRequest, ServerReply};
use crate::zk::{
    CreateMode, CreatedZnode, Error, MultiError, MultiOp, OpResult, Reply, SessionState, SharedValue, Stat, Watch, Zk,
};

/// The handle of a client; dropped, it closes the session.
pub(super) struct Session {
    ensemble: Arc<Mutex<Ensemble>>,
    client: usize,
    session: i64,
    timeout: Duration,
    state: SharedValue<SessionState>,
}

impl Session {
    /// Waits until a client has its session.
    pub(super) async fn open(ensemble: Arc<Mutex<Ensemble>>, client: usize) -> Self {
        let state = Ensemble::lock(&ensemble).clients[client].state.clone();
        // A caller that gives up before has opened the session all the same, and closes it.
        let mut opening = Self {
            ensemble,
            client,
            session: 0,
            timeout: Duration::ZERO,
            state: state.clone(),
        };
        state
            .until(|state| (*state != SessionState::Disconnected).then_some(()))
            .await;
        (opening.session, opening.timeout) = {
            let ensemble = Ensemble::lock(&opening.ensemble);
            (ensemble.clients[client].session, ensemble.clients[client].timeout)
        };
        opening
    }

    /// Sends a request when the future is first polled.
    fn ask(&self, ask: ClientRequest) -> BoxFuture<'static, Replied> {
        let (ensemble, client) = (self.ensemble.clone(), self.client);
        async move {
            let replied = Ensemble::lock(&ensemble).submit(client, ask);
            heard(replied).await
        }
        .boxed()
    }

    /// Sends a request, and makes of its answer what was asked for.
    fn asked<T: 'static>(&self, ask: ClientRequest, take: fn(ServerReply, Option<Watch>) -> Option<T>) -> Reply<T> {
        let reply = self.ask(ask);
        async move {
            let (answered, watch) = reply.await;
            let answer = answered.map_err(|error| error.error)?;
            let watch = watch.map(|watch| heard(watch).boxed());
            take(answer, watch).ok_or_else(|| Error::Unknown("an answer to something else".to_string()))
        }
        .boxed()
    }

    fn write<T: 'static>(&self, op: MultiOp, take: fn(OpResult) -> Option<T>) -> Reply<T> {
        let reply = self.ask(ClientRequest::Write(Write::One(op)));
        async move {
            let answered = reply.await.0.map_err(|error| error.error)?;
            let result = match answered {
                ServerReply::Wrote(mut results) => results.pop().and_then(take),
                _ => None,
            };
            result.ok_or_else(|| Error::Unknown("an answer to something else".to_string()))
        }
        .boxed()
    }
}

/// What comes on a channel; nothing ever does if the process has died.
async fn heard<T>(receiver: oneshot::Receiver<T>) -> T {
    match receiver.await {
        Ok(heard) => heard,
        Err(_) => std::future::pending().await,
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nobody waits for the answer.
        drop(Ensemble::lock(&self.ensemble).submit(self.client, ClientRequest::Write(Write::Close)));
    }
}

fn data(answer: ServerReply) -> Option<(Vec<u8>, Stat)> {
    match answer {
        ServerReply::Data(data, stat) => Some((data, stat)),
        _ => None,
    }
}

fn stat(answer: ServerReply) -> Option<Option<Stat>> {
    match answer {
        ServerReply::Stat(stat) => Some(stat),
        _ => None,
    }
}

fn names(answer: ServerReply) -> Option<Vec<String>> {
    match answer {
        ServerReply::Children(names) => Some(Arc::unwrap_or_clone(names)),
        _ => None,
    }
}

impl Zk for Session {
    fn session(&self) -> i64 {
        self.session
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn state(&self) -> SessionState {
        self.state.with(|state| *state)
    }

    fn changed(&self, from: SessionState) -> BoxFuture<'static, SessionState> {
        let state = self.state.clone();
        async move { state.until(|state| (*state != from).then_some(*state)).await }.boxed()
    }

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<CreatedZnode> {
        self.write(
            MultiOp::Create(path.to_string(), data.to_vec(), mode),
            |result| match result {
                OpResult::Created(created) => Some(created),
                _ => None,
            },
        )
    }

    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()> {
        let deleted = |result| matches!(result, OpResult::Deleted).then_some(());
        self.write(MultiOp::Delete(path.to_string(), version), deleted)
    }

    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)> {
        self.asked(ClientRequest::Get(Path::from(path), false), |answer, _| data(answer))
    }

    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)> {
        self.asked(ClientRequest::Get(Path::from(path), true), |answer, watch| {
            let (data, stat) = data(answer)?;
            Some((data, stat, watch?))
        })
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        self.write(
            MultiOp::Set(path.to_string(), data.to_vec(), version),
            |result| match result {
                OpResult::Set(stat) => Some(stat),
                _ => None,
            },
        )
    }

    fn exists(&self, path: &str) -> Reply<Option<Stat>> {
        self.asked(ClientRequest::Exists(Path::from(path), false), |answer, _| stat(answer))
    }

    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)> {
        self.asked(ClientRequest::Exists(Path::from(path), true), |answer, watch| {
            Some((stat(answer)?, watch?))
        })
    }

    fn children(&self, path: &str) -> Reply<Vec<String>> {
        self.asked(ClientRequest::Children(Path::from(path), false), |answer, _| {
            names(answer)
        })
    }

    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)> {
        self.asked(ClientRequest::Children(Path::from(path), true), |answer, watch| {
            Some((names(answer)?, watch?))
        })
    }

    fn multi(&self, ops: Vec<MultiOp>) -> BoxFuture<'static, Result<Vec<OpResult>, MultiError>> {
        let reply = self.ask(ClientRequest::Write(Write::Multi(ops)));
        async move {
            match reply.await.0? {
                ServerReply::Wrote(results) => Ok(results),
                other => {
                    let error = Error::Unknown(format!("an answer to something else: {other:?}"));
                    Err(MultiError { index: None, error })
                }
            }
        }
        .boxed()
    }

    fn sync(&self, _: &str) -> Reply<()> {
        self.asked(ClientRequest::Sync, |answer, _| {
            matches!(answer, ServerReply::Done).then_some(())
        })
    }

    fn close(&self) -> BoxFuture<'static, SessionState> {
        // The answer is not awaited: the state shows the end.
        drop(Ensemble::lock(&self.ensemble).submit(self.client, ClientRequest::Write(Write::Close)));
        let state = self.state.clone();
        async move { state.until(|state| state.is_over().then_some(*state)).await }.boxed()
    }
}
