//! What answers name, held against the znodes that are there.

use super::holder::ok;
use super::sentences::AUDITED;
use super::{SOON, SentenceResult, Trial};
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::PoisonError;
use std::time::Duration;
use zooquake_history::evidence::Znode;

/// How often what a waiting client names is looked at.
const EVERY: Duration = Duration::from_millis(100);

impl Trial {
    /// That the second client, which waits, names its znodes, once it had time to make them: one may be there before
    /// the client has heard of it.
    pub(super) async fn names_waiting(&mut self) -> Result<SentenceResult> {
        let by = self.clock.now() + SOON;
        loop {
            self.clock.sleep(EVERY).await;
            let seen = self.quiet(1, None).await?;
            let made = self.tree().await?.iter().any(|znode| self.is_own(1, znode));
            if seen.is_ok() && made || self.clock.now() >= by {
                return Ok(seen);
            }
        }
    }

    /// Whether a znode is a contender's that belongs to a session of a client.
    pub(super) fn is_own(&self, client: usize, znode: &Znode) -> bool {
        let told = self.clients[client].sessions();
        is_contender(&self.plan.workload.contenders, &znode.path)
            && znode
                .owner
                .as_ref()
                .is_some_and(|owner| told.iter().any(|(session, _)| session == owner))
    }

    /// Whether the audit of a run looks for what a client left that contended.
    pub(super) fn is_audited(&self) -> bool {
        let mut required = self.family.spec.required(&self.plan.workload);
        required.any(|field| field.check == "orphan-node")
    }

    /// Notes whether anything was ever seen where the audit of a run looks, if it looks anywhere.
    pub(super) fn audited(&mut self) {
        if !self.is_audited() {
            return;
        }
        let parents = &self.plan.workload.contenders;
        let places = std::mem::take(self.places.get_mut().unwrap_or_else(PoisonError::into_inner));
        let seen = match (places.audited, places.elsewhere) {
            (Some(path), _) => Ok(format!("{path} was there")),
            (None, Some(path)) => Err(format!(
                "{path} is ephemeral and below none of `contenders` in the manifest, {parents:?}, and nothing was seen below those: \
                 what is left behind there is not found"
            )),
            (None, None) => return,
        };
        self.note(AUDITED, seen);
    }

    /// That a release reports what it removed, and that it is gone.
    pub(super) async fn removed(&self, grant: &Value, answer: Result<Value, String>) -> Result<SentenceResult> {
        let tree = self.tree().await?;
        Ok(answer.and_then(|value| {
            if self.can("removed") && !grant["path"].is_null() && value["removed"]["path"] != grant["path"] {
                return Err(format!("{value} does not report that {} was removed", grant["path"]));
            }
            let same = |znode: &&Znode| {
                grant["path"] == json!(znode.path) && grant["czxid"].as_i64().is_none_or(|czxid| czxid == znode.czxid)
            };
            match tree.iter().find(same) {
                Some(znode) => Err(format!("{value}, but {} is still there", znode.path)),
                None => Ok(value.to_string()),
            }
        }))
    }

    /// That the znode that an answer names does not outlive its session, and is where the audit looks for it.
    pub(super) async fn ephemeral(&self, answer: &Value) -> Result<SentenceResult> {
        let tree = self.tree().await?;
        let Some(path) = answer["path"].as_str() else {
            return Ok(Ok("no znode is named".to_string()));
        };
        let parents = &self.plan.workload.contenders;
        if !is_contender(parents, path) {
            return Ok(Err(format!(
                "{path} is below none of `contenders` in the manifest, {parents:?}: what is left behind there is not found"
            )));
        }
        Ok(match tree.iter().find(|znode| znode.path == path) {
            Some(znode) if znode.owner.is_none() => Err(format!(
                "{path} is persistent: when its client dies, it stays in everybody's way"
            )),
            _ => Ok(format!("{path} is not persistent")),
        })
    }

    /// That `quiesce` names what is there, all of what is the client's, and the grant's session and znode.
    pub(super) async fn quiet(&mut self, client: usize, grant: Option<&Value>) -> Result<SentenceResult> {
        let reply = ok(self.clients[client].ask("quiesce", json!({}), SOON).await);
        let tree = self.tree().await?;
        Ok(reply.and_then(|value| {
            let list = |key: &str| {
                value[key]
                    .as_array()
                    .cloned()
                    .ok_or_else(|| format!("{value} has no list `{key}`"))
            };
            let (sessions, znodes) = (list("sessions")?, list("znodes")?);
            if let Some(odd) = sessions
                .iter()
                .find(|session| !session.as_str().is_some_and(is_session))
            {
                return Err(format!("{odd} is not a session such as \"0x100a1b2c3d40001\""));
            }
            znodes.iter().try_for_each(|named| is_there(named, &tree))?;
            let unnamed = |znode: &&Znode| !znodes.iter().any(|named| named["path"] == json!(znode.path));
            if let Some(znode) = tree.iter().filter(|znode| self.is_own(client, znode)).find(unnamed) {
                return Err(format!(
                    "{value} does not name {}, which belongs to its session",
                    znode.path
                ));
            }
            let Some(grant) = grant else {
                return Ok(value.to_string());
            };
            if self.names_session() && !sessions.contains(&grant["session"]) {
                return Err(format!("{value} does not name the session {}", grant["session"]));
            }
            let named = znodes.iter().any(|named| named["path"] == grant["path"]);
            match named || grant["path"].is_null() {
                true => Ok(value.to_string()),
                false => Err(format!("{value} does not name {}", grant["path"])),
            }
        }))
    }
}

/// Where znodes were seen by which clients may contend: the first below a parent of contenders, and the first ephemeral
/// one elsewhere.
#[derive(Debug, Default)]
pub(super) struct ContendingPlaces {
    audited: Option<String>,
    elsewhere: Option<String>,
}

impl ContendingPlaces {
    /// Takes what a reading of the tree shows.
    pub(super) fn look(&mut self, parents: &[String], tree: &[Znode]) {
        let harness = ["/zooquake".to_string()];
        for znode in tree {
            let place = match is_contender(parents, &znode.path) {
                true => &mut self.audited,
                false if znode.owner.is_some() && !is_contender(&harness, &znode.path) => &mut self.elsewhere,
                false => continue,
            };
            place.get_or_insert_with(|| znode.path.clone());
        }
    }
}

/// Whether a path is below one of the parents of contenders.
fn is_contender(parents: &[String], path: &str) -> bool {
    parents.iter().any(|parent| {
        path.strip_prefix(parent.as_str())
            .is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Whether a znode that an answer names is in a reading of the tree, in words if not.
fn is_there(named: &Value, tree: &[Znode]) -> Result<(), String> {
    let path = named["path"].as_str().ok_or_else(|| format!("{named} names no path"))?;
    let found = tree.iter().find(|znode| znode.path == path);
    let found = found.ok_or_else(|| format!("{path}, which it names, is not there"))?;
    match named["czxid"].as_i64() {
        Some(czxid) if czxid != found.czxid => {
            Err(format!("{path} was created by {:#x}, not by {czxid:#x}", found.czxid))
        }
        _ => Ok(()),
    }
}

/// Whether a text is a session id as the protocol writes it: `0x` and lower-case hex digits without leading zeros.
pub(super) fn is_session(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let hex = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    !digits.is_empty() && digits.len() <= 16 && !digits.starts_with('0') && digits.bytes().all(hex)
}

#[cfg(test)]
mod tests {
    use super::is_contender;

    #[test]
    fn a_contender_is_below_a_parent_that_may_be_nested() {
        let parents = ["/lock".to_string(), "/batch/locks".to_string()];
        for path in ["/lock/a", "/batch/locks/a", "/batch/locks/daily/a"] {
            assert!(is_contender(&parents, path), "{path}");
        }
        for path in ["/lock", "/locks/a", "/batch/a", "/batch/locksmith/a"] {
            assert!(!is_contender(&parents, path), "{path}");
        }
    }
}
