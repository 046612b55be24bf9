//! The machine as its programs see it: its clock, its tasks, its randomness.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::World;
use crate::zk::Host;
use crate::zk::sim::agenda::{AgendaPlace, AgendaTask};

impl Host for World {
    fn now(&self) -> Duration {
        self.inner().now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut inner = self.inner();
        let key = (inner.now.saturating_add(time), inner.agenda.number());
        drop(inner);
        Box::pin(Sleep {
            world: self.clone(),
            key,
            place: None,
        })
    }

    fn spawn(&self, future: BoxFuture<'static, ()>) {
        self.spawn_on(None, future);
    }

    fn random(&self) -> u128 {
        self.draw(|rng| rng.u128(..))
    }
}

/// Ends at a moment; nothing is due of one that is dropped before.
struct Sleep {
    world: World,
    key: (Duration, u64),
    place: Option<AgendaPlace>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let world = self.world.clone();
        let mut inner = world.inner();
        if inner.now >= self.key.0 {
            return Poll::Ready(());
        }
        let due = AgendaTask::Wake(context.waker().clone());
        match self.place {
            Some(place) => {
                let before = inner.agenda.replace(place, due);
                drop(inner);
                drop(before);
            }
            None => {
                let party = inner.acting;
                self.place = Some(inner.agenda.add(self.key, party, due));
            }
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let due = self.place.and_then(|place| self.world.inner().agenda.take(place));
        // A waker may own the last of a task, whose own timers go with it.
        drop(due);
    }
}
