//! The report of a run that goes on, on an address that only this machine reaches.

mod http;
mod page;

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use http::Site;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// Connections at a time; a browser opens two for a page.
const CONNECTIONS: usize = 32;

/// How long the last page is held ready for those who watch.
const LINGER: Duration = Duration::from_secs(3);

/// Serves the report of the run that goes on. What it serves is read from the run's folder: those who watch change nothing.
pub struct Live {
    begun: watch::Sender<Option<Folder>>,
    over: watch::Sender<Option<Folder>>,
    site: Arc<Site>,
    address: SocketAddr,
}

impl Live {
    /// Begins to serve.
    ///
    /// # Errors
    /// If no address of the loopback interface can be had.
    pub async fn open() -> Result<Self> {
        let opening = "opening an address for the live report";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context(opening)?;
        let address = listener.local_addr().context(opening)?;
        let (begun, over) = (watch::Sender::new(None), watch::Sender::new(None));
        let site = Arc::new(Site::new(address.port(), begun.subscribe(), over.subscribe()));
        tokio::spawn(serve(listener, Arc::clone(&site)));
        Ok(Self {
            begun,
            over,
            site,
            address,
        })
    }

    /// Where it is to be opened.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// What is sent the folder of each run when that is made.
    pub fn news(&self) -> watch::Sender<Option<Folder>> {
        self.begun.clone()
    }

    /// The run of the folder is over, and its report is written.
    pub fn over(&self, folder: &Folder) {
        self.over.send_replace(Some(folder.clone()));
    }

    /// Waits a moment for those who watch to get the last page.
    pub async fn linger(&self) {
        // Who has not asked for it by then has closed the page, or does not look at it.
        let _ = timeout(LINGER, self.site.all_have_the_last()).await;
    }
}

async fn serve(listener: TcpListener, site: Arc<Site>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        // A connection that could not be taken, for want of descriptors, is the watcher's loss and not the run's.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            // A watcher that goes away amid an answer is no failure.
            let _ = site.answer(stream).await;
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests;
