//! A value that tasks share and wait on, for any runtime.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// A shared value. Clones share it.
#[derive(Default)]
pub struct SharedValue<T> {
    inner: Arc<Mutex<SharedState<T>>>,
}

#[derive(Default)]
struct SharedState<T> {
    value: T,
    waiting: Vec<Waker>,
}

impl<T> Clone for SharedValue<T> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<T> SharedValue<T> {
    /// Shares a value.
    pub fn new(value: T) -> Self {
        Self {
            inner: Arc::new(Mutex::new(SharedState {
                value,
                waiting: Vec::new(),
            })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SharedState<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the value.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&self.lock().value)
    }

    /// Changes the value, and wakes those who wait on it.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut inner = self.lock();
        let result = change(&mut inner.value);
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits until `look` finds something in the value.
    pub async fn until<R>(&self, mut look: impl FnMut(&T) -> Option<R>) -> R {
        poll_fn(|context| {
            let mut inner = self.lock();
            if let Some(found) = look(&inner.value) {
                return Poll::Ready(found);
            }
            if !inner.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                inner.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}
