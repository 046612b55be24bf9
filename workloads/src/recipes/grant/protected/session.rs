//! The session of a client of a protected queue: it has one at all times, and gives up what it holds with the
//! connection.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::select;

use super::ProtectedQueue;
use crate::recipes::bug::Bug;
use crate::recipes::requests::over;
use crate::zk::{SessionState, Zk};

impl ProtectedQueue {
    /// Has a session at all times, and gives up what was held as soon as its connection is lost.
    pub(super) async fn keep_session(self) {
        loop {
            let zk = self.env.connect().await;
            if self.env.has(Bug::HoldsAfterExpiry) {
                self.holder.rest_on(&zk);
            }
            self.session.update(|session| *session = Some(zk.clone()));
            let mut state = zk.state();
            while !state.is_over() {
                match state {
                    SessionState::Connected => self.holder.connected(),
                    _ => self.give_up(state),
                }
                state = zk.changed(state).await;
            }
            self.give_up(state);
            self.holder.disown_session(zk.session());
            self.session.update(|session| *session = None);
        }
    }

    fn give_up(&self, state: SessionState) {
        let busy = self.holder.busy();
        let Some(held) = self.holder.disconnected() else { return };
        if self.env.has(Bug::HoldsAfterExpiry) || self.env.has(Bug::ReadsEpochLate) {
            return self.holder.hold(held);
        }
        self.env.lost(&held.grant.name, state.name());
        let client = self.clone();
        let clean = async move {
            // Work that cannot be interrupted goes on under the znode, as long as the session lives.
            let over = over(held.zk.as_ref());
            select(std::pin::pin!(client.holder.rested()), std::pin::pin!(over)).await;
            client.remove(client.traces(&held), busy).await;
        };
        self.env.host.spawn(clean.boxed());
    }

    /// A session whose latest known state is connected.
    pub(in crate::recipes::grant) async fn live(&self) -> Arc<dyn Zk> {
        loop {
            let zk = self
                .session
                .until(|zk| zk.clone().filter(|zk| !zk.state().is_over()))
                .await;
            match zk.state() {
                SessionState::Connected => return zk,
                state if state.is_over() => {}
                state => drop(zk.changed(state).await),
            }
        }
    }
}
