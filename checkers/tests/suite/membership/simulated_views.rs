//! What the clients of random groups show, rightly or wrongly.

use super::simulated_groups::GroupWorld;
use super::simulated_sessions::{GroupState, SimulatedZnode};
use serde_json::{Value, json};
use zooquake_history::EventType;

impl GroupWorld {
    /// A client shows its view if that has changed, or a wrong one.
    pub fn show(&mut self, client: usize) {
        let mut view = self.clients[client].watcher.view();
        let wrong = self.chance(self.wrong);
        if wrong && let Some(view) = &mut view {
            self.spoil(client, view);
        }
        let own = &mut self.clients[client];
        if own.shown == view {
            return;
        }
        own.shown = view.clone();
        own.past.extend(view);
        own.n += 1;
        if own.notices {
            self.named(client, EventType::Info, "view", self.view_value(client));
        }
    }

    /// Makes a view wrong: something older, nothing of a member, or a member that was made up.
    fn spoil(&mut self, client: usize, view: &mut GroupState) {
        let members: Vec<usize> = view.keys().copied().collect();
        let some = self.random.choice(members).unwrap_or(1);
        let past = self.random.choice(self.clients[client].past.iter()).cloned();
        match (self.random.u32(0..8), past, view.get_mut(&some)) {
            (0..3, Some(past), _) => *view = past,
            (3..5, Some(past), _) => view.extend(past),
            (5, _, Some(_)) => drop(view.remove(&some)),
            (6, _, Some(znode)) => znode.value = self.values + self.random.i64(1..3),
            (7, _, Some(znode)) if self.random.bool() => (znode.czxid, znode.mzxid) = (znode.mzxid, znode.mzxid + 1),
            _ => {}
        }
    }

    /// The view that a client shows, as it is recorded.
    pub fn view_value(&self, client: usize) -> Value {
        let own = &self.clients[client];
        let entry = |(member, znode): (&usize, &SimulatedZnode)| {
            let name = format!("m{member}");
            let path = format!("/members/{name}");
            json!({
                "member": name, "path": path, "czxid": znode.czxid, "mzxid": znode.mzxid, "value": znode.value
            })
        };
        let members = own
            .shown
            .as_ref()
            .map(|view| view.iter().map(entry).collect::<Vec<_>>());
        json!({"n": own.n, "session": self.session(client), "members": members})
    }
}
