//! What every client is asked, whatever its family.

use super::conversation::{TimedLine, TimedReply};
use super::sentences::{MALFORMED, NONSENSE, PING, UNKNOWN};
use super::{SOON, SentenceResult, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use zooquake_history::operation::control::f;
use zooquake_history::protocol::{KitPart, Message, Outcome, VERSION};

/// What a first line is as a hello.
pub(super) fn hello(first: Option<&TimedLine>) -> SentenceResult {
    let first = first.ok_or("nothing was written in 10 s")?;
    match &first.message {
        Some(Message::Hello { protocol, .. }) if *protocol == VERSION => Ok(first.line.clone()),
        Some(Message::Hello { protocol, .. }) => Err(format!("it names protocol {protocol}, not {VERSION}")),
        _ => Err(format!("the first line is {:?}, and not `hello`", first.line)),
    }
}

/// What a hello declares that the client cannot do or give.
pub(super) fn cannot(first: Option<&TimedLine>) -> Vec<String> {
    match first.and_then(|heard| heard.message.as_ref()) {
        Some(Message::Hello { cannot, .. }) => cannot.clone(),
        _ => Vec::new(),
    }
}

/// What a hello declares that the kit does in place of the recipe.
pub(super) fn kit(first: Option<&TimedLine>) -> Vec<KitPart> {
    match first.and_then(|heard| heard.message.as_ref()) {
        Some(Message::Hello { kit, .. }) => KitPart::from_words(kit.iter().map(String::as_str)),
        _ => Vec::new(),
    }
}

/// That a reply is a `fail` that states the reason.
pub(super) fn refused(reply: Result<TimedReply, String>) -> SentenceResult {
    let reply = reply?;
    match (reply.outcome, &reply.error) {
        (Outcome::Fail, Some(error)) if !error.is_empty() => Ok(reply.shown()),
        (Outcome::Fail, _) => Err(reply.unlike("an error that states the reason")),
        _ => Err(reply.unlike("`fail`, with an error that states the reason")),
    }
}

/// The same of a reply whose `fail` names this reason.
pub(super) fn refused_as(reply: Result<TimedReply, String>, reason: &str) -> SentenceResult {
    let named = |seen: String| match seen.contains(reason) {
        true => Ok(seen),
        false => Err(format!("{seen}; expected: an error that begins with `{reason}`")),
    };
    refused(reply).and_then(named)
}

impl Trial {
    /// Control requests and requests that are none.
    pub(super) async fn common(&mut self) -> Result<()> {
        let ping = self.clients[0].ask(f::PING, json!({}), SOON).await;
        self.note(
            PING,
            ping.and_then(|reply| match reply.outcome {
                Outcome::Ok => Ok(reply.shown()),
                _ => Err(reply.unlike("`ok`")),
            }),
        );
        self.awake().await?;
        let reply = self.clients[0].ask("no-such-operation", json!({}), SOON).await;
        self.note(UNKNOWN, refused(reply));
        self.awake().await?;
        if let Some(f) = self.family.nonsense {
            let reply = self.clients[0].ask(f, json!({ "no": "sense" }), SOON).await;
            self.note(NONSENSE, refused(reply));
        }
        self.awake().await?;
        let seen = self.malformed().await;
        self.note(MALFORMED, seen);
        Ok(())
    }

    async fn malformed(&mut self) -> SentenceResult {
        let client = &mut self.clients[0];
        client.line("this is no request");
        let asked = client.number("none");
        client.line(&json!({ "id": asked.id(), "f": ["none"], "value": Value::Null }).to_string());
        let seen = refused(client.reply(asked, SOON).await)?;
        client
            .ask(f::PING, json!({}), SOON)
            .await
            .map_err(|why| format!("after it, {why}"))?;
        Ok(seen)
    }
}
