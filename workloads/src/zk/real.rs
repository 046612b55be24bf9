//! The real thing: sessions of the zookeeper-client crate, and this machine, on tokio.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zookeeper_client as zkc;

use super::{
    Connect, CreateMode, CreatedZnode, Error, Host, MultiError, MultiOp, OpResult, Reply, Result, SessionState, Stat,
    Watch, WatchEvent, Zk,
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
            Ok(client) => async move { commit(&client, ops).await }.boxed(),
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

impl From<zkc::Error> for Error {
    fn from(error: zkc::Error) -> Self {
        match error {
            zkc::Error::NoNode => Self::NoNode,
            zkc::Error::NodeExists => Self::NodeExists,
            zkc::Error::BadVersion => Self::BadVersion,
            zkc::Error::NotEmpty => Self::NotEmpty,
            zkc::Error::NoAuth => Self::NoAuth,
            zkc::Error::InvalidAcl => Self::InvalidAcl,
            zkc::Error::NoChildrenForEphemerals => Self::NoChildrenForEphemerals,
            zkc::Error::BadArguments(why) => Self::BadArguments(why.to_string()),
            other => Self::Unknown(other.to_string()),
        }
    }
}

impl From<zkc::SessionState> for SessionState {
    fn from(state: zkc::SessionState) -> Self {
        match state {
            zkc::SessionState::SyncConnected | zkc::SessionState::ConnectedReadOnly => Self::Connected,
            zkc::SessionState::Disconnected => Self::Disconnected,
            zkc::SessionState::Expired | zkc::SessionState::AuthFailed => Self::Expired,
            zkc::SessionState::Closed => Self::Closed,
        }
    }
}

impl From<CreateMode> for zkc::CreateMode {
    fn from(mode: CreateMode) -> Self {
        match mode {
            CreateMode::Persistent => Self::Persistent,
            CreateMode::PersistentSequential => Self::PersistentSequential,
            CreateMode::Ephemeral => Self::Ephemeral,
            CreateMode::EphemeralSequential => Self::EphemeralSequential,
        }
    }
}

impl From<zkc::Stat> for Stat {
    fn from(stat: zkc::Stat) -> Self {
        Self {
            czxid: stat.czxid,
            mzxid: stat.mzxid,
            version: stat.version,
            ephemeral_owner: stat.ephemeral_owner,
        }
    }
}

/// Does all of these or none.
async fn commit(client: &zkc::Client, ops: Vec<MultiOp>) -> std::result::Result<Vec<OpResult>, MultiError> {
    let whole = |error: zkc::Error| MultiError {
        index: None,
        error: error.into(),
    };
    let mut writer = client.new_multi_writer();
    for op in &ops {
        match op {
            MultiOp::Check(path, version) => writer.add_check_version(path, version.unwrap_or(-1)),
            MultiOp::Create(path, data, mode) => {
                writer.add_create(path, data, &zkc::CreateMode::from(*mode).with_acls(ANYONE))
            }
            MultiOp::Set(path, data, version) => writer.add_set_data(path, data, *version),
            MultiOp::Delete(path, version) => writer.add_delete(path, *version),
        }
        .map_err(whole)?;
    }
    let results = writer.commit().await.map_err(|error| match error {
        zkc::MultiWriteError::RequestFailed { source } => whole(source),
        zkc::MultiWriteError::OperationFailed { index, source } => MultiError {
            index: Some(index),
            error: source.into(),
        },
    })?;
    results.into_iter().map(op_result).collect()
}

fn op_result(result: zkc::MultiWriteResult) -> std::result::Result<OpResult, MultiError> {
    Ok(match result {
        zkc::MultiWriteResult::Check => OpResult::Checked,
        zkc::MultiWriteResult::Delete => OpResult::Deleted,
        zkc::MultiWriteResult::Create { path, stat } => OpResult::Created(CreatedZnode {
            path,
            stat: (!stat.is_invalid()).then(|| stat.into()),
        }),
        zkc::MultiWriteResult::SetData { stat } => OpResult::Set(stat.into()),
        // It was applied, and its answer makes no sense to us.
        other => {
            return Err(MultiError {
                index: None,
                error: Error::Unknown(format!("{other:?}")),
            });
        }
    })
}

/// This machine, on tokio.
#[derive(Debug)]
pub struct RealHost {
    started: Instant,
}

impl Default for RealHost {
    fn default() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Host for RealHost {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn wall(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(time).boxed()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }

    fn random(&self) -> u128 {
        // Each `RandomState` is seeded by the system's randomness.
        let half = |salt: u64| u128::from(RandomState::new().hash_one((salt, self.started, std::process::id())));
        half(1) << 64 | half(2)
    }
}
