//! `counter/*`: what each increment is given, also when requests and replies are lost.

use serde_json::{Value, json};
use zooquake_workloads::protocol::Outcome;
use zooquake_workloads::zk::CreateMode;
use zooquake_workloads::zk::sim::Fate;

use crate::bed::LONG;
use crate::driven::{Bed, Driven};

const VARIANTS: [&str; 3] = ["versioned", "optimistic", "unconditional"];

fn bed() -> Bed {
    let bed = Bed::new();
    for path in ["/counter", "/counter-marks"] {
        let mut server = bed.net.server();
        server.create(0, path, b"", CreateMode::Persistent).unwrap();
    }
    bed
}

fn data(bed: &Bed) -> String {
    String::from_utf8(bed.net.server().get("/counter").unwrap().0).unwrap()
}

/// The id that an increment is given which needs longer than a moment.
fn id(bed: &Bed, client: &mut Driven) -> Value {
    let id = client.send("increment", json!({}));
    bed.world.pass(LONG);
    let (outcome, value, error) = client.reply(id).expect("a reply");
    assert_eq!((outcome, error), (Outcome::Ok, None));
    value["id"].clone()
}

/// The request by which a variant writes.
fn write(variant: &str) -> &'static str {
    if variant == "versioned" { "multi" } else { "set" }
}

#[test]
fn each_increment_is_given_the_next_number_and_everybody_reads_it() {
    for variant in VARIANTS {
        let bed = bed();
        let mut clients = [bed.of("c1", "counter", variant), bed.of("c2", "counter", variant)];
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
        let mut client = bed.of("c1", "counter", variant);
        client.ok("increment", json!({}));
        bed.net.before(write(variant), Fate::Answered, |server| {
            server.set("/counter", b"7", None).unwrap();
        });
        assert_eq!(client.ok("increment", json!({}))["id"], json!(8), "{variant}");
    }
}

#[test]
fn a_lost_reply_counts_once_by_the_mark_and_twice_without() {
    for (variant, expected) in [("versioned", 2), ("optimistic", 3), ("unconditional", 2)] {
        let bed = bed();
        let mut client = bed.of("c1", "counter", variant);
        client.ok("increment", json!({}));
        bed.net.next(write(variant), Fate::ReplyLost);
        assert_eq!(id(&bed, &mut client), json!(expected), "{variant}");
        assert_eq!(data(&bed), expected.to_string(), "{variant}");
    }
}

#[test]
fn a_lost_reply_after_which_others_count_on() {
    for (variant, expected, left) in [
        ("versioned", 2, "9"),
        ("optimistic", 10, "10"),
        ("unconditional", 2, "2"),
    ] {
        let bed = bed();
        let mut client = bed.of("c1", "counter", variant);
        client.ok("increment", json!({}));
        bed.net.next(write(variant), Fate::ReplyLost);
        bed.net.before(write(variant), Fate::Answered, |server| {
            server.set("/counter", b"9", None).unwrap();
        });
        assert_eq!(id(&bed, &mut client), json!(expected), "{variant}");
        assert_eq!(data(&bed), left, "{variant}");
    }
}

#[test]
fn a_lost_request_after_which_others_count_on() {
    for (variant, expected) in [("versioned", 10), ("optimistic", 10), ("unconditional", 2)] {
        let bed = bed();
        let mut client = bed.of("c1", "counter", variant);
        client.ok("increment", json!({}));
        bed.net.before(write(variant), Fate::RequestLost, |server| {
            server.set("/counter", b"9", None).unwrap();
        });
        assert_eq!(id(&bed, &mut client), json!(expected), "{variant}");
        assert_eq!(data(&bed), expected.to_string(), "{variant}");
    }
}
