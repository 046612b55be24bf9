//! The client protocol of zooquake over the crate zookeeper, which the kit for Rust does not know. A client is
//! replaced when it is `Closed`, or when a thread of it has panicked; nothing of a recipe is done here.
#![allow(dead_code, reason = "each recipe uses a part of this")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, sleep, spawn};
use std::time::{Duration, Instant};
use zookeeper::{Acl, CreateMode, WatchedEvent, ZkError, ZkResult, ZkState, ZooKeeper};

/// How an operation ends that is not `ok`.
pub enum End {
    /// It certainly did not happen, and nothing of it is left.
    Fail(String),
    /// Unknown.
    Info(String),
}

impl From<ZkError> for End {
    fn from(error: ZkError) -> Self {
        Self::Info(format!("{error:?}"))
    }
}

/// A recipe. Operations come one at a time; the rest is asked beside them.
pub trait ServedRecipe: Send + Sync + 'static {
    const OPERATIONS: &'static [&'static str];
    const CANNOT: &'static [&'static str] = &[];

    fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, deadline: Instant) -> Result<Value, End>;

    /// What is given back of an operation that was answered as unknown and succeeded later.
    fn late(&self, _: &Arc<Kit>, _: &Value) {}

    /// The grant that is held, and its session.
    fn holds(&self, _: &Arc<Kit>) -> Option<(String, String)> {
        None
    }

    /// The contenders' znodes that are the client's own.
    fn znodes(&self) -> Vec<String> {
        Vec::new()
    }

    /// There is a new session. May wait.
    fn opened(self: &Arc<Self>, _: &Arc<Kit>) {}

    /// What is shown of a group, and the own entry in it.
    fn view(&self, _: &Arc<Kit>) -> Option<(Value, Value)> {
        None
    }
}

#[derive(Default)]
struct State {
    client: Option<Arc<ZooKeeper>>,
    session: Option<String>,
    opened: bool,
    /// The pending operation, and when it is answered at the latest.
    pending: Option<(u64, Option<Instant>)>,
}

/// A recipe's access to its client.
pub struct Kit {
    pub name: String,
    state: Mutex<State>,
    /// One operation at a time, also those that were answered at their deadline and go on.
    turn: Mutex<()>,
}

enum Seen {
    State(ZkState),
    Panicked,
}

static PANICS: OnceLock<Mutex<Sender<Seen>>> = OnceLock::new();

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn hex(session: i64) -> String {
    format!("{session:#x}")
}

fn send(line: &Value) {
    let mut output = std::io::stdout().lock();
    if output
        .write_all(format!("{line}\n").as_bytes())
        .and_then(|()| output.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

pub fn notice(name: &str, value: &Value) {
    send(&json!({ "type": "notice", "notice": name, "value": value }));
}

fn reply(id: u64, end: Result<Value, End>) {
    send(&match end {
        Ok(value) => json!({ "type": "reply", "id": id, "outcome": "ok", "value": value }),
        Err(End::Fail(error)) => json!({ "type": "reply", "id": id, "outcome": "fail", "value": null, "error": error }),
        Err(End::Info(error)) => json!({ "type": "reply", "id": id, "outcome": "info", "value": null, "error": error }),
    });
}

pub fn number(value: &Value, name: &str) -> Result<i64, End> {
    let number = value[name].as_i64();
    number.ok_or_else(|| End::Fail(format!("the value has no number `{name}`")))
}

pub fn timed_out() -> End {
    End::Info("timed out".to_owned())
}

/// The session of a client, which tells it to nobody: that of a znode that it makes for a moment.
fn session_of(client: &ZooKeeper, name: &str) -> ZkResult<String> {
    let path = format!("/zooquake/scratch/{name}-session-");
    let path = client.create(
        &path,
        Vec::new(),
        Acl::open_unsafe().clone(),
        CreateMode::EphemeralSequential,
    )?;
    let stat = client.exists(&path, false)?.ok_or(ZkError::NoNode)?;
    client.delete(&path, None)?;
    Ok(hex(stat.ephemeral_owner))
}

impl Kit {
    /// The present client.
    pub fn client(&self) -> Result<Arc<ZooKeeper>, End> {
        let client = lock(&self.state).client.clone();
        client.ok_or_else(|| End::Info("there is no client at the moment".to_owned()))
    }

    /// The present client, to a request that is tried again without one.
    pub fn client_now(&self) -> ZkResult<Arc<ZooKeeper>> {
        self.client().map_err(|_| ZkError::ConnectionLoss)
    }

    pub fn is_present(&self, client: &Arc<ZooKeeper>) -> bool {
        lock(&self.state)
            .client
            .as_ref()
            .is_some_and(|present| Arc::ptr_eq(present, client))
    }

    pub fn session(&self) -> Option<String> {
        lock(&self.state).session.clone()
    }

    fn tell<R: ServedRecipe>(self: &Arc<Self>, recipe: &Arc<R>, session: &str, state: &str) {
        notice("session", &json!({ "session": session, "state": state }));
        recipe.holds(self);
    }

    /// Follows one client after the other.
    fn keep_connected<R: ServedRecipe>(self: Arc<Self>, recipe: Arc<R>, cluster: String, timeout: Duration) {
        loop {
            let (sender, seen) = channel();
            *lock(PANICS.get_or_init(|| Mutex::new(sender.clone()))) = sender.clone();
            let cluster = cluster.clone();
            // It panics where the first server cannot be reached.
            let connecting = spawn(move || ZooKeeper::connect(&cluster, timeout, |_: WatchedEvent| {}));
            let Ok(Ok(client)) = connecting.join() else {
                sleep(Duration::from_millis(500));
                continue;
            };
            let (client, states) = (Arc::new(client), sender.clone());
            client.add_listener(move |state| _ = states.send(Seen::State(state)));
            _ = sender.send(Seen::State(ZkState::Connected));
            self.follow(&recipe, &client, &seen, &sender);
            let session = {
                let mut state = lock(&self.state);
                state.client = None;
                state.session.take()
            };
            if let Some(session) = session {
                self.tell(&recipe, &session, "closed");
            }
            // Dropping it closes the session, which may take as long as its servers do.
            spawn(move || drop(client));
        }
    }

    /// Follows a client until it is of no use any more.
    fn follow<R: ServedRecipe>(
        self: &Arc<Self>,
        recipe: &Arc<R>,
        client: &Arc<ZooKeeper>,
        seen: &Receiver<Seen>,
        again: &Sender<Seen>,
    ) {
        let mut connected = false;
        while let Ok(Seen::State(state)) = seen.recv() {
            match state {
                ZkState::Closed | ZkState::AuthFailed => return,
                ZkState::Connected => {
                    // A cut, and the end of the client, answer as well.
                    let Ok(session) = session_of(client, &self.name) else {
                        sleep(Duration::from_millis(100));
                        _ = again.send(Seen::State(ZkState::Connected));
                        continue;
                    };
                    let before = lock(&self.state).session.replace(session.clone());
                    let new = before.as_ref() != Some(&session);
                    if let Some(before) = before.filter(|before| *before != session) {
                        self.tell(recipe, &before, "expired");
                    }
                    lock(&self.state).client = Some(Arc::clone(client));
                    self.tell(recipe, &session, "connected");
                    connected = true;
                    lock(&self.state).opened = true;
                    if new {
                        let (kit, recipe) = (Arc::clone(self), Arc::clone(recipe));
                        spawn(move || recipe.opened(&kit));
                    }
                }
                _ => {
                    if let Some(session) = self.session().filter(|_| connected) {
                        self.tell(recipe, &session, "disconnected");
                    }
                }
            }
        }
    }

    /// Writes the client's scratch znode; the transaction of that, and the session that it was made in. The client
    /// goes on in a new session without a word: it is asked for its session before and after.
    fn quorum_write(&self) -> Result<(i64, String), End> {
        let client = self.client()?;
        let session = session_of(&client, &self.name)?;
        let path = format!("/zooquake/scratch/{}", self.name);
        let written = match client.set_data(&path, Vec::new(), None) {
            Err(ZkError::NoNode) => {
                match client.create(&path, Vec::new(), Acl::open_unsafe().clone(), CreateMode::Persistent) {
                    Ok(_) | Err(ZkError::NodeExists) => client.set_data(&path, Vec::new(), None),
                    Err(error) => Err(error),
                }
            }
            written => written,
        };
        let zxid = written?.mzxid;
        match session_of(&client, &self.name)? == session {
            true => Ok((zxid, session)),
            false => Err(End::Info("the session changed meanwhile".to_owned())),
        }
    }

    fn confirm<R: ServedRecipe>(self: &Arc<Self>, recipe: &R) -> Result<Value, End> {
        let (zxid, session) = self.quorum_write()?;
        // Belief is looked at after the write, and not before.
        match recipe.holds(self) {
            Some((_, other)) if other != session => Err(End::Info("it rests on another session".to_owned())),
            Some((grant, _)) => Ok(json!({ "holds": true, "grant": grant, "zxid": zxid })),
            None => Ok(json!({ "holds": false, "zxid": zxid })),
        }
    }

    fn quiesce<R: ServedRecipe>(&self, recipe: &R) -> Result<Value, End> {
        if lock(&self.state).pending.is_none() {
            drop(lock(&self.turn));
        }
        if !lock(&self.state).opened {
            return Ok(json!({ "sessions": [], "znodes": [] }));
        }
        let mut znodes = BTreeMap::new();
        for path in recipe.znodes() {
            // What is gone is nobody's.
            if let Some(stat) = self.client()?.exists(&path, false)? {
                znodes.insert(path, stat.czxid);
            }
        }
        let znodes: Vec<Value> = znodes
            .into_iter()
            .map(|(path, czxid)| json!({ "path": path, "czxid": czxid }))
            .collect();
        let sessions: Vec<String> = self.session().into_iter().collect();
        Ok(json!({ "sessions": sessions, "znodes": znodes }))
    }

    fn viewed<R: ServedRecipe>(self: &Arc<Self>, recipe: &R) -> Result<Value, End> {
        let (zxid, _) = self.quorum_write()?;
        let (view, registered) = recipe
            .view(self)
            .ok_or_else(|| End::Fail("no operation `view`".to_owned()))?;
        Ok(json!({ "zxid": zxid, "view": view, "registered": registered }))
    }

    /// Answers what is late, for ever.
    fn watch_deadlines(&self) {
        loop {
            sleep(Duration::from_millis(10));
            let pending = lock(&self.state).pending;
            if let Some((id, Some(latest))) = pending {
                if latest < Instant::now() {
                    self.end(id, Err(timed_out()));
                }
            }
        }
    }

    /// Answers the pending operation; false if it was answered already.
    fn end(&self, id: u64, end: Result<Value, End>) -> bool {
        let mut state = lock(&self.state);
        let ours = state.pending.is_some_and(|(pending, _)| pending == id);
        if ours {
            reply(id, end);
            state.pending = None;
        }
        ours
    }
}

/// Answers a control request by its deadline.
fn beside(id: u64, limit: Duration, work: impl FnOnce() -> Result<Value, End> + Send + 'static) {
    spawn(move || {
        let (done, ended) = channel();
        spawn(move || done.send(work()));
        reply(id, ended.recv_timeout(limit).unwrap_or_else(|_| Err(timed_out())));
    });
}

fn take<R: ServedRecipe>(kit: &Arc<Kit>, recipe: &Arc<R>, line: &str) {
    let request: Value = serde_json::from_str(line).unwrap_or_default();
    let (id, f) = (request["id"].as_u64(), request["f"].as_str().map(str::to_owned));
    let (Some(id), Some(f)) = (id, f) else {
        eprintln!("not a request: {line}");
        if let Some(id) = id {
            reply(id, Err(End::Fail("not a request".to_owned())));
        }
        return;
    };
    let timeout = request["timeout_ms"].as_u64().map(Duration::from_millis);
    let (kit, recipe) = (Arc::clone(kit), Arc::clone(recipe));
    let within = |usual| timeout.unwrap_or(Duration::from_secs(usual));
    match f.as_str() {
        "ping" => reply(id, Ok(json!({}))),
        "confirm" => beside(id, within(10), move || kit.confirm(&*recipe)),
        "quiesce" => beside(id, within(3600), move || kit.quiesce(&*recipe)),
        "view" => beside(id, within(10), move || kit.viewed(&*recipe)),
        known if R::OPERATIONS.contains(&known) => {
            {
                let mut state = lock(&kit.state);
                if state.pending.is_some() {
                    let why = format!("busy: `{f}` was asked for while another operation runs");
                    return reply(id, Err(End::Fail(why)));
                }
                state.pending = Some((
                    id,
                    timeout.map(|timeout| Instant::now() + timeout + Duration::from_millis(100)),
                ));
            }
            let deadline = Instant::now() + within(3600);
            spawn(move || {
                let _turn = lock(&kit.turn);
                while !lock(&kit.state).opened && Instant::now() < deadline {
                    sleep(Duration::from_millis(10));
                }
                let end = match lock(&kit.state).opened {
                    true => None,
                    false => Some(Err(timed_out())),
                };
                let end = end.unwrap_or_else(|| recipe.operate(&kit, &f, &request["value"], deadline));
                let value = end.as_ref().ok().cloned();
                if !kit.end(id, end) {
                    if let Some(value) = value {
                        recipe.late(&kit, &value);
                    }
                }
            });
        }
        other => reply(id, Err(End::Fail(format!("no operation `{other}`")))),
    }
}

/// Runs a client with a recipe on stdin and stdout, until stdin ends.
pub fn run<R: ServedRecipe>(recipe: R, by_kit: &[&str]) -> ! {
    let variable =
        |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("the environment variable {name} is missing"));
    send(&json!({
        "type": "hello", "protocol": 1, "pid": std::process::id(), "session": null, "cannot": R::CANNOT, "kit": by_kit,
    }));
    let panics = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        panics(panic);
        // The two threads of a client.
        if matches!(thread::current().name(), Some("io" | "event")) {
            if let Some(sender) = PANICS.get() {
                _ = lock(sender).send(Seen::Panicked);
            }
        }
    }));
    let kit = Arc::new(Kit {
        name: variable("ZOOQUAKE_CLIENT"),
        state: Mutex::default(),
        turn: Mutex::default(),
    });
    let recipe = Arc::new(recipe);
    let timeout = Duration::from_millis(
        variable("ZOOQUAKE_SESSION_MS")
            .parse()
            .expect("ZOOQUAKE_SESSION_MS is a number"),
    );
    let (following, cluster) = ((Arc::clone(&kit), Arc::clone(&recipe)), variable("ZOOQUAKE_CONNECT"));
    let watching = Arc::clone(&kit);
    spawn(move || watching.watch_deadlines());
    spawn(move || following.0.keep_connected(following.1, cluster, timeout));
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if !line.trim().is_empty() {
            take(&kit, &recipe, &line);
        }
    }
    std::process::exit(0)
}
