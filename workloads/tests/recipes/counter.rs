//! `counter/*`: what each increment is given, also when requests and replies are lost.

use serde_json::json;
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::{Ensemble, Fate};

use crate::driven::ClientTestBed;

const VARIANTS: [&str; 3] = ["versioned", "optimistic", "unconditional"];

fn bed() -> ClientTestBed {
    let bed = ClientTestBed::new();
    for path in ["/counter", "/counter-marks"] {
        let mut server = bed.net.server();
        server.create(0, path, b"", CreateMode::Persistent).unwrap();
    }
    bed
}

fn data(bed: &ClientTestBed) -> String {
    String::from_utf8(bed.net.server().get("/counter").unwrap().0).unwrap()
}

/// The request by which a variant writes.
fn write(variant: &str) -> &'static str {
    if variant == "versioned" { "multi" } else { "set" }
}

#[test]
fn each_increment_is_given_the_next_number_and_everybody_reads_it() {
    for variant in VARIANTS {
        let bed = bed();
        let mut clients = [bed.drive("c1", "counter", variant), bed.drive("c2", "counter", variant)];
        assert_eq!(clients[0].ok("get", json!({}))["value"], json!(0), "{variant}");
        for number in 1..6 {
            let made = clients[number % 2].ok("increment", json!({}));
            assert_eq!(made["id"], json!(number), "{variant}");
            let read = clients[0].ok("get", json!({}));
            assert_eq!(
                (&read["value"], &read["mzxid"]),
                (&json!(number), &made["mzxid"]),
                "{variant}"
            );
        }
    }
}

#[test]
fn a_write_of_an_old_version_is_done_again() {
    for variant in VARIANTS {
        let bed = bed();
        let mut client = bed.drive("c1", "counter", variant);
        client.ok("increment", json!({}));
        bed.net.before(write(variant), Fate::Answered, |server| {
            server.set("/counter", b"7", None).unwrap();
        });
        assert_eq!(client.ok("increment", json!({}))["id"], json!(8), "{variant}");
    }
}

#[test]
fn a_lost_reply_counts_once_by_the_mark_and_twice_without() {
    use Fate::{ReplyLost, RequestLost};
    // What is lost, what others count on to before the write is made again, the id that is given and the value that is
    // left.
    for (variant, lost, others, expected, left) in [
        ("versioned", ReplyLost, None, 2, "2"),
        ("optimistic", ReplyLost, None, 3, "3"),
        ("unconditional", ReplyLost, None, 2, "2"),
        ("versioned", ReplyLost, Some(b"9"), 2, "9"),
        ("optimistic", ReplyLost, Some(b"9"), 10, "10"),
        ("unconditional", ReplyLost, Some(b"9"), 2, "2"),
        ("versioned", RequestLost, Some(b"9"), 10, "10"),
        ("optimistic", RequestLost, Some(b"9"), 10, "10"),
        ("unconditional", RequestLost, Some(b"9"), 2, "2"),
    ] {
        let bed = bed();
        let mut client = bed.drive("c1", "counter", variant);
        client.ok("increment", json!({}));
        let count = move |server: &mut Ensemble| drop(others.map(|others| server.set("/counter", others, None)));
        match lost {
            RequestLost => bed.net.before(write(variant), lost, count),
            _ => {
                bed.net.next(write(variant), lost);
                bed.net.before(write(variant), Fate::Answered, count);
            }
        }
        let (outcome, made, error) = client.end("increment", json!({}));
        assert_eq!((outcome, error), (Outcome::Ok, None), "{variant} {lost:?}");
        assert_eq!(
            (&made["id"], data(&bed).as_str()),
            (&json!(expected), left),
            "{variant} {lost:?}"
        );
    }
}
