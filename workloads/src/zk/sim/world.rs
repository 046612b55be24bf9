//! A machine with a clock of its own: one thread, and time passes when nothing else can happen. Its programs see its
//! clock, its tasks and its randomness as a [`Host`].

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use zooquake_history::plan;

use super::agenda::{Agenda, AgendaPlace, AgendaTask, StepOwner};
use super::ensemble::{DueEvent, Ensemble};
use super::scheduler::{Scheduler, WINDOW};
use crate::zk::{Host, SharedValue};

/// In a walk a task of a client that is ready waits for its processor now and then, in so many cases once.
const DESCHEDULED: u32 = 64;

/// How long it waits then, in microseconds.
const WAITS_US: std::ops::Range<u64> = 1_000..20_000;

/// The machine. Clones share it. All of its randomness comes from one seed, so the same seed gives the same execution.
#[derive(Clone)]
pub struct World {
    inner: Arc<Mutex<WorldState>>,
    /// The tasks that are ready, in the order in which they were woken. Locked before `inner` where both are.
    ready: Arc<Mutex<VecDeque<usize>>>,
}

struct WorldState {
    now: Duration,
    agenda: Agenda,
    tasks: Vec<Option<Task>>,
    /// Places in `tasks` that are not in use.
    free: Vec<usize>,
    rng: fastrand::Rng,
    scheduler: Scheduler,
    /// The owner of the task that is polled.
    acting: StepOwner,
    /// Kept for its memory.
    enabled: Vec<(AgendaPlace, StepOwner)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for World {
    fn default() -> Self {
        Self::seeded(0)
    }
}

impl WorldState {
    fn add(&mut self, time: Duration, party: StepOwner, due: AgendaTask) {
        let key = (self.now.saturating_add(time), self.agenda.number());
        self.agenda.add(key, party, due);
    }

    /// The task that goes on next, of those that are ready.
    fn pick(&mut self, ready: &mut VecDeque<usize>) -> Option<usize> {
        while !ready.is_empty() {
            let at = match &self.scheduler {
                Scheduler::Walk if ready.len() > 1 => self.rng.usize(..ready.len()),
                _ => 0,
            };
            let task = ready.remove(at)?;
            let party = self
                .tasks
                .get(task)
                .and_then(Option::as_ref)
                .and_then(|task| task.party);
            let waits = match (&self.scheduler, party) {
                (_, None) | (Scheduler::InOrder, _) => return Some(task),
                // Each await of a client is a point at which others may go on before it.
                (Scheduler::Walk, _) if self.rng.u32(..DESCHEDULED) > 0 => return Some(task),
                (Scheduler::Walk, _) => Duration::from_micros(self.rng.u64(WAITS_US)),
                (Scheduler::Priorities(_), _) => Duration::ZERO,
            };
            self.add(waits, party, AgendaTask::Poll(task));
        }
        None
    }

    /// Takes what is done next, and moves the clock there.
    fn due(&mut self) -> Option<AgendaTask> {
        let (at, due) = match &mut self.scheduler {
            Scheduler::InOrder | Scheduler::Walk => self.agenda.pop()?,
            Scheduler::Priorities(priorities) if !priorities.open => self.agenda.pop()?,
            Scheduler::Priorities(priorities) => {
                self.agenda.enabled(WINDOW, &mut self.enabled);
                let (place, _) = *self.enabled.get(priorities.choose(&self.enabled))?;
                (place.at, self.agenda.take(place)?)
            }
        };
        self.now = self.now.max(at);
        Some(due)
    }
}

impl World {
    /// A machine whose randomness comes from this seed.
    pub fn seeded(seed: u64) -> Self {
        let inner = WorldState {
            now: Duration::ZERO,
            agenda: Agenda::default(),
            tasks: Vec::new(),
            free: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
            scheduler: Scheduler::InOrder,
            acting: None,
            enabled: Vec::new(),
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
            ready: Arc::default(),
        }
    }

    /// From now on this scheduler decides what comes next; what one task does keeps its order.
    pub fn schedule(&self, scheduler: &plan::Scheduler) {
        let inner = &mut *self.inner();
        inner.scheduler = Scheduler::new(scheduler, &mut inner.rng);
    }

    /// Begins to choose whose step comes next, or goes back to the order of time. A walk has nothing to choose.
    pub fn choose(&self, open: bool) {
        if let Scheduler::Priorities(priorities) = &mut self.inner().scheduler {
            priorities.open(open);
        }
    }

    /// How many steps were chosen so far of which another one could have come first.
    pub fn steps(&self) -> u32 {
        match &self.inner().scheduler {
            Scheduler::Priorities(priorities) => priorities.steps,
            Scheduler::InOrder | Scheduler::Walk => 0,
        }
    }

    /// Whether messages all take the same time.
    pub(super) fn chooses(&self) -> bool {
        matches!(self.inner().scheduler, Scheduler::Priorities(_))
    }

    fn inner(&self) -> MutexGuard<'_, WorldState> {
        lock(&self.inner)
    }

    /// Draws from the world's randomness.
    pub fn draw<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.inner().rng)
    }

    /// Does something when that much time has passed. What is due at one moment happens in the order in which it was
    /// scheduled.
    pub fn after(&self, time: Duration, act: impl FnOnce() + Send + 'static) {
        self.inner().add(time, None, AgendaTask::Act(Box::new(act)));
    }

    /// Has something happen in the model when that much time has passed, as a step of this node.
    pub(super) fn happen_after(&self, time: Duration, node: usize, model: Weak<Mutex<Ensemble>>, event: DueEvent) {
        self.inner().add(time, Some(node), AgendaTask::Happen(model, event));
    }

    /// Starts something, whose result can be looked at or waited for.
    pub fn start<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> SharedValue<Option<T>> {
        let result = SharedValue::new(None);
        let slot = result.clone();
        let task = async move {
            let done = work.await;
            slot.update(|slot| *slot = Some(done));
        };
        self.spawn(task.boxed());
        result
    }

    /// Runs until this is done.
    ///
    /// # Panics
    /// If it is not done and nothing can happen any more.
    pub fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        let result = self.start(work);
        loop {
            if let Some(done) = result.update(Option::take) {
                return done;
            }
            assert!(self.step(), "at {:?}: nothing can happen any more", self.now());
        }
    }

    /// Lets that much time pass.
    pub fn pass(&self, time: Duration) {
        let host = self.clone();
        self.run(async move { host.sleep(time).await });
    }

    /// Drops all that still runs or is scheduled. Tasks own clones of the world, so that a world that is never cleared
    /// is never freed.
    pub fn clear(&self) {
        let (tasks, agenda) = {
            let mut inner = self.inner();
            (std::mem::take(&mut inner.tasks), inner.agenda.clear())
        };
        lock(&self.ready).clear();
        drop((tasks, agenda));
    }

    /// Polls one task that is ready, or moves the clock to what is due next. False if neither is possible.
    fn step(&self) -> bool {
        let mut ready = lock(&self.ready);
        let mut inner = self.inner();
        let task = inner.pick(&mut ready);
        drop(ready);
        if let Some(task) = task {
            self.poll(inner, task);
            return true;
        }
        let Some(due) = inner.due() else { return false };
        match due {
            AgendaTask::Poll(task) => self.poll(inner, task),
            AgendaTask::Wake(waker) => {
                drop(inner);
                waker.wake();
            }
            AgendaTask::Happen(model, event) => {
                drop(inner);
                if let Some(model) = model.upgrade() {
                    lock(&model).happen(event);
                }
            }
            AgendaTask::Act(act) => {
                drop(inner);
                act();
            }
        }
        true
    }

    fn poll(&self, mut inner: MutexGuard<'_, WorldState>, at: usize) {
        // The task is taken out, because polling it may spawn others.
        let Some(mut task) = inner.tasks.get_mut(at).and_then(Option::take) else {
            return;
        };
        inner.acting = task.party;
        drop(inner);
        task.ready.queued.store(false, Ordering::SeqCst);
        let mut context = Context::from_waker(&task.waker);
        // Where a thread of tokio polls, its budget does not end what this world decides.
        let mut future = tokio::task::unconstrained(task.future.as_mut());
        let pending = Pin::new(&mut future).poll(&mut context).is_pending();
        let mut inner = self.inner();
        inner.acting = None;
        // The world may have been cleared meanwhile.
        if pending && at < inner.tasks.len() {
            inner.tasks[at] = Some(task);
        } else {
            inner.free.push(at);
            drop(inner);
            drop(task);
        }
    }

    /// Runs a task in the background whose steps are those of this node; `None` for one of the harness.
    pub fn spawn_on(&self, party: Option<usize>, future: BoxFuture<'static, ()>) {
        let mut inner = self.inner();
        let at = inner.free.pop().unwrap_or_else(|| {
            inner.tasks.push(None);
            inner.tasks.len() - 1
        });
        let ready = Arc::new(TaskWaker {
            task: at,
            queued: AtomicBool::new(true),
            queue: self.ready.clone(),
        });
        inner.tasks[at] = Some(Task {
            future,
            party,
            waker: Waker::from(ready.clone()),
            ready,
        });
        drop(inner);
        lock(&self.ready).push_back(at);
    }
}

impl Host for World {
    fn now(&self) -> Duration {
        self.inner().now
    }

    fn wall(&self) -> Duration {
        self.now()
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

/// A task, and how it is woken.
struct Task {
    future: BoxFuture<'static, ()>,
    party: StepOwner,
    waker: Waker,
    ready: Arc<TaskWaker>,
}

struct TaskWaker {
    task: usize,
    queued: AtomicBool,
    queue: Arc<Mutex<VecDeque<usize>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            lock(&self.queue).push_back(self.task);
        }
    }
}
