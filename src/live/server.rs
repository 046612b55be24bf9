//! The HTTP server: what it serves to whom, and the bounds of its connections.

use super::site::{News, Site};
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::get;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at a time; a browser opens two for a page.
const CONNECTIONS: usize = 32;

/// The longest head of a request, in bytes.
const HEAD: usize = 16 * 1024;

/// How long the head of a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the response of a connection is the last page of a run.
#[derive(Clone, Default)]
struct LastPage(Arc<AtomicBool>);

/// The query of a request for news.
#[derive(Deserialize)]
struct NewsQuery {
    /// The version of the page that is in view.
    #[serde(default, rename = "of")]
    version: String,
}

/// Serves the site on each connection, without end.
pub async fn serve(listener: TcpListener, site: Arc<Site>, port: u16) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let routes = routes(Arc::clone(&site), port);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        // A connection that could not be taken, for want of descriptors, is the watcher's loss and not the run's.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (site, routes) = (Arc::clone(&site), routes.clone());
        tokio::spawn(async move {
            connection(stream, &site, routes).await;
            drop(permit);
        });
    }
}

/// Answers the one request of a connection.
async fn connection(stream: TcpStream, site: &Site, routes: Router) {
    let last = LastPage::default();
    let service = TowerToHyperService::new(routes.layer(Extension(last.clone())));
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_header_size(HEAD)
        .keep_alive(false);
    // A watcher that goes away amid a response is no failure.
    let sent = server.serve_connection(TokioIo::new(stream), service).await.is_ok();
    if sent && last.0.load(Ordering::Relaxed) {
        site.last_page_sent();
    }
}

fn routes(site: Arc<Site>, port: u16) -> Router {
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    Router::new()
        .route("/", get(page))
        .route("/events", get(news))
        .fallback(not_found)
        .layer(from_fn_with_state(hosts, guard))
        .with_state(site)
}

/// Refuses requests under other names than the own ones (a page of somebody else's, whose name is made to lead here,
/// has another), and whatever is no `GET`. No response is kept by a browser or taken for another type.
async fn guard(State(hosts): State<[String; 2]>, request: Request, next: Next) -> Response {
    let mut given = request.headers().get_all(HOST).iter();
    let own = |host: &HeaderValue| hosts.iter().any(|own| host == own);
    let mut response = if !given.next().is_some_and(own) || given.next().is_some() {
        refusal(StatusCode::FORBIDDEN)
    } else if request.method() != Method::GET {
        refusal(StatusCode::METHOD_NOT_ALLOWED)
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn refusal(status: StatusCode) -> Response {
    (status, status.to_string()).into_response()
}

async fn not_found() -> Response {
    refusal(StatusCode::NOT_FOUND)
}

/// The page with what the run has recorded so far.
async fn page(State(site): State<Arc<Site>>, Extension(last): Extension<LastPage>) -> Response {
    let stage = site.stage().await;
    last.0.store(stage.is_last(), Ordering::Relaxed);
    match site.page(stage).await {
        Ok(html) => ([(CONTENT_TYPE, "text/html; charset=utf-8")], Body::from(html)).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}")).into_response(),
    }
}

/// An event when there is a newer page than the one in view.
async fn news(State(site): State<Arc<Site>>, Query(query): Query<NewsQuery>) -> Response {
    Sse::new(News::new(site, query.version).events()).into_response()
}
