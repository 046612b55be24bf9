//! The tutorial's unfair election, faults and all: all race to create one znode, and the candidate that succeeds leads.
//! The others watch that znode and try again when it goes.
//!
//! What exists already is taken for somebody else's, also where it is the client's own of a request whose reply was
//! lost. The planted E15 takes what has the client's name in it for its own, also where that is about to vanish with an
//! earlier session.

use async_trait::async_trait;

use crate::recipes::bug::Bug;
use crate::recipes::grant::{Contest, Mode, TutorialClient, create_with, heard};
use crate::recipes::{Env, HolderState, OpError, OwnZnode};
use crate::zk::{CreateMode, Error, Zk};

/// The leader's znode.
pub const LEADER: &str = "/election/leader";

/// A client of `election/ephemeral` that begins to open its session.
pub fn ephemeral(env: &Env) -> TutorialClient {
    TutorialClient::new(env, CreateRace(env.clone()))
}

struct CreateRace(Env);

#[async_trait]
impl Contest for CreateRace {
    async fn win(&self, zk: &dyn Zk, holder: &HolderState, _: Mode) -> Result<OwnZnode, OpError> {
        loop {
            let name = self.0.client.as_bytes();
            match create_with(zk, holder, (LEADER, name), CreateMode::Ephemeral).await {
                Err(Error::NodeExists) if self.0.has(Bug::NameTakenForOwn) => match zk.get(LEADER).await {
                    Ok((data, stat)) if data == name => {
                        let own = OwnZnode {
                            path: LEADER.to_string(),
                            czxid: Some(stat.czxid),
                            session: zk.session(),
                        };
                        holder.own(own.clone());
                        return Ok(own);
                    }
                    _ => {}
                },
                Err(Error::NodeExists) => {}
                created => return created.map_err(|error| OpError::from_error("create", &error)),
            }
            let (there, watch) = zk
                .exists_and_watch(LEADER)
                .await
                .map_err(|error| OpError::from_error("watch the leader", &error))?;
            if there.is_some() {
                heard(watch.await)?;
            }
        }
    }
}
