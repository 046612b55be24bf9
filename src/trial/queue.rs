//! The trial of the family `queue`.

use super::conversation::TimedLine;
use super::family::FamilyTrial;
use super::holder::ok;
use super::sentences::TAKING;
use super::{SOON, SentenceResult, Trial};
use anyhow::Result;
use futures_util::FutureExt;
use serde_json::json;
use zooquake_history::operation::queue::{self, f};
use zooquake_history::plan::Delivery;
use zooquake_history::protocol::Message;

/// The family and its trial.
pub const FAMILY: FamilyTrial = FamilyTrial {
    spec: &queue::FAMILY,
    course: |trial| trial.queue().boxed(),
    once: |trial, _| trial.item().boxed(),
    nonsense: Some(f::ENQUEUE),
};

impl Trial {
    /// An item goes in and comes out.
    async fn queue(&mut self) -> Result<()> {
        self.exchange().await?;
        if self.can("taking") {
            self.note(TAKING, named(&self.clients[1].lines()));
        }
        Ok(())
    }

    /// One item goes in at the first client and comes out at the second, and nothing after it.
    async fn item(&mut self) -> SentenceResult {
        let item = self.number();
        let put = ok(self.clients[0].ask(f::ENQUEUE, json!({ "item": item }), SOON).await)?;
        let taken = ok(self.clients[1].ask(f::DEQUEUE, json!({}), SOON).await)?;
        if taken["item"] != json!(item) {
            return Err(format!("{put} was put in, and {taken} came out"));
        }
        if self.plan.workload.capabilities().delivery == Delivery::AtLeastOnce {
            self.names_own(1).await;
            ok(self.clients[1].ask(f::ACKNOWLEDGE, json!({ "item": item }), SOON).await)?;
        }
        let empty = ok(self.clients[1].ask(f::DEQUEUE, json!({}), SOON).await)?;
        match empty["item"].is_null() {
            true => Ok(format!("{put}, then {taken}, then {empty}")),
            false => Err(format!("{empty} came out of an empty queue")),
        }
    }
}

/// That each item that was given out had been named before.
fn named(lines: &[TimedLine]) -> SentenceResult {
    let item = |heard: &TimedLine, of: &str| match &heard.message {
        Some(Message::Notice { notice, value }) if notice == of => value["item"].as_i64(),
        Some(Message::Reply { value, .. }) if of == "reply" => value["item"].as_i64(),
        _ => None,
    };
    for (place, heard) in lines.iter().enumerate() {
        let Some(given) = item(heard, "reply") else { continue };
        if !lines[..place]
            .iter()
            .any(|before| item(before, "taking") == Some(given))
        {
            return Err(format!("no notice named the item {given} before the reply"));
        }
    }
    Ok("each item that came out was named before".to_string())
}
