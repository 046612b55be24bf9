//! An interrupt ends what nobody needs any more, and bounds how long the harness waits for its backend.

use anyhow::{Result, bail};
use std::time::Duration;
use tokio::sync::watch;
use zooquake_backend::Clock;

/// How long each of the last requests to the backend may take then: an engine that answers needs a few seconds for
/// them, and more under load.
const GRACE: Duration = Duration::from_secs(30);

/// Work that nobody needs who wants the program to stop.
///
/// # Errors
/// Its own, or that it was interrupted.
pub async fn unless_interrupted<T>(
    interrupt: &watch::Receiver<bool>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    tokio::select! {
        biased;
        done = work => done,
        () = interrupted(interrupt) => bail!("interrupted"),
    }
}

/// Work that is needed even then, such as clearing away, but not for ever.
///
/// # Errors
/// Its own, or that it was interrupted and took longer than 30 s from then on.
pub async fn within_grace<T>(
    interrupt: &watch::Receiver<bool>,
    clock: &dyn Clock,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let over = async {
        interrupted(interrupt).await;
        clock.sleep(GRACE).await;
    };
    tokio::select! {
        biased;
        done = work => done,
        () = over => bail!("interrupted, and it was not done {} s later", GRACE.as_secs()),
    }
}

async fn interrupted(interrupt: &watch::Receiver<bool>) {
    if interrupt.clone().wait_for(|stop| *stop).await.is_err() {
        // Nobody is left who could interrupt.
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_backend::RealClock;

    #[tokio::test]
    async fn an_interrupt_ends_what_hangs_and_spares_what_is_done() {
        let (sender, interrupt) = watch::channel(false);
        assert_eq!(unless_interrupted(&interrupt, async { Ok(1) }).await.ok(), Some(1));
        sender.send_replace(true);
        let hangs = unless_interrupted(&interrupt, std::future::pending::<Result<()>>()).await;
        assert_eq!(hangs.unwrap_err().to_string(), "interrupted");
        assert_eq!(unless_interrupted(&interrupt, async { Ok(2) }).await.ok(), Some(2));
        assert_eq!(
            within_grace(&interrupt, &RealClock, async { Ok(3) }).await.ok(),
            Some(3)
        );
    }

    #[tokio::test]
    async fn nothing_is_broken_off_where_nobody_can_interrupt() {
        let (sender, interrupt) = watch::channel(false);
        drop(sender);
        let slow = async {
            tokio::task::yield_now().await;
            Ok(4)
        };
        assert_eq!(unless_interrupted(&interrupt, slow).await.ok(), Some(4));
    }
}
