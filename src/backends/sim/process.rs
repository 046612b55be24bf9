//! A client's process: its tasks run, stand still or are no more.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zooquake_workloads::zk::sim::{Net, World};
use zooquake_workloads::zk::{Connect, Host, SharedValue, Zk};

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It does.
    Runs,
    /// It does nothing, and will go on.
    Frozen,
    /// It has been killed.
    Dead,
}

/// A process. Clones share it.
#[derive(Clone)]
pub struct Process {
    world: World,
    /// The host on which it runs.
    net: Net,
    life: SharedValue<ProcessState>,
}

impl Process {
    /// A process that runs on a host.
    pub fn new(world: &World, net: &Net) -> Self {
        Self {
            world: world.clone(),
            net: net.clone(),
            life: SharedValue::new(ProcessState::Runs),
        }
    }

    /// Whether it runs.
    pub fn life(&self) -> ProcessState {
        self.life.with(|life| *life)
    }

    /// Freezes, thaws or kills it; a dead one stays dead.
    pub fn live(&self, to: ProcessState) {
        if self.life() == ProcessState::Dead {
            return;
        }
        {
            let (mut ensemble, host) = (self.net.server(), self.net.number());
            match to {
                ProcessState::Runs => ensemble.thaw(host),
                ProcessState::Frozen => ensemble.freeze(host),
                ProcessState::Dead => {
                    ensemble.kill_clients(host);
                    ensemble.thaw(host);
                }
            }
        }
        self.life.update(|life| *life = to);
    }

    /// The task, as long as the process lives, and only while it runs.
    fn gated(&self, mut task: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let life = self.life.clone();
        let mut thaws: Option<BoxFuture<'static, ()>> = None;
        let gate = poll_fn(move |context| {
            loop {
                match life.with(|life| *life) {
                    ProcessState::Dead => return Poll::Ready(()),
                    ProcessState::Runs => return task.as_mut().poll(context),
                    ProcessState::Frozen => {
                        let life = life.clone();
                        let thaw =
                            async move { life.until(|life| (*life != ProcessState::Frozen).then_some(())).await };
                        std::task::ready!(thaws.get_or_insert_with(|| thaw.boxed()).as_mut().poll(context));
                    }
                }
                thaws = None;
            }
        });
        gate.boxed()
    }
}

impl Host for Process {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn wall(&self) -> Duration {
        self.world.wall()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.world.sleep(time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.world.spawn_on(Some(self.net.number()), self.gated(task));
    }

    fn random(&self) -> u128 {
        self.world.random()
    }
}

impl Connect for Process {
    fn connect(&self) -> BoxFuture<'static, Arc<dyn Zk>> {
        self.net.connect()
    }
}
