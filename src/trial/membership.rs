//! The trial of the family `membership`.

use super::common::refused_as;
use super::conversation::TimedLine;
use super::exchanges::expect;
use super::family::FamilyTrial;
use super::holder::ok;
use super::sentences::{EPHEMERAL, FOLLOWS, MEMBER, OPERATES, QUIESCE, SESSION, SHOWN, VIEW};
use super::znodes::is_session;
use super::{CLIENTS, SOON, SentenceResult, Trial};
use anyhow::Result;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::time::Duration;
use zooquake_history::operation::control;
use zooquake_history::operation::membership::{self, NOT_REGISTERED, REGISTERED_ALREADY, f};
use zooquake_history::protocol::Message;

/// How often a client is asked whether its view shows a change.
const EVERY: Duration = Duration::from_millis(50);

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &membership::FAMILY,
    course: |trial| trial.group().boxed(),
    once: |trial, _| trial.stay().boxed(),
    nonsense: Some(f::REGISTER),
};

impl Trial {
    /// Whether its clients show views of a group.
    pub(super) fn shows_views(&self) -> bool {
        self.family.spec.name == membership::FAMILY.name
    }

    /// Both clients are asked for their views while the first one is a member.
    async fn group(&mut self) -> Result<()> {
        let seen = self.stay().await;
        self.note(OPERATES, seen);
        let entry = match self.registers().await {
            Ok(entry) => entry,
            Err(why) => {
                self.note(OPERATES, Err(why));
                return Ok(());
            }
        };
        self.note(SESSION, self.connected(&entry));
        self.note(EPHEMERAL, self.ephemeral(&entry).await?);
        let seen = self.quiet(0, Some(&entry)).await?;
        self.note(QUIESCE, seen);
        let seen = self.refuses().await;
        self.note(MEMBER, seen);
        for client in [0, 1] {
            let seen = self.views(client, (client == 0).then_some(&entry)).await?;
            self.note(VIEW, seen);
        }
        let seen = self.follows(&entry).await;
        self.note(FOLLOWS, seen);
        for client in [0, 1] {
            self.note(SHOWN, shown(&self.clients[client].lines(), self.can("czxid")));
        }
        Ok(())
    }

    /// The first client is a member for a while: it registers, changes its value, and leaves.
    async fn stay(&mut self) -> SentenceResult {
        // An earlier stay that did not come to its end may have left an entry.
        let _ = self.clients[0].ask(f::DEREGISTER, json!({}), SOON).await;
        let entry = self.registers().await?;
        let value = self.number();
        let updated = self.asked(0, f::UPDATE, json!({ "value": value })).await?;
        expect(&updated, "path", &entry["path"], "the own entry")?;
        self.has_fields(f::UPDATE, &updated)?;
        let left = self.leaves(&entry).await?;
        Ok(format!("{entry}, then {updated}, then {left}"))
    }

    /// The first client registers; its entry.
    async fn registers(&mut self) -> Result<Value, String> {
        let register = json!({ "member": "m1", "value": self.number() });
        let entry = self.asked(0, f::REGISTER, register).await?;
        self.has_fields(f::REGISTER, &entry)?;
        if self.can("session") && !entry["session"].as_str().is_some_and(is_session) {
            return Err(format!("{entry} has no session such as \"0x100a1b2c3d40001\""));
        }
        Ok(entry)
    }

    /// The first client, which has this entry, is a member no more; its answer.
    async fn leaves(&mut self, entry: &Value) -> Result<Value, String> {
        let left = self.asked(0, f::DEREGISTER, json!({})).await?;
        let removed = &left["removed"];
        match removed.is_null() || entry["path"].is_null() || removed["path"] == entry["path"] {
            true => Ok(left),
            false => Err(format!("{left}, though its entry was {}", entry["path"])),
        }
    }

    /// That the first client, which is a member, does not register again, and that the second, which is none, neither
    /// updates nor leaves.
    async fn refuses(&mut self) -> SentenceResult {
        let value = self.number();
        let register = json!({ "member": "m1", "value": value });
        let mut seen = vec![refused_as(
            self.clients[0].ask(f::REGISTER, register, SOON).await,
            REGISTERED_ALREADY,
        )?];
        for (f, value) in [(f::UPDATE, json!({ "value": value })), (f::DEREGISTER, json!({}))] {
            seen.push(refused_as(self.clients[1].ask(f, value, SOON).await, NOT_REGISTERED)?);
        }
        Ok(seen.join(", "))
    }

    async fn view(&mut self, client: usize) -> Result<Value, String> {
        ok(self.clients[client].ask(control::f::VIEW, json!({}), SOON).await)
    }

    /// That `view` answers with the transaction of a write, a whole view, and this own entry.
    async fn views(&mut self, client: usize, entry: Option<&Value>) -> Result<SentenceResult> {
        let answer = self.view(client).await;
        let tree = self.tree().await?;
        Ok(answer.and_then(|answer| {
            let path = format!("/zooquake/scratch/{}", CLIENTS[client]);
            let scratch = tree.iter().find(|znode| znode.path == path);
            let scratch = scratch.ok_or_else(|| format!("there is no {path}"))?;
            expect(&answer, "zxid", &json!(scratch.mzxid), "the write of the scratch znode")?;
            whole(&answer["view"], self.can("czxid"))?;
            let registered = &answer["registered"];
            let own = match entry {
                None => registered.is_null(),
                Some(entry) => registered["member"] == "m1" && registered["path"] == entry["path"],
            };
            match own {
                true => Ok(answer.to_string()),
                false => Err(format!("{answer}, while its entry is {}", json!(entry))),
            }
        }))
    }

    /// That the second client is shown the entry of the first one, its new value, and its end.
    async fn follows(&mut self, entry: &Value) -> SentenceResult {
        let value = self.number();
        // Where the client cannot give its path it is found by its name.
        let is_at = |member: &Value| match entry["path"].is_null() {
            true => member["member"] == "m1",
            false => member["path"] == entry["path"],
        };
        let dated = self.can("czxid");
        let is_shown = |member: &Value| is_at(member) && (!dated || member["czxid"] == entry["czxid"]);
        let mut seen = vec![self.shows("the entry", |members| members.iter().any(is_shown)).await?];
        self.asked(0, f::UPDATE, json!({ "value": value })).await?;
        let is_new = |member: &Value| is_shown(member) && member["value"] == json!(value);
        seen.push(
            self.shows("the new value", |members| members.iter().any(is_new))
                .await?,
        );
        self.leaves(entry).await?;
        let is_left = |members: &[Value]| !members.iter().any(is_at);
        seen.push(self.shows("that it left", is_left).await?);
        Ok(seen.join(", then "))
    }

    /// Waits until the second client shows something of the first one's entry; what it shows then.
    async fn shows(&mut self, what: &str, is: impl Fn(&[Value]) -> bool) -> SentenceResult {
        let until = self.clock.now() + SOON;
        loop {
            let view = self.view(1).await?["view"].take();
            if view["members"].as_array().is_some_and(|members| is(members)) {
                return Ok(view.to_string());
            }
            if self.clock.now() >= until {
                return Err(format!("{view}, {} ms later; expected: {what}", SOON.as_millis()));
            }
            self.clock.sleep(EVERY).await;
        }
    }
}

/// That a view has all its fields; the path of a member if a client can give it.
fn whole(view: &Value, placed: bool) -> Result<(), String> {
    let is_entry = |member: &Value| {
        let is_number = |key: &str| member[key].is_i64();
        member["member"].is_string() && (member["path"].is_string() || !placed) && is_number("value")
    };
    let members = &view["members"];
    let listed = members.is_null() || members.as_array().is_some_and(|list| list.iter().all(is_entry));
    let named = view["n"].is_u64() && view["session"].as_str().is_some_and(is_session);
    match listed && named && view.get("members").is_some() {
        true => Ok(()),
        false => Err(format!(
            "{view} is no view: `n`, `session`, `members` with `member`, `path`, `value`"
        )),
    }
}

/// That the numbers of the views in a client's notices count up, and that each view that it answered was in one before.
fn shown(lines: &[TimedLine], placed: bool) -> SentenceResult {
    let mut told: Vec<&Value> = Vec::new();
    for heard in lines {
        match &heard.message {
            Some(Message::Notice { notice, value }) if notice == "view" => {
                whole(value, placed)?;
                if told
                    .last()
                    .is_some_and(|last| last["n"].as_u64() >= value["n"].as_u64())
                {
                    return Err(format!("{value} after {}", told[told.len() - 1]));
                }
                told.push(value);
            }
            Some(Message::Reply { value, .. }) if value["view"].is_object() => {
                let view = &value["view"];
                if !view["members"].is_null() && !told.contains(&view) {
                    return Err(format!("no notice told {view} before it was answered"));
                }
            }
            _ => {}
        }
    }
    match told.is_empty() {
        true => Err("no notice told a view".to_string()),
        false => Ok(format!("{} views", told.len())),
    }
}
