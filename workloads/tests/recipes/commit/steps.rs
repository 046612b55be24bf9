//! What each client is asked, one thing after the other, as `docs/families/commit.md` has it.

use std::time::Duration;

use serde_json::json;
use zooquake_workloads::recipes::OpError;
use zooquake_workloads::recipes::commit::{Decision, Vote};
use zooquake_workloads::zk::Host;

use super::bed::{Bed, Plan};
use super::end::End;

impl Bed {
    /// All transactions, one after the other, and then what was not reported, and the verdict.
    pub fn run(&self, plans: &[Plan]) -> End {
        self.run_and(plans, |_| {})
    }

    /// The same, with something that happens meanwhile.
    pub fn run_and(&self, plans: &[Plan], meanwhile: impl FnOnce(&Self)) -> End {
        let sites: Vec<String> = (2..plans[0].votes.len() + 2).map(|site| format!("c{site}")).collect();
        self.start("c1");
        sites.iter().for_each(|site| self.start(site));
        let mut running = vec![
            self.world
                .start(coordinate(self.clone(), plans.to_vec(), sites.clone())),
        ];
        for (number, site) in sites.iter().enumerate() {
            running.push(
                self.world
                    .start(serve(self.clone(), plans.to_vec(), number, site.clone())),
            );
        }
        meanwhile(self);
        for client in running {
            self.world.run(async move { client.until(|ended| *ended).await });
        }
        self.net.server().script.clear();
        // Everybody is back, and every silent session has expired.
        self.pass(6000);
        self.phase("recovered");
        let finals: Vec<_> = sites
            .iter()
            .map(|site| self.world.start(ask_again(self.clone(), plans.len(), site.clone())))
            .collect();
        for client in finals {
            self.world.run(async move { client.until(|ended| *ended).await });
        }
        self.phase("audit");
        self.phase("done");
        self.end(plans.len())
    }

    /// Asks a site to vote, now.
    pub fn vote_now(&self, site: &str, tx: &str, vote: Vote) -> Option<Vote> {
        let (bed, site, tx) = (self.clone(), site.to_string(), tx.to_string());
        self.world
            .run(async move { vote_on(&bed, &site, &tx, vote, Duration::ZERO).await })
            .and_then(Result::ok)
    }

    /// Asks a site for the decision, now.
    pub fn decided_now(&self, site: &str, tx: &str) -> Option<&'static str> {
        let (bed, site, tx) = (self.clone(), site.to_string(), tx.to_string());
        self.world
            .run(async move { learn(&bed, &site, &tx, 12_000).await })
            .map(Decision::word)
    }

    fn finish(&self, name: &str, number: usize) {
        self.done.update(|done| done.insert(name.to_string(), number + 1));
    }

    async fn finished(&self, names: &[String], number: usize) {
        let all = |done: &std::collections::BTreeMap<String, usize>| {
            let ended = |name: &String| done.get(name).is_some_and(|&ended| ended > number);
            names.iter().all(ended).then_some(())
        };
        self.done.until(all).await;
    }
}

async fn coordinate(bed: Bed, plans: Vec<Plan>, sites: Vec<String>) {
    for (number, plan) in plans.iter().enumerate() {
        let transaction = Bed::transaction(plan, number);
        let asked = json!({"tx": transaction.tx, "sites": transaction.sites, "payload": transaction.payload});
        let tx = transaction.tx.clone();
        bed.done.update(|done| done.insert("begin".to_string(), number + 1));
        let (begun, until) = (transaction.clone(), bed.world.now() + Duration::from_secs(3));
        let begin = bed.ask(
            "c1",
            "begin",
            asked.clone(),
            |party| async move { party.begin(&begun, Some(until)).await },
            |()| json!({"tx": tx}),
        );
        let begun = begin.await;
        if plan.late {
            let voted: Vec<String> = sites.iter().map(|site| format!("{site} votes")).collect();
            bed.finished(&voted, number).await;
        }
        // One that died is not asked again: that is what sites recover from, or not.
        if matches!(begun, Some(Ok(()) | Err(OpError::Info(_)))) {
            let (tx, until) = (transaction.tx.clone(), bed.world.now() + Duration::from_secs(4));
            bed.ask(
                "c1",
                "decide",
                asked,
                |party| async move { party.decide(&transaction, Some(until)).await },
                |decision: &Decision| json!({"tx": tx, "decision": decision}),
            )
            .await;
        }
        bed.finished(&sites, number).await;
    }
}

async fn serve(bed: Bed, plans: Vec<Plan>, position: usize, site: String) {
    for (number, plan) in plans.iter().enumerate() {
        bed.finished(&["begin".to_string()], number).await;
        let (tx, vote) = (Bed::transaction(plan, number).tx, plan.votes[position]);
        for _ in 0..2 {
            let voted = vote_on(&bed, &site, &tx, vote, Bed::slow(plan, &site)).await;
            if matches!(voted, Some(Ok(_) | Err(OpError::Fail(_)))) {
                break;
            }
        }
        bed.finish(&format!("{site} votes"), number);
        for _ in 0..2 {
            if learn(&bed, &site, &tx, 4000).await.is_some() {
                break;
            }
        }
        bed.finish(&site, number);
    }
}

async fn ask_again(bed: Bed, transactions: usize, site: String) {
    for number in 1..=transactions {
        let tx = format!("t{number}");
        let told = |event: &zooquake_checkers::Event| {
            let done = event.f == "decided" && event.kind == zooquake_checkers::EventType::Ok;
            done && event.node.as_deref() == Some(site.as_str()) && event.tx() == Some(&tx)
        };
        let told = bed.events().iter().any(told);
        if !told {
            learn(&bed, &site, &tx, 12_000).await;
        }
    }
}

async fn vote_on(bed: &Bed, site: &str, tx: &str, vote: Vote, work: Duration) -> Option<Result<Vote, OpError>> {
    let until = bed.world.now() + Duration::from_secs(3);
    bed.ask(
        site,
        "vote",
        json!({"tx": tx, "vote": vote}),
        |party| async move { party.vote(tx, vote, work, Some(until)).await },
        |voted| json!({"tx": tx, "voted": voted}),
    )
    .await
}

async fn learn(bed: &Bed, site: &str, tx: &str, milliseconds: u64) -> Option<Decision> {
    let until = bed.world.now() + Duration::from_millis(milliseconds);
    let told = bed.ask(
        site,
        "decided",
        json!({"tx": tx}),
        |party| async move { party.decided(tx, Some(until)).await },
        |decision| json!({"tx": tx, "decision": decision}),
    );
    told.await.and_then(Result::ok)
}
