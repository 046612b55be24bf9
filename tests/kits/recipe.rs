//! A queue of ephemeral znodes that does itself all that the kit does otherwise. TWIN names what it does wrong, or is
//! `correct`.

mod zooquake;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use zookeeper_client::{Client, Error, Stat};
use zooquake::{End, Grants, KitGrant, Holder, Hooks, Kit};

const PARENT: &str = "/lock";

/// The znode that the client holds or waits with.
#[derive(Clone, Default)]
struct Queue(Arc<Mutex<Option<String>>>);

impl Queue {
    fn set(&self, path: Option<String>) {
        *self.0.lock().unwrap() = path;
    }
}

impl Holder for Queue {
    fn token(&self, created: &Stat) -> Option<i64> {
        Some(created.czxid)
    }

    async fn acquire(&self, kit: &Arc<Kit>, deadline: Instant) -> Result<String, End> {
        let path = kit.join(PARENT, "").await?;
        self.set(Some(path.clone()));
        let waited = wait(kit, &path, deadline).await;
        if waited.is_err() {
            self.set(None);
        }
        waited.map(|()| path)
    }
}

async fn wait(kit: &Arc<Kit>, path: &str, deadline: Instant) -> Result<(), End> {
    while let Some(before) = kit.ahead(path).await?.last() {
        kit.wait_gone(before, deadline).await?;
    }
    Ok(())
}

fn twin(name: &str, client: &str) -> bool {
    std::env::var("TWIN").is_ok_and(|twin| twin == name)
        && std::env::var("ZOOQUAKE_CLIENT").is_ok_and(|own| own == client)
}

async fn release(kit: Arc<Kit>, path: String, begun: Instant) -> Result<Value, End> {
    if twin("thief", "c1") {
        let queue = kit.children(PARENT).await?;
        let behind = queue.iter().skip_while(|name| !path.ends_with(name.as_str())).nth(1);
        if let Some(behind) = behind {
            let (client, behind) = (kit.client()?, format!("{PARENT}/{behind}"));
            let stat = client.check_stat(&behind).await?.ok_or(Error::NoNode)?;
            client.delete(&behind, None).await?;
            kit.remove(&path).await?;
            return Ok(json!({ "path": behind, "czxid": stat.czxid }));
        }
    }
    assert!(
        !twin("thief", "c2") || begun.elapsed() < Duration::from_secs(5),
        "the lock's own mistake"
    );
    Ok(kit.remove(&path).await?)
}

fn hooks(queue: &Queue) -> Hooks {
    let (begun, given, named) = (Instant::now(), queue.clone(), queue.clone());
    let sessions = Arc::new(Mutex::new(String::new()));
    let present = Arc::clone(&sessions);
    let deaf = std::env::var("TWIN").is_ok_and(|twin| twin == "deaf");
    Hooks {
        connect: Some(Box::new(move |servers, timeout| {
            let (servers, sessions) = (servers.to_owned(), Arc::clone(&sessions));
            Box::pin(async move {
                let client = Client::connector()
                    .with_session_timeout(timeout)
                    .connect(&servers)
                    .await?;
                *sessions.lock().unwrap() = format!("{:#x}", client.session_id().0);
                Ok(client)
            })
        })),
        release: Some(Box::new(move |kit, held| {
            given.set(None);
            Box::pin(release(Arc::clone(kit), held.path.clone(), begun))
        })),
        lost: Some(Box::new(move |held: &KitGrant, state| match state {
            _ if deaf => None,
            "connected" => (held.session != *present.lock().unwrap()).then(|| "expired".to_owned()),
            away => Some(away.to_owned()),
        })),
        znodes: Some(Box::new(move || {
            let mine = named.0.lock().unwrap().clone();
            mine.map(|path| (path, None)).into_iter().collect::<BTreeMap<_, _>>()
        })),
        created: Some(Box::new(|kit, path| {
            let (kit, path) = (Arc::clone(kit), path.to_owned());
            Box::pin(async move {
                let path = path.as_str();
                let stat = kit.retry(|client| async move { client.check_stat(path).await }).await?;
                Ok(stat.ok_or(Error::NoNode)?)
            })
        })),
    }
}

#[tokio::main]
async fn main() {
    let queue = Queue::default();
    let hooks = hooks(&queue);
    zooquake::run_with(Grants(queue), hooks).await;
}
