//! The way to the Docker engine: a connection for each request, and bounds for each answer.
//!
//! The client library takes an answer whole into memory, however long it is, and waits for its end however long that
//! takes. So every connection is guarded below HTTP, where that library reads from it: whatever it does with an answer
//! has the same bounds.

mod address;
mod bounds;
mod guard;

pub use address::{Address, is_chosen, tried};

use bounds::Bounds;
use guard::Guard;
use hyper::header::{HOST, HeaderValue};
use hyper::{Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::Arc;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};

/// A client of the engine at this address; nothing was asked of it yet.
///
/// # Errors
/// If the client cannot be made.
pub fn client(address: Address) -> Result<Docker, Error> {
    let address = Arc::new(address);
    let transport = move |request: BollardRequest| {
        let address = Arc::clone(&address);
        async move { exchange(&address, request).await }
    };
    let patience = bounds::PATIENCE.as_secs();
    Docker::connect_with_custom_transport(transport, Some("http://engine"), patience, API_DEFAULT_VERSION)
}

/// Sends a request on a connection of its own, and returns the head of the answer.
async fn exchange(address: &Address, mut request: BollardRequest) -> Result<Response<Incoming>, Error> {
    let bounds = Bounds::of_answer(request.method(), request.uri().path());
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let target = target.parse().map_err(io::Error::other)?;
    *request.uri_mut() = target;
    request.headers_mut().insert(HOST, HeaderValue::from_static("engine"));
    let guard = Guard::new(address.connect().await?, bounds);
    let (mut sender, connection) = http1::handshake(TokioIo::new(guard)).await?;
    // What fails on the connection fails its request, or the reader of its answer.
    tokio::spawn(async move { drop(connection.with_upgrades().await) });
    Ok(sender.send_request(request).await?)
}

#[cfg(test)]
mod tests;
