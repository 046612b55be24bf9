//! The real thing: sessions of the zookeeper-client crate, on tokio.

mod convert;
mod host;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
pub use host::RealHost;
use zookeeper_client as zkc;

use super::{
    Connect, CreateMode, CreatedZnode, Error, MultiError, MultiOp, OpResult, Reply, Result, SessionState, Stat, Watch,
    WatchEvent, Zk,
};

const ANYONE: zkc::Acls<'static> = zkc::Acls::anyone_all();

/// How long to wait between two tries to open a session.
const RETRY: Duration = Duration::from_millis(100);

/// Opens sessions with an ensemble.
#[derive(Debug, Clone)]
pub struct RealEnsemble {
    /// `host:port,host:port`.
    pub connect: String,
    /// The session timeout to ask for.
    pub session_timeout: Duration,
}

impl RealEnsemble {
    /// Opens a session; tries without end.
    pub async fn open(&self) -> RealZk {
        loop {
            let connector = zkc::Client::connector().with_session_timeout(self.session_timeout);
            match connector.connect(&self.connect).await {
                Ok(client) => return RealZk::new(client),
                Err(error) => eprintln!("no session with {}: {error}", self.connect),
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

impl Connect for RealEnsemble {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        let ensemble = self.clone();
        async move { Arc::new(ensemble.open().await) as Arc<dyn Zk> }.boxed()
    }
}

/// One session of the crate's client.
pub struct RealZk {
    /// `None` once closed. The last clone dropped closes the session, so nothing but requests under way may keep one.
    client: Mutex<Option<zkc::Client>>,
    states: zkc::StateWatcher,
    session: i64,
    timeout: Duration,
}

impl RealZk {
    fn new(client: zkc::Client) -> Self {
        let states = client.state_watcher();
        let (session, timeout) = (client.session_id().0, client.session_timeout());
        Self {
            client: Mutex::new(Some(client)),
            states,
            session,
            timeout,
        }
    }

    /// The crate's own client, for what the crate alone can do.
    ///
    /// # Errors
    /// After [`Zk::close`].
    pub fn client(&self) -> Result<zkc::Client> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        client
            .clone()
            .ok_or_else(|| Error::Unknown("the session was closed".to_string()))
    }

    /// Waits until a state is reached, and returns it.
    fn until(&self, reached: impl Fn(SessionState) -> bool + Send + 'static) -> BoxFuture<'static, SessionState> {
        let mut states = self.states.clone();
        async move {
            let mut state = SessionState::from(states.state());
            while !reached(state) {
                state = states.changed().await.into();
            }
            state
        }
        .boxed()
    }

    /// Runs a request on a clone of the client, which goes when the request ends.
    fn request<T, F>(&self, request: impl FnOnce(zkc::Client) -> F + Send + 'static) -> Reply<T>
    where
        T: Send + 'static,
        F: Future<Output = std::result::Result<T, zkc::Error>> + Send + 'static,
    {
        match self.client() {
            Ok(client) => request(client).map(|result| result.map_err(Error::from)).boxed(),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }
}

impl Zk for RealZk {
    fn session(&self) -> i64 {
        self.session
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn state(&self) -> SessionState {
        self.states.peek_state().into()
    }

    fn changed(&self, from: SessionState) -> BoxFuture<'static, SessionState> {
        self.until(move |state| state != from)
    }

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Reply<CreatedZnode> {
        let (path, data) = (path.to_string(), data.to_vec());
        self.request(move |client| async move {
            let options = zkc::CreateMode::from(mode).with_acls(ANYONE);
            let (stat, sequence) = client.create(&path, &data, &options).await?;
            let sequential = matches!(mode, CreateMode::PersistentSequential | CreateMode::EphemeralSequential);
            let path = if sequential { format!("{path}{sequence}") } else { path };
            Ok(CreatedZnode {
                path,
                stat: (!stat.is_invalid()).then(|| stat.into()),
            })
        })
    }

    fn delete(&self, path: &str, version: Option<i32>) -> Reply<()> {
        let path = path.to_string();
        self.request(move |client| async move { client.delete(&path, version).await })
    }

    fn get(&self, path: &str) -> Reply<(Vec<u8>, Stat)> {
        let path = path.to_string();
        self.request(move |client| async move {
            let (data, stat) = client.get_data(&path).await?;
            Ok((data, stat.into()))
        })
    }

    fn get_and_watch(&self, path: &str) -> Reply<(Vec<u8>, Stat, Watch)> {
        let path = path.to_string();
        self.request(move |client| async move {
            let (data, stat, watcher) = client.get_and_watch_data(&path).await?;
            Ok((data, stat.into(), watch(watcher)))
        })
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Reply<Stat> {
        let (path, data) = (path.to_string(), data.to_vec());
        self.request(move |client| async move { Ok(client.set_data(&path, &data, version).await?.into()) })
    }

    fn exists(&self, path: &str) -> Reply<Option<Stat>> {
        let path = path.to_string();
        self.request(move |client| async move { Ok(client.check_stat(&path).await?.map(Stat::from)) })
    }

    fn exists_and_watch(&self, path: &str) -> Reply<(Option<Stat>, Watch)> {
        let path = path.to_string();
        self.request(move |client| async move {
            let (stat, watcher) = client.check_and_watch_stat(&path).await?;
            Ok((stat.map(Stat::from), watch(watcher)))
        })
    }

    fn children(&self, path: &str) -> Reply<Vec<String>> {
        let path = path.to_string();
        self.request(move |client| async move { client.list_children(&path).await })
    }

    fn children_and_watch(&self, path: &str) -> Reply<(Vec<String>, Watch)> {
        let path = path.to_string();
        self.request(move |client| async move {
            let (children, watcher) = client.list_and_watch_children(&path).await?;
            Ok((children, watch(watcher)))
        })
    }

    fn multi(&self, ops: Vec<MultiOp>) -> BoxFuture<'static, std::result::Result<Vec<OpResult>, MultiError>> {
        match self.client() {
            Ok(client) => async move { convert::commit(&client, ops).await }.boxed(),
            Err(error) => std::future::ready(Err(MultiError { index: None, error })).boxed(),
        }
    }

    fn sync(&self, path: &str) -> Reply<()> {
        let path = path.to_string();
        self.request(move |client| async move { client.sync(&path).await })
    }

    fn close(&self) -> BoxFuture<'static, SessionState> {
        drop(self.client.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.until(SessionState::is_over)
    }
}

fn watch(watcher: zkc::OneshotWatcher) -> Watch {
    async move {
        let event = watcher.changed().await;
        match event.event_type {
            zkc::EventType::Session => WatchEvent::Session(event.session_state.into()),
            zkc::EventType::NodeCreated => WatchEvent::Created,
            zkc::EventType::NodeDeleted => WatchEvent::Deleted,
            zkc::EventType::NodeDataChanged => WatchEvent::DataChanged,
            zkc::EventType::NodeChildrenChanged => WatchEvent::ChildrenChanged,
        }
    }
    .boxed()
}
