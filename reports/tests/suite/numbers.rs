//! What the page shows beside the verdict: times without a leader, what containers could do.

use crate::common::{hostile::event, results, shows, without_scripts};
use zooquake_history::{EventType, Process};

#[test]
fn the_time_without_a_leader_is_told_the_longest_first() {
    let mut run = results::invalid();
    run.record.plan.workload.family = "election".into();
    let stat = serde_json::json!([
        {"window": 3, "fault": "<pause>", "ms": 2140.0, "session_timeouts": 1.07},
        {"window": 5, "fault": "kill", "ms": null, "session_timeouts": null},
    ]);
    run.results.stats.insert("leaderless".into(), stat);
    let page = without_scripts(&run.page("leaderless"));
    let section = &page[page.find("Without a leader</h2>").expect("its heading")..];
    let never = section
        .find("<td>kill</td><td>never</td>")
        .expect("the one without an end");
    let told = section.find("<td>&lt;pause&gt;</td><td>2.14 s</td><td>1.07</td>");
    assert!(told.is_some_and(|told| never < told), "{}", &section[..900]);
    run.results.stats.insert("leaderless".into(), serde_json::json!([]));
    assert!(!run.page("led").contains("Without a leader"), "nothing to tell");
}

#[test]
fn the_page_says_what_the_containers_could_do() {
    let mut run = results::valid();
    assert!(!run.page("unconfined").contains("What the containers could do"));
    let events = &mut run.record.history.events;
    let (index, time) = (events.len(), events.last().map_or(0, |last| last.time));
    let confinement = serde_json::json!({
        "internal_network": true, "no_new_privileges": true, "security": ["name=seccomp,profile=default"],
        "containers": [
            { "role": "sidecars", "user": "0:0", "capabilities": ["KILL", "NET_ADMIN"], "memory_mib": 512, "pids": null },
            { "role": "clients <b>", "user": null, "capabilities": [], "memory_mib": 1024, "pids": 1024 },
        ],
    });
    let (run_itself, info) = (Process::Name("run".into()), EventType::Info);
    events.push(event(index, time, run_itself, info, "confinement", confinement));
    let page = run.page("confined");
    let all = [
        "a network without a way out; no new privileges; security options of the engine: name=seccomp,profile=default",
        "sidecars as user 0:0: capabilities KILL, NET_ADMIN, MiB of memory 512, processes any number",
        "clients &lt;b&gt; as the user of the image: capabilities none, MiB of memory 1024, processes 1024",
    ];
    shows(&page, &all);
}
