//! PathChildrenCache of the crate zookeeper: what it has after each of its events is the view. The entry, which it
//! has nothing for, is made again in a new session.

mod kit;

use kit::{End, Kit, ServedRecipe, hex, lock, notice, number};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};
use zookeeper::recipes::cache::{Data, PathChildrenCache, PathChildrenCacheEvent};
use zookeeper::{Acl, CreateMode, ZkError, ZooKeeper};

const PARENT: &str = "/members";

#[derive(Default)]
struct Shown {
    n: u64,
    members: Value,
}

#[derive(Clone)]
struct OwnEntry {
    member: String,
    path: String,
    czxid: i64,
    session: String,
}

#[derive(Default)]
struct Member {
    /// The cache, and the client that it was made for.
    cache: Mutex<Option<(Arc<PathChildrenCache>, Arc<ZooKeeper>)>>,
    shown: Mutex<Shown>,
    /// The name and the value that are wanted.
    wanted: Mutex<Option<(String, i64)>>,
    entry: Mutex<Option<OwnEntry>>,
}

impl Member {
    fn watch(self: &Arc<Self>, client: Arc<ZooKeeper>) -> Result<(), ZkError> {
        let mut cache = PathChildrenCache::new(Arc::clone(&client), PARENT)?;
        cache.start()?;
        let cache = Arc::new(cache);
        let (member, seen) = (Arc::clone(self), Arc::downgrade(&cache));
        cache.add_listener(move |event| match event {
            // It is told with the cache's lock held: whoever asks the cache then waits for ever, and the cache with it.
            PathChildrenCacheEvent::Initialized(data) => member.show(data),
            _ => seen
                .upgrade()
                .into_iter()
                .for_each(|cache| member.show(cache.get_current_data())),
        });
        self.show(cache.get_current_data());
        *lock(&self.cache) = Some((cache, client));
        Ok(())
    }

    fn show(&self, data: Data) {
        let mut members: Vec<Value> = Vec::new();
        for (path, child) in data {
            let (data, stat) = &*child;
            let value: Option<i64> = String::from_utf8_lossy(data).parse().ok();
            let member = path.rsplit('/').next();
            members.push(
                json!({ "member": member, "path": path, "czxid": stat.czxid, "mzxid": stat.mzxid, "value": value }),
            );
        }
        members.sort_by_key(|member| member["path"].to_string());
        let mut shown = lock(&self.shown);
        let members = Value::from(members);
        if shown.members != members {
            *shown = Shown {
                n: shown.n + 1,
                members,
            };
            notice("view", &Self::view_of(&shown));
        }
    }

    fn view_of(shown: &Shown) -> Value {
        json!({ "n": shown.n, "session": null, "members": shown.members })
    }

    /// Again where the connection was lost, until the deadline.
    fn retry<T>(deadline: Instant, request: impl Fn() -> Result<T, ZkError>) -> Result<T, ZkError> {
        loop {
            match request() {
                Err(ZkError::ConnectionLoss) if Instant::now() < deadline => sleep(Duration::from_millis(50)),
                done => return done,
            }
        }
    }

    /// Makes the entry that is wanted, in the place of one that a former session left.
    fn enter(&self, kit: &Kit, deadline: Instant) -> Result<(), End> {
        loop {
            let Some((member, value)) = lock(&self.wanted).clone() else {
                return Ok(());
            };
            let (client, session) = (kit.client()?, kit.session());
            let (path, data) = (format!("{PARENT}/{member}"), value.to_string().into_bytes());
            let made = Self::retry(deadline, || {
                client.create(&path, data.clone(), Acl::open_unsafe().clone(), CreateMode::Ephemeral)
            });
            if !matches!(made, Ok(_) | Err(ZkError::NodeExists)) {
                made?;
            }
            let Some(stat) = Self::retry(deadline, || client.exists(&path, false))? else {
                continue;
            };
            let owner = hex(stat.ephemeral_owner);
            if Some(&owner) == session.as_ref() {
                *lock(&self.entry) = Some(OwnEntry {
                    member,
                    path,
                    czxid: stat.czxid,
                    session: owner,
                });
                return Ok(());
            }
            match Self::retry(deadline, || client.delete(&path, None)) {
                Ok(()) | Err(ZkError::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn registered(&self, kit: &Kit) -> Option<OwnEntry> {
        let session = kit.session();
        lock(&self.entry)
            .clone()
            .filter(|entry| Some(&entry.session) == session.as_ref())
    }
}

impl ServedRecipe for Member {
    const OPERATIONS: &'static [&'static str] = &["register", "update", "deregister"];
    // The cache does not tell in which session it has read.
    const CANNOT: &'static [&'static str] = &["session"];

    fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, deadline: Instant) -> Result<Value, End> {
        let wanted = lock(&self.wanted).clone();
        if f == "register" {
            if wanted.is_some() {
                return Err(End::Fail("registered already".to_owned()));
            }
            let member = value["member"]
                .as_str()
                .ok_or_else(|| End::Fail("the value has no `member`".to_owned()))?;
            *lock(&self.wanted) = Some((member.to_owned(), number(value, "value")?));
            if let Err(error) = self.enter(kit, deadline) {
                *lock(&self.wanted) = None;
                return Err(error);
            }
            let entry = self
                .registered(kit)
                .ok_or_else(|| End::Info("the session changed meanwhile".to_owned()))?;
            return Ok(json!({ "path": entry.path, "czxid": entry.czxid, "session": entry.session }));
        }
        let (member, _) = wanted.ok_or_else(|| End::Fail("not-registered".to_owned()))?;
        let path = format!("{PARENT}/{member}");
        if f == "update" {
            let new = number(value, "value")?;
            *lock(&self.wanted) = Some((member, new));
            let data = new.to_string().into_bytes();
            let stat = Self::retry(deadline, || kit.client_now()?.set_data(&path, data.clone(), None))?;
            return Ok(json!({ "path": path, "mzxid": stat.mzxid }));
        }
        *lock(&self.wanted) = None;
        let entry = lock(&self.entry).take();
        match Self::retry(deadline, || kit.client_now()?.delete(&path, None)) {
            Ok(()) => Ok(json!({ "removed": { "path": path, "czxid": entry.map(|entry| entry.czxid) } })),
            Err(ZkError::NoNode) => Ok(json!({ "removed": null })),
            Err(error) => Err(error.into()),
        }
    }

    fn late(&self, kit: &Arc<Kit>, value: &Value) {
        if value["session"].is_null() {
            return;
        }
        *lock(&self.wanted) = None;
        let entry = lock(&self.entry).take();
        if let Some(entry) = entry {
            let soon = Instant::now() + Duration::from_secs(10);
            _ = Self::retry(soon, || kit.client_now()?.delete(&entry.path, None));
        }
    }

    fn znodes(&self) -> Vec<String> {
        lock(&self.entry).iter().map(|entry| entry.path.clone()).collect()
    }

    fn opened(self: &Arc<Self>, kit: &Arc<Kit>) {
        let session = kit.session();
        while kit.session() == session {
            let Ok(client) = kit.client() else { return };
            let watched = lock(&self.cache)
                .as_ref()
                .is_some_and(|(_, of)| Arc::ptr_eq(of, &client));
            let watching = if watched { Ok(()) } else { self.watch(client) };
            let again = lock(&self.entry).is_some() && self.registered(kit).is_none();
            let entered = if again { self.enter(kit, Instant::now()) } else { Ok(()) };
            if watching.is_ok() && entered.is_ok() {
                return;
            }
            sleep(Duration::from_millis(50));
        }
    }

    fn view(&self, kit: &Arc<Kit>) -> Option<(Value, Value)> {
        // Events that came before the reply are worked off by threads of the library's.
        sleep(Duration::from_millis(100));
        let registered = self
            .registered(kit)
            .map(|entry| json!({ "member": entry.member, "path": entry.path, "czxid": entry.czxid }));
        Some((Self::view_of(&lock(&self.shown)), registered.into()))
    }
}

fn main() {
    kit::run(Member::default(), &["connect"]);
}
