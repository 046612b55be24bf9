//! What a reader finds on the page.

use crate::common::{Run, between, build::MS, hostile, results, shows, without_scripts};
use serde_json::json;
use zooquake_checkers::results::WindowResult;
use zooquake_checkers::{AnomalySpan, NotJudged};
use zooquake_history::{EventType, Node, Process};

#[test]
fn the_first_screen_says_what_broke_when_and_under_which_fault_without_scripts() {
    let first = results::invalid().first_screen("invalid");
    let all = [
        "INVALID",
        "<b>stale-write</b> breaks <b>“mutual exclusion”</b>",
        "<b>lock/predecessor</b>",
        "promises that at most one client works at a time",
        "stale-write</a> <i>known and accepted</i>",
        "no fencing: a frozen holder does not see that its session has expired",
        "ZooKeeper recipes and solutions, Locks",
        "stale-holder</a> <i>advisory</i>",
        "c3 was paused from 24.000 s on while it worked",
        "23.580 s – 27.430 s",
        "pause c3, 23.988 s – 27.385 s, seen healed at 27.400 s (window 3, verified at 24.000 s)",
        "zooquake replay runs/20260301T021500-lock-predecessor-7",
        "c5</b> <span title=",
    ];
    shows(&first, &all);
}

#[test]
fn the_first_screen_says_what_was_not_judged() {
    for mut run in [results::invalid(), results::valid()] {
        run.results.not_judged.push(NotJudged {
            check: "foreign-znode".into(),
            why: "c1 cannot give the <session>".into(),
        });
        let first = run.first_screen("not-judged");
        assert!(first.contains("<h3>Not judged</h3>"));
        assert!(first.contains("foreign-znode: c1 cannot give the &lt;session&gt;"));
    }
}

#[test]
fn the_first_screen_says_what_the_kit_did_for_the_recipe_where_a_client_stated_it() {
    let mut run = results::valid();
    let silent = run.first_screen("kit-unstated");
    assert!(!silent.contains("by the kit"));
    let value = json!({ "pid": 7, "incarnation": 1, "session": null, "kit": ["lost", "release", "another"] });
    let events = &mut run.record.history.events;
    let (index, time) = (events.len(), events.last().map_or(0, |last| last.time));
    let process = Process::Name("c1".into());
    events.push(hostile::event(index, time, process, EventType::Info, "hello", value));
    let first = run.first_screen("kit");
    let (release, lost) = (first.find("release: by the kit"), first.find("lost: by the kit"));
    assert!(release.is_some() && release < lost, "{first}");
    assert!(!first.contains("another"));
}

#[test]
fn steps_have_the_same_numbers_in_the_picture_and_in_the_list() {
    let first = results::invalid().first_screen("numbers");
    let picture = between(&first, "<svg id=\"witness\"", "</svg>");
    for n in 1..=4 {
        assert!(picture.contains(&format!(">{n}</text>")), "no {n} in the picture");
        assert!(first.contains(&format!("<li value=\"{n}\">")), "no {n} in the list");
    }
    assert!(!picture.contains(">5</text>"));
    assert!(picture.contains("pause c3 24.0–27.4 s"), "the fault has a label");
    assert!(picture.contains("holds g900"));
    assert_eq!(picture.matches("class=\"num last\"").count(), 1);
    assert!(picture.contains("n3 leads the ensemble, epoch 2"));
}

#[test]
fn an_unknown_verdict_gives_its_reasons_first() {
    let mut run = results::unknown();
    run.results.reasons.extend((0..30).map(|i| format!("reason {i}")));
    let first = run.first_screen("unknown");
    assert!(
        first.contains("<a href=\"#reasons\">and 27 more</a>"),
        "the picture must stay on the first screen"
    );
    assert!(first.contains("UNKNOWN"));
    assert!(first.contains("no counting window of kill: window 1 hit c2 between two operations"));
    assert!(first.contains("✗ <b>kill</b>: 0 of 2 windows counted"));
    assert!(first.contains("<svg id=\"overview\""));
}

#[test]
fn a_valid_verdict_says_what_was_exercised() {
    let first = results::valid().first_screen("valid");
    assert!(first.contains("VALID") && !first.contains("INVALID"));
    assert!(first.contains("✓ <b>pause</b>: 2 of 2 windows counted"));
    assert!(first.contains("<b>write</b>: 283 ok, 1 fail, 1 info"));
    assert!(first.contains("note: c4 did not answer"));
    assert!(!first.contains("Why the verdict is not"));
}

#[test]
fn the_rest_of_the_page_is_there_without_scripts() {
    let page = without_scripts(&results::invalid().page("rest"));
    let all = [
        "<h2>Anomalies (2)</h2>",
        "<h2>Fault windows (5 of 6 counted)</h2>",
        "never began: no client came to work",
        "<svg id=\"latency\"",
        "<svg id=\"rate\"",
        "<svg id=\"quantiles\"",
        "<svg id=\"wait\"",
        "<svg id=\"w2\"",
        "ConnectionLoss",
        "not-held",
        "session timeout 2000 ms",
        "&quot;variant&quot;: &quot;predecessor&quot;",
    ];
    shows(&page, &all);
    assert!(!page.contains("<svg id=\"w1\""), "the first screen has that picture");
}

#[test]
fn a_fault_near_the_violation_is_named_and_one_long_before_is_not() {
    let mut run = results::invalid();
    // The session timeout is 2 s and the first step is at 23.58 s.
    for (id, until) in [(77, 21_700), (78, 21_500)] {
        run.fault(id, "partition", &Node::server(id).to_string(), 20_950 * MS, until * MS);
    }
    let first = run.first_screen("near");
    assert!(
        first.contains(
            "partition n77, 20.938 s – 21.685 s, seen healed at 21.700 s (window 77, verified at 20.950 s, does not count)"
        ),
        "{first}"
    );
    assert!(!first.contains("(window 78"));
}

#[test]
fn the_faults_of_an_anomaly_are_those_that_the_checkers_say() {
    let mut run = results::invalid();
    assert!(!run.first_screen("as-checked").contains("partition n2"));
    // What is found at the end came about earlier than its witness: the checker's span contains the time.
    run.results.anomalies[0].span = Some(AnomalySpan::Between(16_000 * MS, 30_000 * MS));
    let first = run.first_screen("as-checked");
    assert!(
        first.contains("<b>Faults on in 16.000 s – 30.000 s, or ended") && first.contains("partition n2, 15.788 s"),
        "{first}"
    );
    // A healing that was not verified is none.
    let events = run.record.history.events.iter_mut();
    for event in events.filter(|event| event.f == "partition" && event.phase() == Some("off")) {
        event.value["verified"] = false.into();
    }
    run.spans();
    assert!(
        run.first_screen("unhealed")
            .contains("partition n2, 15.788 s – never healed")
    );
    // For results without a span the page shows no faults.
    run.results.anomalies[0].span = None;
    assert!(!run.first_screen("unasked").contains("<b>Faults"));
}

#[test]
fn of_many_faults_it_is_said_how_many_are_not_told() {
    let mut run = results::invalid();
    for id in 100..120 {
        run.fault(
            id,
            "disconnect",
            &Node::client(id).to_string(),
            25_000 * MS,
            25_001 * MS,
        );
        run.results.windows.push(WindowResult {
            id,
            fault: "disconnect".into(),
            target: Node::client(id).to_string(),
            counts: false,
            why: "hit nothing".into(),
            from: Some(25_000 * MS),
            until: Some(25_001 * MS),
        });
    }
    let first = run.first_screen("many-faults");
    assert!(first.contains(
        "disconnect c100, 24.986 s – 25.000 s, seen healed at 25.001 s (window 100, verified at 25.000 s, does not count: hit \
         nothing)"
    ));
    assert!(first.contains("<a href=\"#windows\">and 13 more</a>"));
}

#[test]
fn the_legend_tells_only_what_is_in_the_picture() {
    let run = results::invalid();
    let first = run.first_screen("legend");
    let legend = between(&first, "<p class=\"legend\">", "</p>");
    assert!(legend.contains("f-pause") && legend.contains("</i>write accepted"));
    assert!(run.record.plan.faults.iter().any(|fault| fault == "kill"));
    assert!(!legend.contains("f-kill"), "no process is killed there: {legend}");
}

#[test]
fn the_first_screen_and_the_timeline_count_the_same() {
    let run = results::invalid();
    let control = |event: &&zooquake_history::Event| {
        event.kind == zooquake_history::EventType::Invoke && Node::from(event.process.to_string().as_str()).is_client()
    };
    let control = run.record.history.events.iter().filter(control).count();
    assert!(control > 0);
    let first = run.first_screen("counts");
    assert!(first.contains(&format!(" operations and {control} control request")));
}

#[test]
fn commands_break_only_between_options() {
    let mut run = results::invalid();
    run.extras.reproduce = vec!["zooquake run lock/predecessor --seed 1 --faults kill,pause".into()];
    let first = run.first_screen("commands");
    let line = "<code><span>zooquake run lock/predecessor</span> <span>--seed 1</span> <span>--faults kill,pause</span></code>";
    assert!(first.contains(line));
}

#[test]
fn a_command_is_shown_whole_or_not_at_all() {
    let mut run = results::invalid();
    let path = format!("zooquake check {}", "long/".repeat(800));
    run.extras.reproduce = vec!["x".repeat(100_000), path.clone()];
    let page = run.page("long-commands");
    assert!(page.contains(&format!("<code><span>{path}</span></code>")));
    assert!(!page.contains("xxxx"));
    run.extras.reproduce.pop();
    assert!(!run.page("no-commands").contains("See it again"));
}

#[test]
fn nothing_is_fetched_and_nothing_but_our_own_script_runs() {
    let page = results::invalid().page("offline");
    for forbidden in [
        "src=",
        "@import",
        "url(http",
        "onclick",
        "onload",
        "fetch(",
        "innerHTML",
        " style=\"",
    ] {
        assert!(!page.contains(forbidden), "the page has {forbidden}");
    }
    // A link is followed by a reader alone, and leads to a tracker of tickets.
    let page_links = |page: &str| -> Vec<String> {
        let links = page.split("href=\"http").skip(1);
        links
            .map(|link| link.split('"').next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(page_links(&page), Vec::<String>::new(), "this run has no ticket");
    let mut run = results::invalid();
    run.record.plan.workload.accepted[0].source = "CURATOR-206, http://evil.example/".into();
    let tracker = "s://issues.apache.org/jira/browse/CURATOR-206";
    assert_eq!(
        page_links(&run.page("tickets")),
        vec![tracker; 2],
        "on the first screen and below"
    );
    assert!(page.contains("default-src 'none'"));
    let nonce = between(&page, "script-src 'nonce-", "'");
    assert_eq!(page.matches(&format!("<script nonce=\"{nonce}\">")).count(), 1);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (one, two) = (results::invalid().write("same-1"), results::invalid().write("same-2"));
    for name in ["report.html", "timeline.png", "latency.png", "rate.png"] {
        assert!(
            std::fs::read(one.0.join(name)).unwrap() == std::fs::read(two.0.join(name)).unwrap(),
            "{name} differs"
        );
    }
}

#[test]
fn fifty_thousand_operations_fit_into_two_megabytes_and_few_elements() {
    let run: Run = results::many(50_000);
    let page = run.page("many");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(
        page.matches('<').count() < 20_000,
        "{} elements",
        page.matches('<').count()
    );
    assert!(page.contains("49\u{a0}998 operations"));
}

#[test]
fn the_name_of_an_anomaly_leads_to_what_it_means_and_what_mends_it() {
    let mut run = results::invalid();
    run.results.anomalies[1].kind = "made-up".into();
    let page = without_scripts(&run.page("meanings"));
    let first = between(&page, "<header", "</header>");
    assert!(first.contains("<a href=\"#about-stale-write\">stale-write</a>"));
    assert!(first.contains("<p class=\"mend\"><b>Mend:</b> Give every write a token"));
    let section = between(&page, "<section id=\"meanings\">", "</section>");
    assert!(section.contains("<dt id=\"about-stale-write\">stale-write</dt>"));
    assert!(section.contains("after one of a newer grant.</dd>"));
    assert!(!page.contains("#about-made-up"), "nobody knows what that means");
}
