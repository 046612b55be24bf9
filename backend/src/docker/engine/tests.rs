use super::bounds::Bounds;
use super::guard::Guard;
use super::{Address, client, exchange};
use crate::retry::{again, pause};
use futures_util::{StreamExt, TryStreamExt};
use hyper::Request;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::exec::{StartExecOptions, StartExecResults};
use testcontainers::bollard::{Docker, body_full};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

/// An answer without an end: its head, and a piece that comes again and again.
type Answer = (&'static str, &'static [u8]);

const ENDLESS: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
const UPGRADED: &str = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

/// An engine that gives each of these answers once, one after the other, and the last one for ever. With how many
/// requests it had.
async fn engine(answers: &'static [Answer]) -> (tempfile::TempDir, Docker, Arc<AtomicUsize>) {
    let folder = tempfile::tempdir().expect("a folder for a socket");
    let path = folder.path().join("engine.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (head, piece) = answers[count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)];
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                if head.is_empty() {
                    // It keeps the connection, and the one who asked waiting.
                    std::future::pending::<()>().await;
                }
                let _ = stream.write_all(head.as_bytes()).await;
                while !piece.is_empty() && stream.write_all(piece).await.is_ok() {}
            });
        }
    });
    let docker = client(Address::Unix(path)).expect("a client");
    (folder, docker, asked)
}

#[tokio::test]
async fn an_answer_without_an_end_is_an_error_before_it_fills_the_memory() {
    for piece in [&[b' '; 4096][..], &[b'['; 4096]] {
        let answers: &'static [Answer] = Box::leak(Box::new([(ENDLESS, piece as &'static [u8])]));
        let (_folder, docker, _) = engine(answers).await;
        let error = docker.info().await.expect_err("it has no end");
        assert!(format!("{error:?}").contains("longer than 16 MiB"), "{error:?}");
    }
}

/// Reads so many frames of a process whose streams are this piece again and again.
async fn frames(piece: &'static [u8], most: usize) -> Result<usize, Error> {
    let answers: &'static [Answer] = Box::leak(Box::new([(UPGRADED, piece)]));
    let (_folder, docker, _) = engine(answers).await;
    let StartExecResults::Attached { output, .. } = docker.start_exec("x", None::<StartExecOptions>).await? else {
        panic!("it is attached");
    };
    output
        .take(most)
        .try_fold(0, |count, _| async move { Ok(count + 1) })
        .await
}

#[tokio::test]
async fn streams_go_on_in_frames_and_end_where_there_is_none() {
    // More than an ordinary answer may have.
    let many = (20 << 20) / 1000;
    let frame: &'static [u8] = [b"\x01\0\0\0\0\0\x03\xe8", &[b'a'; 1000][..]].concat().leak();
    assert_eq!(frames(frame, many).await.ok(), Some(many));
    for none in [
        &b"\x01\0\0\0\xff\xff\xff\xffaaaaaaaa"[..],
        b"garbage without a newline",
        b"\x03\0\0\0\0\0\0\x01a",
    ] {
        let read = frames(none, 1).await;
        assert!(read.is_err(), "{read:?}");
    }
}

#[tokio::test]
async fn what_takes_too_long_is_an_error() {
    let bounds = Bounds {
        bytes: 100,
        time: Some(Duration::from_millis(50)),
        streams: false,
    };
    let (ours, mut theirs) = tokio::io::duplex(64);
    let mut guard = Guard::new(Box::new(ours), bounds);
    theirs.write_all(b"a beginning").await.expect("room for it");
    let begun = Instant::now();
    let error = guard.read_to_end(&mut Vec::new()).await.expect_err("it never ends");
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

#[tokio::test]
async fn a_slow_engine_is_told_apart_from_a_dead_one() {
    const GOOD: Answer = ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"");
    const LATE: Answer = ("", b"");
    let bounds = Bounds {
        bytes: 1000,
        time: Some(Duration::from_millis(100)),
        streams: false,
    };
    for (answers, state) in [(&[LATE, GOOD][..], "it is slow"), (&[LATE], "hangs or is gone")] {
        let (folder, _, asked) = engine(answers).await;
        let address = Address::Unix(folder.path().join("engine.sock"));
        let request = Request::post("/containers/x/start").body(body_full(Default::default()));
        let late = exchange(&address, request.expect("a request"), bounds).await;
        let error = late.expect_err("there is no answer").to_string();
        assert!(
            error.contains("POST /containers/x/start") && error.contains(state),
            "{error}"
        );
        assert_eq!(asked.load(Ordering::SeqCst), 2, "the second one was the ping");
    }
}

const BROKEN: Answer = (
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}",
    b"",
);
const CUT: Answer = ("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{", b"");

#[tokio::test]
async fn a_request_that_failed_once_is_sent_again_and_a_refusal_is_not() {
    const REFUSED: Answer = (
        "HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}",
        b"",
    );
    const GOOD: Answer = (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        b"",
    );
    for (answers, good, requests) in [
        (&[GOOD][..], true, 1),
        (&[BROKEN, GOOD], true, 2),
        (&[CUT, GOOD], true, 2),
        (&[CUT, BROKEN, GOOD], true, 3),
        (&[BROKEN], false, 3),
        (&[REFUSED, GOOD], false, 1),
    ] {
        let (_folder, docker, asked) = engine(answers).await;
        let outcome = again(|| docker.info()).await;
        assert_eq!(outcome.is_ok(), good, "{answers:?}: {outcome:?}");
        assert_eq!(asked.load(Ordering::SeqCst), requests, "{answers:?}");
    }
}

#[tokio::test]
async fn a_pause_is_asked_for_again_where_the_engine_answered_that_it_failed() {
    const PAUSED: Answer = ("HTTP/1.1 204 No Content\r\n\r\n", b"");
    const LOST: Answer = ("HTTP/1.1 204 No Content", b"");
    for (answers, good, requests) in [
        (&[PAUSED][..], true, 1),
        (&[BROKEN, PAUSED], true, 2),
        (&[BROKEN], false, 3),
        (&[LOST, PAUSED], false, 1),
    ] {
        let (_folder, docker, asked) = engine(answers).await;
        let outcome = pause(&docker, "x").await;
        assert_eq!(outcome.is_ok(), good, "{answers:?}: {outcome:?}");
        assert_eq!(asked.load(Ordering::SeqCst), requests, "{answers:?}");
    }
}
