//! Every family has its own words and its own marks on the page.

use crate::common::{between, data, families, first_screen, shows, without_scripts};
use zooquake_checkers::Verdict;

#[test]
fn an_item_is_followed_from_the_lost_reply_to_its_acknowledgement() {
    let page = families::claimed().page("claimed");
    let first = first_screen(&page);
    shows(
        &first,
        &[
            "<b>duplicate-delivery</b> breaks",
            "window 1: drop-reply c1 (the reply to create /queue/item- was lost, applied as zxid 0x1000000a4)",
            // The answer to the enqueue has no value: its invocation contains the item.
            "may or may not have enqueued item 52 (unknown outcome: connection to server has lost)",
            "is about to take item 52",
            "is given item 52, claimed as /taken/26f8-item-0000000051, czxid 0x1000000ae",
            "has acknowledged item 52: it is done with",
            "has drained the queue: it was found empty three times in a row",
            "has claimed item 52 from 0.330 s, acknowledged at 0.900 s",
            "has claimed item 52 from 0.430 s, not ended",
            "</i>has claimed an item</span>",
            "</i>enqueues</span>",
            "</i>dequeues</span>",
            "</i>acknowledges</span>",
            "c3 asks for an item (0.300 s); finds the queue empty",
        ],
    );
    let picture = between(&first, "<svg id=\"witness\"", "</svg>");
    let way = picture.matches("<path class=\"travel\"").count();
    assert_eq!(
        way, 3,
        "from the enqueue to the first consumer, to the second, to the acknowledgement"
    );
    assert!(!first.contains("waits</span>"), "nobody waits at a queue");
    shows(
        &without_scripts(&page),
        &[
            "<h2>From enqueue to delivery</h2>",
            "<th scope=\"col\">deliveries</th>",
            // The end of its enqueue is unknown, and so is how long item 52 was there; item 51 was given 60 ms later.
            "<p>The longest: 60.0 ms from 0.150 s, to c3 (its enqueue was answered).</p>",
        ],
    );
}

#[test]
fn a_round_shows_who_waited_and_who_was_inside() {
    let first = first_screen(&families::double_barrier().page("double-barrier"));
    shows(
        &first,
        &[
            "window 1: pause c3, 0.078 s – 0.885 s, seen healed at 0.900 s, verified at 0.090 s",
            "is let into round 9: its barrier has opened, czxid 0x100000004",
            "has left round 9: removed /barrier/9/c1",
            "waits to enter round 9",
            "is in round 9 from 0.500 s, left at 0.700 s",
            "</i>is in the round</span>",
            "</i>enters: waits for the others</span>",
            "</i>leaves: waits for the others</span>",
            "c2 enters round 9, and waits for all 3 members (0.110 s)",
        ],
    );
    assert!(
        !first.contains("</i>joins</span>"),
        "no member of a double barrier joins"
    );
}

#[test]
fn a_blocked_transaction_names_the_fault_under_which_it_began() {
    let page = families::commit().page("commit");
    shows(
        &first_screen(&page),
        &[
            "<b>blocked-transaction</b> breaks",
            "<b>Faults on in 0.300 s – 5.000 s, or ended less than one session timeout (2 s) before</b> kill c1, 0.468 s – 0.885 s, \
             seen healed at 0.900 s (window 1, verified at 0.480 s, does not count)",
            // The coordinator has a row, though it does nothing any more.
            ">c1</text>",
            "has recovered: from here on waiting counts",
            "asks what was decided of t2",
            // Its vote binds the site also after its process has died.
            "in doubt of t2 from 0.450 s, not ended",
            "</i>in doubt: has voted yes, has received no decision</span>",
        ],
    );
    // No answer ends in the picture; the timeline has them all.
    assert!(!first_screen(&page).contains("yes, commit"));
    shows(&page, &["\"yes, commit\"", "\"no, abort\""]);
    let passed = "<h2>From begin to decision</h2>";
    let longest = "<p>The longest: 195 ms from 0.100 s, to c3 (its begin was sent).</p>";
    shows(&without_scripts(&page), &[passed, longest]);
}

#[test]
fn commit_and_abort_differ_in_mark_and_words() {
    let mut run = families::commit();
    let answers = |e: &zooquake_history::Event| e.value.get("decision").is_some() || e.value.get("voted").is_some();
    let events = &run.record.history.events;
    let told = events.iter().filter(|e| answers(e) || e.error.is_some());
    run.results.anomalies[0].witness = told.map(|e| e.index).collect();
    let page = run.page("decisions");
    let first = first_screen(&page);
    shows(
        &first,
        &[
            "has voted YES on t1",
            "has voted NO on t1",
            "as coordinator decides ABORT of t1",
            "receives that t1 is to ABORT",
            "receives that t1 is to COMMIT",
            "as coordinator has no decision of t2 (stream-ended)",
            "in doubt of t1 from 0.250 s, received abort at 0.290 s",
        ],
    );
    let picture = between(&first, "<svg id=\"witness\"", "</svg>");
    let marks = |class: &str| picture.matches(&format!("<circle class=\"{class}\"")).count();
    assert_eq!(
        (marks("took"), marks("said-no")),
        (3, 3),
        "yes, yes, commit; no, abort, abort"
    );
    let data = data(&page);
    assert_eq!(data["ops"]["marks"][3], "no, abort");
    assert_eq!(data["holds"]["verb"], "in doubt of");
}

#[test]
fn a_register_leads_to_the_page_of_its_order_if_that_was_written() {
    let mut run = families::register();
    let link = "<p class=\"order\"><a href=\"order.html\">";
    assert!(!run.page("register-without-order").contains("order.html"));
    run.extras.order_page = Some("order.html");
    shows(&run.first_screen("register-order"), &[link]);
    // Also where the verdict is not that a property broke.
    run.results.anomalies.clear();
    run.results.verdict = Verdict::Valid;
    shows(&run.first_screen("register-order-valid"), &[link]);
}

#[test]
fn a_register_names_values_transactions_and_servers() {
    let page = families::register().page("register");
    let first = first_screen(&page);
    shows(
        &first,
        &[
            "reads nothing, mzxid 0x100000000, by n1",
            "has written 17, mzxid 0x100000004, by n1",
            "has compared and set from 17 to 18, mzxid 0x100000005, by n1",
            "does not set from 3 to 19 (mismatch)",
            "reads 17, mzxid 0x100000004, by n2",
            "may or may not have written 20 (unknown outcome: connection loss)",
            "window 1: partition n2",
            "</i>reads</span>",
            "</i>writes, compares and sets</span>",
        ],
    );
    assert!(!first.contains("holds</span>"), "nobody holds a register");
    let forms = data(&page)["ops"]["forms"].to_string();
    assert!(forms.contains("# → #"), "a compare-and-set tells both values: {forms}");
}

#[test]
fn a_counter_names_ids_and_counts() {
    let page = families::counter().page("counter");
    shows(
        &first_screen(&page),
        &[
            "has made 1, mzxid 0x100000004",
            "reads 1",
            "may or may not have added 1 (timed out)",
            "</i>adds 1</span>",
            "</i>reads</span>",
        ],
    );
}

#[test]
fn a_semaphore_names_leases_and_work() {
    let first = first_screen(&families::semaphore().page("semaphore"));
    shows(
        &first,
        &[
            "is granted a lease: g1, czxid 0x100000004",
            "is granted a lease: g3",
            "has worked under g1",
            "does not work under g3 (not-held)",
            "</i>holds</span>",
            "</i>works</span>",
        ],
    );
    assert!(!first.contains("the lock") && !first.contains("writes"));
}

#[test]
fn a_read_write_lock_shows_readers_and_writers_apart() {
    let page = families::rwlock().page("rwlock");
    let first = first_screen(&page);
    shows(
        &first,
        &[
            "is granted the lock: g1, token 0x7",
            "is granted the lock: g2, shared, token 0x7",
            "reads 31 under g2",
            "class=\"key hold\"></i>holds</span>",
            "class=\"key hold shared\"></i>holds shared</span>",
            "</i>reads</span>",
            "<rect class=\"hold shared\"",
            "holds g2, shared from 0.120 s, released at 0.470 s",
            "holds g1 from 0.020 s, released at 0.490 s",
        ],
    );
    let holds = &data(&page)["holds"];
    assert_eq!(holds["shared"], serde_json::json!([0, 1]));
    assert_eq!(holds["forms"], serde_json::json!(["g#", "g#, shared"]));
    let lock = crate::common::results::valid().page("lock");
    assert!(data(&lock)["holds"]["shared"].as_array().unwrap().is_empty());
    assert!(!without_scripts(&lock).contains("holds shared"), "nobody shares it");
}

#[test]
fn a_group_is_drawn_against_what_its_clients_show() {
    let page = families::group().page("group");
    shows(
        &first_screen(&page),
        &[
            "<b>stale-view</b> breaks",
            "shows view 1: m1 = 1, m2 = 2",
            "answers view 1: nobody; it believes to be no member",
        ],
    );
    let page = without_scripts(&page);
    let section = between(&page, "<h2>Views of the group</h2>", "</section>");
    // A row of two members for each of two clients. c2 shows an old value of m1 from the answer to its update on; c1
    // shows nothing.
    let count = |class: &str| section.matches(&format!("<path class=\"{class}\"")).count();
    assert_eq!(
        [count("truth"), count("shade"), count("late"), count("blank")],
        [4, 2, 1, 1]
    );
    // What differs is hatched: its outline alone has the colour, and what is shown stays to be seen below it.
    assert!(page.contains("<pattern id=\"h-late\""));
    assert!(page.contains("path.late { fill: url(#h-late);"));
    let late = between(section, "<path class=\"late\" d=\"", "\"");
    assert_eq!(
        late.matches('M').count(),
        1,
        "from the update to the end of the run: {late}"
    );
}

#[test]
fn a_member_that_has_left_and_is_still_shown_is_hatched() {
    let mut run = families::group();
    // Without the update nothing else differs.
    for event in run.record.history.events.iter_mut().filter(|event| event.f == "update") {
        event.value["value"] = serde_json::Value::Null.into();
    }
    let page = without_scripts(&run.page("group-gone"));
    let section = between(&page, "<h2>Views of the group</h2>", "</section>");
    let late = between(section, "<path class=\"late\" d=\"M", " ");
    let left = 96.0 + (932.0 - 96.0) * 0.5 / 0.81;
    let begins: f64 = late.parse().expect("a place");
    assert!((begins - left).abs() < 0.2, "c1 leaves at 0.5 s: {begins}, {left}");
}
