//! LeaderLatch of the crate zookeeper, one object a candidacy. A term lasts for as long as `has_leadership` says so.

mod kit;

use kit::{End, Kit, ServedRecipe, hex, lock, notice, timed_out};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};
use zookeeper::recipes::leader::LeaderLatch;

const PARENT: &str = "/election";

#[derive(Clone)]
struct Term {
    grant: String,
    session: String,
    answer: Value,
}

#[derive(Default)]
struct Latch {
    /// What stands, leads, or was lost.
    latch: Mutex<Option<LeaderLatch>>,
    term: Mutex<Option<Term>>,
}

impl Latch {
    fn elect(&self, kit: &Arc<Kit>, grant: &str, deadline: Instant) -> Result<Value, End> {
        // What was lost before.
        self.stop(|latch| _ = latch.stop());
        let client = kit.client()?;
        let latch = LeaderLatch::new(Arc::clone(&client), kit.name.clone(), PARENT.to_owned());
        *lock(&self.latch) = Some(latch.clone());
        if let Err(error) = latch.start() {
            self.stop(|latch| _ = latch.stop());
            return Err(error.into());
        }
        while !latch.has_leadership() {
            if Instant::now() > deadline || !kit.is_present(&client) {
                self.stop(|latch| _ = latch.stop());
                return Err(timed_out());
            }
            sleep(Duration::from_millis(5));
        }
        let path = latch
            .path()
            .ok_or_else(|| End::Info("it leads without a znode".to_owned()))?;
        let stat = client
            .exists(&path, false)?
            .ok_or_else(|| End::Info("its znode is gone".to_owned()))?;
        let session = hex(stat.ephemeral_owner);
        let answer = json!({ "grant": grant, "path": path, "czxid": stat.czxid, "session": session });
        *lock(&self.term) = Some(Term {
            grant: grant.to_owned(),
            session,
            answer: answer.clone(),
        });
        Ok(answer)
    }

    fn stop<T>(&self, stop: impl FnOnce(LeaderLatch) -> T) -> Option<T> {
        let latch = lock(&self.latch).take();
        latch.map(stop)
    }

    fn held(&self) -> Option<Term> {
        let term = lock(&self.term).clone()?;
        if lock(&self.latch).as_ref().is_some_and(LeaderLatch::has_leadership) {
            return Some(term);
        }
        if lock(&self.term).take().is_some() {
            notice("lost", &json!({ "grant": term.grant, "why": "has_leadership" }));
        }
        None
    }

    fn resign(&self, grant: &str) -> Result<Value, End> {
        let term = lock(&self.term).take_if(|term| term.grant == grant);
        let stopped = self.stop(|latch| latch.stop());
        let term = term.ok_or_else(|| End::Fail("not-held".to_owned()))?;
        match stopped {
            Some(stopped) => stopped?,
            None => return Err(End::Info("it had no latch".to_owned())),
        }
        Ok(json!({ "grant": grant, "removed": { "path": term.answer["path"], "czxid": term.answer["czxid"] } }))
    }
}

impl ServedRecipe for Latch {
    const OPERATIONS: &'static [&'static str] = &["elect", "write", "resign"];

    fn operate(&self, kit: &Arc<Kit>, f: &str, value: &Value, deadline: Instant) -> Result<Value, End> {
        let grant = value["grant"]
            .as_str()
            .ok_or_else(|| End::Fail("the value has no `grant`".to_owned()))?;
        match f {
            "elect" => self.elect(kit, grant, deadline),
            "resign" => self.resign(grant),
            _ => {
                self.held()
                    .filter(|term| term.grant == grant)
                    .ok_or_else(|| End::Fail("not-held".to_owned()))?;
                sleep(Duration::from_millis(value["work_ms"].as_u64().unwrap_or(0)));
                Ok(json!({ "grant": grant, "value": value["value"], "token": null }))
            }
        }
    }

    fn late(&self, _: &Arc<Kit>, value: &Value) {
        let grant = lock(&self.term).take_if(|term| term.answer == *value);
        if let Some(term) = grant {
            notice("lost", &json!({ "grant": term.grant, "why": "answered too late" }));
            self.stop(|latch| _ = latch.stop());
        }
    }

    fn holds(&self, _: &Arc<Kit>) -> Option<(String, String)> {
        self.held().map(|term| (term.grant, term.session))
    }

    fn znodes(&self) -> Vec<String> {
        let latch = lock(&self.latch).clone();
        latch.and_then(|latch| latch.path()).into_iter().collect()
    }
}

fn main() {
    kit::run(Latch::default(), &["connect"]);
}
