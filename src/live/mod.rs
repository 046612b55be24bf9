//! The report of a run that goes on, on an address that only this machine reaches.

mod server;
mod site;

use crate::run::folder::Folder;
use anyhow::{Context, Result};
use site::Site;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long the last page is held ready for those who watch.
const LINGER: Duration = Duration::from_secs(3);

/// Serves the report of the run that goes on. What it serves is read from the run's folder: those who watch change
/// nothing.
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
        let site = Arc::new(Site::new(begun.subscribe(), over.subscribe()));
        tokio::spawn(server::serve(listener, Arc::clone(&site), address.port()));
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
        // A reader that has not asked for it by then has closed the page, or does not look at it.
        let _ = timeout(LINGER, self.site.all_have_the_last()).await;
    }
}

#[cfg(test)]
mod tests;
