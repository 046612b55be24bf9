use super::Live;
use crate::run::folder::Folder;
use std::fs;
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use zooquake_history::plan::Plan;

/// The connection of a request, with this head after its first line.
async fn request(live: &Live, line: &str, host: &str) -> TcpStream {
    let mut stream = TcpStream::connect(live.address).await.unwrap();
    let head = format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// The whole answer to a request.
async fn answer(live: &Live, line: &str) -> String {
    let host = live.address.to_string();
    let mut text = String::new();
    request(live, line, &host)
        .await
        .read_to_string(&mut text)
        .await
        .unwrap();
    text
}

/// A run in this folder that has recorded one event.
fn run(out: &Path) -> Folder {
    let plan: Plan = crate::planning::spec::RunSpec::new("lock/fenced").plan().unwrap();
    let folder = Folder::create(out, &plan).unwrap();
    folder.write_json("plan.json", &plan).unwrap();
    record(&folder, "");
    folder
}

/// Records events; what stands after them is one that is being written.
fn record(folder: &Folder, being_written: &str) {
    let event = |index, time: u64, what: &str| {
        format!(
            "{{\"index\":{index},\"time\":{time},\"process\":\"run\",\"type\":\"info\",\"f\":\"phase\",\"value\":\"{what}\"}}\n"
        )
    };
    let events = event(0, 1_000_000, "ops") + &event(1, 3_000_000_000, "heal");
    let events = match being_written {
        "" => event(0, 1_000_000, "ops"),
        _ => events + being_written,
    };
    fs::write(folder.file("history.jsonl"), events).unwrap();
}

#[tokio::test]
async fn a_page_and_its_news_are_all_that_can_be_asked_for() {
    let live = Live::open().await.unwrap();
    let page = answer(&live, "GET /").await.to_lowercase();
    let heads = [
        "content-type: text/html; charset=utf-8",
        "cache-control: no-store",
        "connection: close",
    ];
    for head in heads.into_iter().chain(["x-content-type-options: nosniff"]) {
        assert!(page.contains(head), "{page}");
    }
    assert!(answer(&live, "GET /report.html").await.starts_with("HTTP/1.1 404 "));
    let mut news = BufReader::new(request(&live, "GET /events", &live.address.to_string()).await).lines();
    let mut head = String::new();
    while !head.ends_with("\n\n") {
        head = head + &news.next_line().await.unwrap().unwrap().to_lowercase() + "\n";
    }
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("cache-control: no-store"), "{head}");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let live = Live::open().await.unwrap();
    let host = format!("{}\r\nX-Long: {}", live.address, "x".repeat(20_000));
    let mut text = String::new();
    let mut stream = request(&live, "GET /", &host).await;
    // The rest of the head may be cut off by a reset.
    let _ = stream.read_to_string(&mut text).await;
    assert!(!text.contains(" 200 "), "{text}");
}

#[tokio::test]
async fn the_page_grows_with_the_run_and_ends_with_its_report() {
    let out = tempfile::tempdir().unwrap();
    let live = Live::open().await.unwrap();
    assert!(
        answer(&live, "GET /")
            .await
            .contains("the ensemble and its clients come up")
    );

    let folder = run(out.path());
    live.news().send_replace(Some(folder.clone()));
    let first = answer(&live, "GET /").await;
    assert!(
        first.contains("RUNNING") && first.contains("operations and faults go on, 0 of 60 s"),
        "{first}"
    );
    let named = first.split_once("data-of=\"").unwrap().1;
    let named = named.split_once('"').unwrap().0.replace(' ', "%20");
    let host = live.address.to_string();
    let mut news = BufReader::new(request(&live, &format!("GET /events?of={named}"), &host).await).lines();
    let mut told = Vec::new();
    // The head, and two comments, with a pause between them: there is no news.
    while told.iter().filter(|line: &&String| line.starts_with(':')).count() < 2 {
        told.push(news.next_line().await.unwrap().unwrap());
        assert_ne!(told.last().unwrap(), "event: newer", "{told:?}");
    }
    record(&folder, "{\"index\":2,\"ti");
    while told.last().unwrap() != "event: newer" {
        told.push(news.next_line().await.unwrap().unwrap());
    }
    let second = answer(&live, "GET /").await;
    assert!(
        second.contains("the faults are being healed") && !second.contains("Damage"),
        "{second}"
    );

    fs::write(folder.file("report.html"), "the report").unwrap();
    live.over(&folder);
    let all_have_it = tokio::join!(live.linger(), answer(&live, "GET /")).1;
    assert!(all_have_it.ends_with("the report"));
}

#[tokio::test]
async fn nobody_else_is_answered() {
    let live = Live::open().await.unwrap();
    assert!(live.address.ip().is_loopback());
    let refused = async |line: &str, host: &str| {
        let mut text = String::new();
        request(&live, line, host)
            .await
            .read_to_string(&mut text)
            .await
            .unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    };
    let own = live.address.to_string();
    assert_eq!(refused("GET /", "elsewhere.example").await, "403");
    assert_eq!(
        refused("GET /", &format!("{own}\r\nHost: elsewhere.example")).await,
        "403"
    );
    assert_eq!(refused("POST /", &own).await, "405");
    assert_eq!(refused("HEAD /", &own).await, "405");
    assert_eq!(refused("GET /plan.json", &own).await, "404");
    assert_eq!(refused("nonsense", &own).await, "400");
    assert_eq!(refused("GET /", &own).await, "200");
}
