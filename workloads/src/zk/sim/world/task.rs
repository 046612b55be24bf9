//! Tasks, and how they are woken.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use futures_util::future::BoxFuture;

use super::{StepOwner, lock};

pub struct Task {
    pub future: BoxFuture<'static, ()>,
    pub party: StepOwner,
    pub waker: Waker,
    pub ready: Arc<TaskWaker>,
}

pub struct TaskWaker {
    pub task: usize,
    pub queued: AtomicBool,
    pub queue: Arc<Mutex<VecDeque<usize>>>,
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
