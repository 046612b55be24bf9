//! The client protocol of zooquake: everything but the recipe. Needs rustix, serde_json, tokio and zookeeper-client.
//!
//! A recipe is a [`Recipe`]; of what is held (locks, elections, semaphores), [`Grants`] of a [`Holder`]. [`run`] does
//! the rest and never returns. What the kit does in place of the recipe one of its [`Hooks`] replaces; what it leaves
//! to the kit is not on trial, and `hello` states it.
#![allow(dead_code, reason = "every recipe uses a part of this")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::future::Future;
use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use zookeeper_client::{Acls, Client, CreateMode, Error, SessionState, Stat};

const NOT_HELD: &str = "not-held";
const CONFIRM: Duration = Duration::from_secs(10);
/// A write has arrived this long after its reply.
const ARRIVAL: Duration = Duration::from_millis(200);
/// How long after its deadline an operation is answered that did not answer by itself.
const GRACE: Duration = Duration::from_millis(100);

/// How an operation ends that is not `ok`.
#[derive(Debug)]
pub enum End {
    /// It certainly did not happen, and nothing of it is left.
    Fail(String),
    /// Unknown.
    Info(String),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Info(error.to_string())
    }
}

/// The state of the session at which the kit revokes a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// When it is disconnected or expired.
    Disconnected,
    /// When it has expired.
    Expired,
    /// At none: only the recipe revokes, by [`Kit::lose`].
    None,
}

impl Policy {
    fn revokes(self, state: &str) -> bool {
        match self {
            Self::Disconnected => state != "connected",
            Self::Expired => state == "expired",
            Self::None => false,
        }
    }
}

/// What a hook that waits gives.
pub type HookFuture<T> = Pin<Box<dyn Future<Output = Result<T, End>> + Send>>;

/// What the recipe does itself that the kit does otherwise.
#[derive(Default)]
pub struct Hooks {
    /// Opens a session with these servers and this timeout; is called again when that is over, and half a second after
    /// an error. By the kit: one of its own.
    pub connect: Option<Box<dyn Fn(&str, Duration) -> HookFuture<Client> + Send + Sync>>,
    /// Gives back what is held, or clears away what is left of it after it was lost; what it removed, as
    /// [`Kit::remove`], or `null`. By the kit: removes the znode.
    pub release: Option<Box<dyn Fn(&Arc<Kit>, &KitGrant) -> HookFuture<Value> + Send + Sync>>,
    /// Why a grant is lost, now that the session is `connected`, `disconnected` or `expired`; `None` if it is not. Is
    /// called when that changes, before each work and `confirm`, and after each operation. Must not wait. By the kit:
    /// as [`Holder::POLICY`] has it.
    pub lost: Option<Box<dyn Fn(&KitGrant, &str) -> Option<String> + Send + Sync>>,
    /// The contenders' znodes that are the client's own, because it holds or waits with them, with the zxid that
    /// created each; the kit looks up one that is `None`. By the kit: those that it was named.
    pub znodes: Option<Box<dyn Fn() -> BTreeMap<String, Option<i64>> + Send + Sync>>,
    /// The stat of the znode that holds. By the kit: as ZooKeeper has it.
    pub created: Option<Box<dyn Fn(&Arc<Kit>, &str) -> HookFuture<Stat> + Send + Sync>>,
}

impl Hooks {
    /// The names of those that the recipe has not, so that the kit does it; those of grants only where it holds
    /// something.
    fn by_kit(&self, grants: bool, policy: Policy) -> Vec<&'static str> {
        let hooks = [
            ("connect", self.connect.is_some(), true),
            ("release", self.release.is_some(), grants),
            ("lost", self.lost.is_some() || policy == Policy::None, grants),
            ("znodes", self.znodes.is_some(), true),
            ("created", self.created.is_some(), grants),
        ];
        let left = hooks.into_iter().filter(|&(_, own, asked)| asked && !own);
        left.map(|(name, ..)| name).collect()
    }
}

/// A recipe.
pub trait Recipe: Send + Sync + 'static {
    /// What the client cannot report, in the words of docs/protocol.md.
    const CANNOT: &'static [&'static str] = &[];
    /// The state of the session at which a grant is revoked, see [`Holder::POLICY`].
    const POLICY: Policy = Policy::Disconnected;
    /// Whether it holds something.
    const GRANTS: bool = false;
    /// The names of its operations.
    const OPERATIONS: &'static [&'static str];

    /// Answers an operation, by its deadline.
    fn operate(
        &self,
        kit: &Arc<Kit>,
        f: &str,
        value: &Value,
        deadline: Instant,
    ) -> impl Future<Output = Result<Value, End>> + Send;
}

/// What waits until it holds.
pub trait Holder: Send + Sync + 'static {
    /// What the client cannot report, in the words of docs/protocol.md.
    const CANNOT: &'static [&'static str] = &[];
    /// When the kit revokes a grant.
    const POLICY: Policy = Policy::Disconnected;

    /// The token that is sent with each write, in a fenced variant; `None` for none.
    fn token(&self, _created: &Stat) -> Option<i64> {
        None
    }

    /// Waits until the client holds; returns the path of its ephemeral znode.
    fn acquire(&self, kit: &Arc<Kit>, deadline: Instant) -> impl Future<Output = Result<String, End>> + Send;
}

/// The recipe of what is held.
pub struct Grants<H>(pub H);

/// What is known of a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KitGrant {
    /// The name that it was given.
    pub grant: String,
    /// Its znode.
    pub path: String,
    /// The transaction that created that.
    pub czxid: i64,
    /// The session that it rests on.
    pub session: String,
    /// What is sent with its writes.
    pub token: Option<i64>,
}

#[derive(Default)]
struct State {
    client: Option<Client>,
    /// That of the session; empty before there is one.
    word: &'static str,
    held: Option<KitGrant>,
    own: BTreeMap<String, Option<i64>>,
    pending: Option<u64>,
}

/// A recipe's access to its client: the session, the client's name, its own znodes.
pub struct Kit {
    name: String,
    policy: Policy,
    hooks: Hooks,
    state: Mutex<State>,
    /// Whether there has been a session.
    opened: watch::Sender<bool>,
    /// Pieces of work in the background.
    background: watch::Sender<usize>,
    /// Whether somebody works under a grant.
    working: watch::Sender<bool>,
    /// Operations come one at a time, also those that were answered at their deadline and go on.
    turn: tokio::sync::Mutex<()>,
}

/// A session as the protocol writes it.
fn hex(session: i64) -> String {
    format!("{session:#x}")
}

/// The process's stdout, which only messages are written on.
static OUTPUT: OnceLock<Mutex<File>> = OnceLock::new();

/// Keeps stdout for messages; whatever else prints goes to stderr.
fn take_stdout() -> std::io::Result<()> {
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    OUTPUT.get_or_init(|| Mutex::new(output));
    Ok(())
}

fn send(line: &Value) {
    let Some(output) = OUTPUT.get() else { return };
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    if output.write_all(format!("{line}\n").as_bytes()).is_err() {
        // The reader is gone.
        std::process::exit(0);
    }
}

fn notice(name: &str, value: &Value) {
    send(&json!({ "type": "notice", "notice": name, "value": value }));
}

fn reply(id: u64, end: Result<Value, End>) {
    send(&match end {
        Ok(value) => json!({ "type": "reply", "id": id, "outcome": "ok", "value": value }),
        Err(End::Fail(error)) => json!({ "type": "reply", "id": id, "outcome": "fail", "value": null, "error": error }),
        Err(End::Info(error)) => json!({ "type": "reply", "id": id, "outcome": "info", "value": null, "error": error }),
    });
}

/// Whether an error proves that a request had no effect.
fn is_definite(error: &Error) -> bool {
    use Error::{BadArguments, BadVersion, InvalidAcl, NoAuth, NoChildrenForEphemerals, NoNode, NodeExists, NotEmpty};
    matches!(
        error,
        BadArguments(_) | BadVersion | InvalidAcl | NoAuth | NoChildrenForEphemerals | NoNode | NodeExists | NotEmpty
    )
}

/// A whole number of a request's value.
///
/// # Errors
/// If it is missing or another type.
pub fn number(value: &Value, name: &str) -> Result<i64, End> {
    let number = value[name].as_i64();
    number.ok_or_else(|| End::Fail(format!("the value has no number `{name}`")))
}

/// The name of a sequential znode by what ZooKeeper counts: its last ten digits.
fn sequence(name: &str) -> String {
    name[name.len().saturating_sub(10)..].to_owned()
}

impl Kit {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present session's client.
    ///
    /// # Errors
    /// If there is none at the moment.
    pub fn client(&self) -> Result<Client, Error> {
        self.state().client.clone().ok_or(Error::SessionExpired)
    }

    fn session(&self) -> Option<String> {
        self.state().client.as_ref().map(|client| hex(client.session_id().0))
    }

    /// Does a request again for as long as its outcome is unknown and its session lives.
    ///
    /// # Errors
    /// One that proves that it had no effect, or the end of the session.
    pub async fn retry<T, F: Future<Output = Result<T, Error>>>(
        &self,
        request: impl Fn(Client) -> F,
    ) -> Result<T, Error> {
        let client = self.client()?;
        loop {
            let over = matches!(
                client.state(),
                SessionState::Expired | SessionState::Closed | SessionState::AuthFailed
            );
            match request(client.clone()).await {
                Err(error) if !is_definite(&error) && !over => sleep(Duration::from_millis(50)).await,
                done => return done,
            }
        }
    }

    /// Records a contender's znode as this client's own; returns the znode's stat.
    ///
    /// # Errors
    /// If it is gone.
    pub async fn created(&self, path: &str) -> Result<Stat, Error> {
        self.state().own.insert(path.to_owned(), None);
        let stat = self.retry(|client| async move { client.check_stat(path).await }).await;
        let stat = stat.and_then(|stat| stat.ok_or(Error::NoNode));
        match &stat {
            Ok(stat) => self.state().own.insert(path.to_owned(), Some(stat.czxid)),
            Err(_) => self.state().own.remove(path).flatten().map(Some),
        };
        stat
    }

    /// Deletes a znode of this client's own, and again after an unknown outcome; what it removed, `null` if it was
    /// gone.
    ///
    /// # Errors
    /// The end of the session, which takes its ephemeral znodes with it.
    pub async fn remove(&self, path: &str) -> Result<Value, Error> {
        let czxid = self.state().own.get(path).copied().flatten();
        let deleted = self
            .retry(|client| async move { client.delete(path, None).await })
            .await;
        self.state().own.remove(path);
        match deleted {
            Ok(()) => Ok(json!({ "path": path, "czxid": czxid })),
            Err(Error::NoNode) => Ok(Value::Null),
            Err(error) => Err(error),
        }
    }

    /// Joins a queue: creates an ephemeral sequential znode below the parent, once, though the reply to an earlier try
    /// may have been lost. What an acquire has joined that grants nothing, the kit removes.
    ///
    /// # Errors
    /// The end of the session, or one that proves that nothing was created.
    pub async fn join(&self, parent: &str, name: &str) -> Result<String, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let prefix = format!("{}-{:x}-{name}", self.name, now.as_nanos());
        let (own, mode) = (
            format!("{parent}/{prefix}"),
            CreateMode::EphemeralSequential.with_acls(Acls::anyone_all()),
        );
        let (own, prefix, mode) = (own.as_str(), prefix.as_str(), &mode);
        let tried = AtomicBool::new(false);
        let tried = &tried;
        let join = async |client: Client| {
            if tried.swap(true, Ordering::Relaxed) {
                // A follower that lags lists no znode of an earlier try before it has applied a later write of the
                // session.
                self.quorum_write(&client).await?;
                let names = client.list_children(parent).await?;
                if let Some(name) = names.iter().find(|name| name.starts_with(prefix)) {
                    return Ok(format!("{parent}/{name}"));
                }
            }
            Ok(format!("{own}{}", client.create(own, &[], mode).await?.1))
        };
        let path = self.retry(join).await?;
        self.created(&path).await?;
        Ok(path)
    }

    /// The names of a znode's children, in the order of their sequence numbers.
    ///
    /// # Errors
    /// If the znode is not there; the end of the session.
    pub async fn children(&self, parent: &str) -> Result<Vec<String>, Error> {
        let mut names = self
            .retry(|client| async move { client.list_children(parent).await })
            .await?;
        names.sort_by_key(|name| sequence(name));
        Ok(names)
    }

    /// Those that joined a queue before this one did, in order.
    ///
    /// # Errors
    /// If it has gone with its session; the end of the session.
    pub async fn ahead(&self, path: &str) -> Result<Vec<String>, Error> {
        let (parent, name) = path.rsplit_once('/').ok_or(Error::NoNode)?;
        let names = self.children(parent).await?;
        let place = names.iter().position(|other| other == name).ok_or(Error::NoNode)?;
        Ok(names[..place].iter().map(|name| format!("{parent}/{name}")).collect())
    }

    /// Waits until a znode is gone, or the session changes: look again.
    ///
    /// # Errors
    /// The deadline, or the end of the session.
    pub async fn wait_gone(&self, path: &str, deadline: Instant) -> Result<(), End> {
        let (there, gone) = self
            .retry(|client| async move { client.check_and_watch_stat(path).await })
            .await?;
        if there.is_some() {
            timeout_at(deadline, gone.changed()).await.map_err(|_| timed_out())?;
        }
        Ok(())
    }

    /// Reports which item is about to be taken: to be called before the request that takes it.
    pub fn taking(&self, item: i64) {
        notice("taking", &json!({ "item": item }));
    }

    /// Has a session opened, and another one when that is over.
    async fn keep_connected(self: Arc<Self>, cluster: String, timeout: Duration) {
        loop {
            let opened = match &self.hooks.connect {
                Some(connect) => connect(&cluster, timeout).await,
                None => {
                    let connector = Client::connector().with_session_timeout(timeout);
                    connector.connect(&cluster).await.map_err(End::from)
                }
            };
            let client = match opened {
                Ok(client) => client,
                Err(End::Fail(error) | End::Info(error)) => {
                    eprintln!("connecting: {error}");
                    let pause = if self.hooks.connect.is_some() { 500 } else { 100 };
                    sleep(Duration::from_millis(pause)).await;
                    continue;
                }
            };
            let (session, mut states) = (hex(client.session_id().0), client.state_watcher());
            let mut state = client.state();
            self.state().client = Some(client);
            let mut opened = false;
            loop {
                self.tell(&session, state);
                if !opened && state == SessionState::SyncConnected {
                    opened = true;
                    self.opened.send_replace(true);
                }
                if !matches!(state, SessionState::SyncConnected | SessionState::Disconnected) {
                    break;
                }
                state = states.changed().await;
            }
            self.state().client = None;
        }
    }

    fn tell(self: &Arc<Self>, session: &str, state: SessionState) {
        let word = match state {
            SessionState::SyncConnected => "connected",
            SessionState::Disconnected => "disconnected",
            SessionState::Closed => "closed",
            _ => "expired",
        };
        notice("session", &json!({ "session": session, "state": word }));
        // To a grant it is the same.
        self.state().word = if word == "closed" { "expired" } else { word };
        self.still_held();
    }

    /// What is held, unless it is lost now.
    fn still_held(self: &Arc<Self>) -> Option<KitGrant> {
        let (held, word) = {
            let state = self.state();
            (state.held.clone()?, state.word)
        };
        let why = match &self.hooks.lost {
            Some(lost) => lost(&held, word),
            None => self.lost(&held, word),
        };
        let Some(why) = why else { return Some(held) };
        self.lose(&why);
        None
    }

    /// Why the policy has a grant lost.
    fn lost(&self, held: &KitGrant, word: &str) -> Option<String> {
        let over = self.session().as_ref() != Some(&held.session) && self.policy.revokes("expired");
        match self.policy.revokes(word) {
            true => Some(word.to_owned()),
            false => over.then(|| "expired".to_owned()),
        }
    }

    /// Gives back; given back or not, it is held no more.
    async fn give_back(self: &Arc<Self>, held: &KitGrant) -> Result<Value, End> {
        let removed = match &self.hooks.release {
            Some(release) => release(self, held).await,
            None => self.remove(&held.path).await.map_err(End::from),
        };
        self.state().own.remove(&held.path);
        removed
    }

    /// Revokes the grant that is held, if one is: the notice `lost`, and its znode is cleared away. While work under it
    /// goes on the znode is kept, if the session lives, until the work has arrived.
    pub fn lose(self: &Arc<Self>, why: &str) {
        let Some(held) = self.state().held.take() else { return };
        notice("lost", &json!({ "grant": held.grant, "why": why }));
        self.background.send_modify(|pieces| *pieces += 1);
        let kit = Arc::clone(self);
        tokio::spawn(async move {
            let _ = kit.working.subscribe().wait_for(|working| !working).await;
            sleep(ARRIVAL).await;
            let given = tokio::spawn({
                let (kit, held) = (Arc::clone(&kit), held.clone());
                async move { kit.give_back(&held).await }
            });
            if let Err(error) = ended(given.await) {
                eprintln!("clearing away {}: {error:?}", held.path);
            }
            kit.background.send_modify(|pieces| *pieces -= 1);
        });
    }

    /// Waits for the first session.
    async fn ready(&self, deadline: Instant) -> Result<(), End> {
        let mut opened = self.opened.subscribe();
        let waited = timeout_at(deadline, opened.wait_for(|opened| *opened)).await;
        waited.map(|_| ()).map_err(|_| timed_out())
    }

    async fn quiet(&self, deadline: Instant) -> Result<(), End> {
        let mut background = self.background.subscribe();
        let waited = timeout_at(deadline, background.wait_for(|pieces| *pieces == 0)).await;
        waited.map(|_| ()).map_err(|_| timed_out())
    }

    /// Answers the pending operation; false if it was answered already.
    fn end(&self, id: u64, end: Result<Value, End>) -> bool {
        let mut state = self.state();
        let ours = state.pending == Some(id);
        if ours {
            reply(id, end);
            state.pending = None;
        }
        ours
    }

    /// After an operation: a grant whose session is away, or that came too late, is lost.
    fn replied(self: &Arc<Self>, late: bool) {
        self.working.send_replace(false);
        if late {
            self.lose("answered too late");
        }
        self.still_held();
    }

    /// Writes the client's scratch znode: what is read after it in the same session has all that was acknowledged
    /// before.
    async fn quorum_write(&self, client: &Client) -> Result<Stat, Error> {
        let path = format!("/zooquake/scratch/{}", self.name);
        match client.set_data(&path, &[], None).await {
            Err(Error::NoNode) => {
                let mode = CreateMode::Persistent.with_acls(Acls::anyone_all());
                match client.create(&path, &[], &mode).await {
                    Ok(_) | Err(Error::NodeExists) => client.set_data(&path, &[], None).await,
                    Err(error) => Err(error),
                }
            }
            written => written,
        }
    }

    async fn confirm(self: &Arc<Self>) -> Result<Value, End> {
        let client = self.client()?;
        let session = hex(client.session_id().0);
        let zxid = self.quorum_write(&client).await?.mzxid;
        // Belief is looked at after the write, and not before.
        let held = self.still_held();
        if self.session().as_ref() != Some(&session) || held.as_ref().is_some_and(|held| held.session != session) {
            return Err(End::Info("the session changed meanwhile".to_owned()));
        }
        Ok(match held {
            Some(held) => json!({ "holds": true, "grant": held.grant, "zxid": zxid }),
            None => json!({ "holds": false, "zxid": zxid }),
        })
    }

    async fn quiesce(&self, deadline: Instant) -> Result<Value, End> {
        if self.state().pending.is_none() {
            // What was answered at its deadline may go on.
            drop(timeout_at(deadline, self.turn.lock()).await.map_err(|_| timed_out())?);
        }
        if !*self.opened.borrow() {
            // There has been no session, and there is nothing that lives with one.
            return Ok(json!({ "sessions": [], "znodes": [] }));
        }
        self.quiet(deadline).await?;
        let sessions: Vec<String> = self.session().into_iter().collect();
        let own = self.state().own.clone();
        let mut znodes: Vec<Value> = Vec::new();
        for (path, czxid) in self.hooks.znodes.as_ref().map_or(own, |znodes| znodes()) {
            let czxid = match czxid {
                None => self.client()?.check_stat(&path).await?.map(|stat| stat.czxid),
                known => known,
            };
            // What is gone is nobody's.
            znodes.extend(czxid.map(|czxid| json!({ "path": path, "czxid": czxid })));
        }
        Ok(json!({ "sessions": sessions, "znodes": znodes }))
    }
}

impl<H: Holder> Recipe for Grants<H> {
    const CANNOT: &'static [&'static str] = H::CANNOT;
    const POLICY: Policy = H::POLICY;
    const GRANTS: bool = true;
    const OPERATIONS: &'static [&'static str] = &["acquire", "elect", "release", "resign", "write", "work", "read"];

    async fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, deadline: Instant) -> Result<Value, End> {
        let grant = value["grant"].as_str();
        let grant = grant.ok_or_else(|| End::Fail("the value has no `grant`".to_owned()))?;
        match f {
            "acquire" | "elect" => self.acquire(kit, grant, deadline).await,
            "release" | "resign" => {
                let ours = kit.state().held.take_if(|held| held.grant == grant);
                let Some(held) = ours else {
                    kit.quiet(deadline).await?;
                    return Err(End::Fail(NOT_HELD.to_owned()));
                };
                Ok(json!({ "grant": grant, "removed": kit.give_back(&held).await? }))
            }
            _ => {
                let held = kit.still_held().filter(|held| held.grant == grant);
                let held = held.ok_or_else(|| End::Fail(NOT_HELD.to_owned()))?;
                kit.working.send_replace(true);
                sleep(Duration::from_millis(value["work_ms"].as_u64().unwrap_or(0))).await;
                Ok(match f {
                    "write" => json!({ "grant": grant, "value": value["value"], "token": held.token }),
                    _ => json!({ "grant": grant }),
                })
            }
        }
    }
}

impl<H: Holder> Grants<H> {
    async fn acquire(&self, kit: &Arc<Kit>, grant: &str, deadline: Instant) -> Result<Value, End> {
        kit.quiet(deadline).await?;
        let path = match self.0.acquire(kit, deadline).await {
            Ok(path) => path,
            Err(end) => {
                let own: Vec<String> = kit.state().own.keys().cloned().collect();
                for path in own {
                    kit.remove(&path).await?;
                }
                return Err(end);
            }
        };
        let stat = match &kit.hooks.created {
            Some(created) => created(kit, &path).await?,
            None => kit.created(&path).await?,
        };
        kit.state().own.insert(path.clone(), Some(stat.czxid));
        let held = KitGrant {
            grant: grant.to_owned(),
            path,
            czxid: stat.czxid,
            session: hex(stat.ephemeral_owner),
            token: self.0.token(&stat),
        };
        let mut answer =
            json!({ "grant": held.grant, "path": held.path, "czxid": held.czxid, "session": held.session });
        if let Some(token) = held.token {
            answer["token"] = token.into();
        }
        kit.state().held = Some(held);
        Ok(answer)
    }
}

/// The end of work in a task of its own: a recipe that panics has an unknown outcome.
fn ended<T>(joined: Result<Result<T, End>, tokio::task::JoinError>) -> Result<T, End> {
    joined.unwrap_or_else(|error| Err(End::Info(error.to_string())))
}

/// The end of what was not done by its deadline.
pub fn timed_out() -> End {
    End::Info("timed out".to_owned())
}

/// Takes a line; what is no request is answered as such, if it has a number.
fn take<R: Recipe>(kit: &Arc<Kit>, recipe: &Arc<R>, line: &str) {
    let request: Value = serde_json::from_str(line).unwrap_or_default();
    let (id, f) = (request["id"].as_u64(), request["f"].as_str().map(str::to_owned));
    let (Some(id), Some(f)) = (id, f) else {
        eprintln!("not a request: {line}");
        if let Some(id) = id {
            reply(id, Err(End::Fail("not a request".to_owned())));
        }
        return;
    };
    // An hour is longer than any run.
    let within = |usual: Duration| Instant::now() + request["timeout_ms"].as_u64().map_or(usual, Duration::from_millis);
    let (timed, deadline) = (request["timeout_ms"].is_u64(), within(Duration::from_secs(3600)));
    let (kit, recipe) = (Arc::clone(kit), Arc::clone(recipe));
    match f.as_str() {
        "ping" => reply(id, Ok(json!({}))),
        "confirm" => {
            let deadline = within(CONFIRM);
            tokio::spawn(async move {
                reply(
                    id,
                    timeout_at(deadline, kit.confirm())
                        .await
                        .unwrap_or_else(|_| Err(timed_out())),
                )
            });
        }
        "quiesce" => _ = tokio::spawn(async move { reply(id, kit.quiesce(deadline).await) }),
        known if R::OPERATIONS.contains(&known) => {
            let busy = kit.state().pending.is_some();
            if busy {
                let why = format!("busy: `{f}` was asked for while another operation runs");
                return reply(id, Err(End::Fail(why)));
            }
            kit.state().pending = Some(id);
            if timed {
                let kit = Arc::clone(&kit);
                tokio::spawn(async move {
                    sleep_until(deadline + GRACE).await;
                    kit.end(id, Err(timed_out()));
                });
            }
            tokio::spawn(async move {
                let _turn = kit.turn.lock().await;
                let works = tokio::spawn({
                    let kit = Arc::clone(&kit);
                    async move {
                        kit.ready(deadline).await?;
                        recipe.operate(&kit, &f, &request["value"], deadline).await
                    }
                });
                let end = ended(works.await);
                let granted = end.as_ref().is_ok_and(|value| !value["session"].is_null());
                let late = !kit.end(id, end) && granted;
                kit.replied(late);
            });
        }
        other => reply(id, Err(End::Fail(format!("no operation `{other}`")))),
    }
}

/// Runs a client with a recipe on stdin and stdout. It does not return: it ends the process when stdin ends.
pub async fn run<R: Recipe>(recipe: R) {
    run_with(recipe, Hooks::default()).await;
}

/// [`run`] of a recipe that does itself what the kit does otherwise.
pub async fn run_with<R: Recipe>(recipe: R, hooks: Hooks) {
    let variable =
        |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("the environment variable {name} is missing"));
    take_stdout().expect("stdout can be kept for messages");
    let pid = std::process::id();
    let (cannot, by_kit) = (R::CANNOT, hooks.by_kit(R::GRANTS, R::POLICY));
    send(&json!({ "type": "hello", "protocol": 1, "pid": pid, "session": null, "cannot": cannot, "kit": by_kit }));
    let kit = Arc::new(Kit {
        name: variable("ZOOQUAKE_CLIENT"),
        policy: R::POLICY,
        hooks,
        state: Mutex::default(),
        opened: watch::Sender::new(false),
        background: watch::Sender::new(0),
        working: watch::Sender::new(false),
        turn: tokio::sync::Mutex::default(),
    });
    let timeout = variable("ZOOQUAKE_SESSION_MS")
        .parse()
        .expect("ZOOQUAKE_SESSION_MS is a number");
    tokio::spawn(Arc::clone(&kit).keep_connected(variable("ZOOQUAKE_CONNECT"), Duration::from_millis(timeout)));
    let (lines, mut requests) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            // The receiver lives as long as the process.
            let _ = lines.send(line);
        }
        std::process::exit(0);
    });
    let recipe = Arc::new(recipe);
    while let Some(line) = requests.recv().await {
        if !line.trim().is_empty() {
            take(&kit, &recipe, &line);
        }
    }
}
