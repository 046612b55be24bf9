//! The group of a client that sees each last change and is a member again after its session has ended.

use futures_util::FutureExt;

use super::registration_books::RegistrationBooks;
use super::{GroupReader, ReadingOrder, ShownGroup};
use crate::recipes::Env;
use crate::recipes::bug::Bug;
use crate::zk::SharedValue;

/// `membership/cached`: it shows what it reads with the read that sets the watch, and nothing while it is disconnected.
#[derive(Clone)]
pub struct CachedMembership {
    pub(super) env: Env,
    pub(super) group: ShownGroup,
    pub(super) books: SharedValue<RegistrationBooks>,
}

impl CachedMembership {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        let client = Self {
            env: env.clone(),
            group: ShownGroup::new(env),
            books: SharedValue::default(),
        };
        env.host.spawn(client.clone().keep_session().boxed());
        env.host.spawn(client.clone().keep_entry().boxed());
        client
    }

    /// Has a session at all times, and shows what is read in it.
    async fn keep_session(self) {
        let order = ReadingOrder {
            // The planted G1 sets the watch after it has read the data, by a second listing that it does not look at.
            list_watched: !self.env.has(Bug::ListWatchedLate),
            data_watched: !self.env.has(Bug::DataUnwatched),
            reads_anew: true,
        };
        loop {
            let zk = self.env.connect().await;
            self.books.update(|books| books.session = Some(zk.clone()));
            let reader = GroupReader::new(&self.env, zk, self.group.clone(), order);
            reader.run().await;
            self.books.update(|books| books.end(&self.env));
        }
    }
}
