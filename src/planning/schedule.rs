//! The schedule in a file of the user's: whom which fault strikes, when, for how long and how often, as TOML. Its
//! windows become those of a plan, beside each other, and are in no way others than drawn ones.

use super::values::{self, KeyText};
use super::{admission, drawing, names};
use crate::faults::{self, Fault, Victims};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;
use zooquake_backend::files;
use zooquake_history::fault::{Cut, Lag, Latency, Payload, Pin, Wire};
use zooquake_history::operation::{self, Family};
use zooquake_history::plan::{ClientState, Plan, Target, Trigger, Window};
use zooquake_history::{Host, Node};

/// The most windows that a schedule has.
const MOST: u64 = 1_000;

/// The keys of a schedule's file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Its windows, in any order. Those that overlap are on at once.
    #[schemars(with = "Vec<WindowKeys>")]
    window: Vec<Spanned<WindowKeys>>,
}

/// One window, or one that comes again and again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WindowKeys {
    /// The kind of fault, such as `pause`.
    #[schemars(with = "String")]
    fault: Spanned<String>,
    /// Whom it strikes: a client (`c2`), a server (`n1`), several servers, a host (`h1`), or a role: `client` (whose
    /// state `when` names), `holder`, `waiter`, `leader`, `follower`, `holder-server`.
    #[schemars(with = "Option<VictimText>")]
    victim: Option<Spanned<VictimText>>,
    /// When it begins, since operations began, such as `5s`; of a state, from when it is waited for, `0s` if left out.
    #[schemars(with = "Option<String>")]
    at: Option<Spanned<String>>,
    /// The state of a client in which it begins, as in plans: `working`, `{ asked = "begin" }`.
    #[schemars(with = "Option<ClientState>")]
    when: Option<Spanned<ClientState>>,
    /// The client whose state that is; the victim if left out and that is a client, else any.
    #[schemars(with = "Option<String>")]
    client: Option<Spanned<String>>,
    /// Of `when = { asked = … }` of one client: the number of that operation among its own of this name, from 1.
    #[schemars(with = "Option<u64>")]
    nth: Option<Spanned<u64>>,
    /// How long the state must have lasted, such as `200ms`.
    #[schemars(with = "Option<String>")]
    after: Option<Spanned<String>>,
    /// In place of `at` and `when`: how many operations clients have answered by then, all together.
    #[schemars(with = "Option<u64>")]
    after_operations: Option<Spanned<u64>>,
    /// How long it stays, such as `3s`.
    #[serde(rename = "for")]
    #[schemars(with = "Option<String>")]
    lasts: Option<Spanned<String>>,
    /// It comes again so long after it came, such as `10s`.
    #[schemars(with = "Option<String>")]
    every: Option<Spanned<String>>,
    /// How often it comes at most; as often as there is time for if left out.
    #[schemars(with = "Option<u64>")]
    times: Option<Spanned<u64>>,
    /// Of a `partition`; `isolate` if left out.
    #[schemars(with = "Option<Cut>")]
    cut: Option<Spanned<Cut>>,
    /// Of a `drop-reply`, a `hold-reply` or a `disconnect` (`close` if left out).
    #[schemars(with = "Option<Wire>")]
    wire: Option<Spanned<Wire>>,
    /// Of a `latency`.
    #[schemars(with = "Option<Latency>")]
    latency: Option<Spanned<Latency>>,
    /// Of a `pin`.
    #[schemars(with = "Option<Pin>")]
    to: Option<Spanned<Pin>>,
    /// Of a `lag`.
    #[schemars(with = "Option<Lag>")]
    lag: Option<Spanned<Lag>>,
}

/// Whom a window strikes, as a file names it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum VictimText {
    /// A node, or a role.
    One(String),
    /// Servers, struck together.
    Several(Vec<String>),
}

/// The roles that a window's victim can have, beside names of nodes.
const ROLES: [&str; 6] = ["client", "holder", "waiter", "leader", "follower", "holder-server"];

/// Whom a window strikes, and the state by which that is found out.
struct PlannedVictim {
    target: Target,
    /// Of a role that a client has by its state.
    state: Option<ClientState>,
}

/// The plan with the windows of a file in place of its own, and their kinds of fault.
///
/// # Errors
/// What is wrong with the file, with its name, the line, and what may stand there: a message for the user.
pub fn scheduled(plan: Plan, file: &Path) -> Result<Plan, String> {
    let text = files::read_to_string(file, files::SETTINGS)
        .map_err(|why| format!("{file:?} cannot be read ({why}): give a schedule in TOML"))?;
    with_windows(plan, &text).map_err(|why| format!("the schedule {file:?}: {why}"))
}

/// The same, with the text of the file.
fn with_windows(mut plan: Plan, text: &str) -> Result<Plan, String> {
    let schedule: Schedule = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_string())?;
    if schedule.window.is_empty() {
        return Err(
            "it has no window: give one as `[[window]]`, or leave --schedule out and give --faults none".into(),
        );
    }
    let text = KeyText(text);
    let mut planned: Vec<(Window, &Spanned<WindowKeys>)> = Vec::new();
    for keys in &schedule.window {
        let reader = WindowReader {
            text: &text,
            keys: keys.get_ref(),
            whole: keys,
            plan: &plan,
        };
        planned.extend(reader.windows()?.into_iter().map(|window| (window, keys)));
        if planned.len() as u64 > MOST {
            return Err(text.wrong(keys, "window", &format!("with it there are more than {MOST} windows")));
        }
    }
    planned.sort_by_key(|(window, _)| match window.trigger {
        Trigger::Op { .. } | Trigger::Count { .. } => 0,
        _ => drawing::until_ms(window) - window.duration_ms,
    });
    let whole: Vec<&Spanned<WindowKeys>> = planned.iter().map(|(_, keys)| *keys).collect();
    let windows = planned.into_iter().map(|(window, _)| window);
    plan.windows = (1..).zip(windows).map(|(id, window)| Window { id, ..window }).collect();
    admission::check_windows(&plan).map_err(|(at, why)| text.wrong(whole[at], "window", &format!("it {why}")))?;
    plan.faults = Vec::new();
    for keys in &schedule.window {
        let fault = keys.get_ref().fault.get_ref();
        if !plan.faults.contains(fault) {
            plan.faults.push(fault.clone());
        }
    }
    names::check_ensemble_faults(&plan.faults, plan.cluster.hosts.len())?;
    Ok(plan)
}

/// One table of the file, and the plan that its windows are for.
struct WindowReader<'a> {
    text: &'a KeyText<'a>,
    keys: &'a WindowKeys,
    whole: &'a Spanned<WindowKeys>,
    plan: &'a Plan,
}

impl WindowReader<'_> {
    fn lacks(&self, why: &str) -> String {
        self.text.wrong(self.whole, "window", why)
    }

    /// The milliseconds that a key gives.
    fn ms(&self, key: &str, value: Option<&Spanned<String>>) -> Result<Option<u64>, String> {
        let read =
            |value: &Spanned<String>| values::moment(value.get_ref()).map_err(|why| self.text.wrong(value, key, &why));
        value.map(read).transpose()
    }

    /// Refuses a key that says nothing beside others.
    fn unless_given<T>(&self, key: &str, value: Option<&Spanned<T>>, why: &str) -> Result<(), String> {
        match value {
            Some(value) => Err(self.text.wrong(value, key, why)),
            None => Ok(()),
        }
    }

    fn windows(&self) -> Result<Vec<Window>, String> {
        let fault = self.fault()?;
        let duration_ms = self.duration(fault)?;
        let victim = self.victim(fault)?;
        let first = Window {
            id: 0,
            fault: fault.kind.name.to_string(),
            payload: self.payload(fault)?,
            trigger: self.trigger(&victim, duration_ms)?,
            target: victim.target,
            duration_ms,
            beside: true,
        };
        self.repeated(first)
    }

    fn fault(&self) -> Result<&'static Fault, String> {
        let name = self.keys.fault.get_ref();
        let kind = names::fault(name).map_err(|why| self.text.wrong(&self.keys.fault, "fault", &why))?;
        names::check_ensemble_faults(std::slice::from_ref(&kind), self.plan.cluster.hosts.len())
            .map_err(|why| self.text.wrong(&self.keys.fault, "fault", &why))?;
        faults::find(&kind).ok_or_else(|| self.lacks("it has no fault"))
    }

    fn duration(&self, fault: &Fault) -> Result<u64, String> {
        let given = self.ms("for", self.keys.lasts.as_ref())?;
        let topology = faults::Topology::new(&self.plan.workload, &self.plan.cluster);
        let is_over_at_once = (fault.longest_ms)(&topology) == 0;
        match given {
            None if is_over_at_once => Ok(0),
            None => Err(self.lacks(&format!(
                "a `{}` lasts: give `for`, such as for = \"3s\"",
                fault.kind.name
            ))),
            Some(ms) => Ok(ms),
        }
    }

    fn payload(&self, fault: &Fault) -> Result<Option<Payload>, String> {
        let WindowKeys {
            cut,
            wire,
            latency,
            to,
            lag,
            ..
        } = self.keys;
        let given = [
            (
                "cut",
                cut.as_ref().map(|cut| (cut.span(), Payload::Cut(*cut.get_ref()))),
            ),
            (
                "wire",
                wire.as_ref().map(|wire| (wire.span(), Payload::Wire(*wire.get_ref()))),
            ),
            (
                "latency",
                latency
                    .as_ref()
                    .map(|latency| (latency.span(), Payload::Latency(*latency.get_ref()))),
            ),
            (
                "to",
                to.as_ref().map(|to| (to.span(), Payload::To(to.get_ref().clone()))),
            ),
            (
                "lag",
                lag.as_ref().map(|lag| (lag.span(), Payload::Lag(*lag.get_ref()))),
            ),
        ];
        let name = fault.kind.name;
        let mut own = None;
        for (key, given) in given {
            let Some((span, payload)) = given else { continue };
            if fault.kind.payload != Some(key) {
                let why = match fault.kind.payload {
                    Some(payload) => format!("a `{name}` has a `{payload}` instead"),
                    None => format!("a `{name}` strikes in one way only: leave `{key}` out"),
                };
                return Err(self.text.wrong_at(span.start, key, &why));
            }
            own = Some((span.start, key, payload));
        }
        let payload = own.as_ref().map(|(_, _, payload)| payload.clone());
        (fault.payload)(payload).map_err(|why| {
            let why = format!("a `{name}` {why}");
            match own {
                Some((at, key, _)) => self.text.wrong_at(at, key, &why),
                None => self.lacks(&why),
            }
        })
    }

    fn victim(&self, fault: &Fault) -> Result<PlannedVictim, String> {
        let plain = |target| PlannedVictim { target, state: None };
        let victim = match &self.keys.victim {
            Some(given) => self.named_victim(given)?,
            None => match fault.victims {
                Victims::Follower => plain(Target::Follower),
                Victims::Majority => {
                    let mut voters = self.plan.cluster.voters();
                    voters.truncate(voters.len() / 2 + 1);
                    plain(Target::Servers(voters))
                }
                Victims::Nodes | Victims::Client if self.keys.when.is_some() && self.keys.client.is_none() => {
                    plain(Target::Client)
                }
                victims => {
                    let why = format!("a `{}` strikes {}: give its `victim`", fault.kind.name, victims.words());
                    return Err(self.lacks(&why));
                }
            },
        };
        match (
            fault.victims.include(&victim.target, &self.plan.cluster),
            &self.keys.victim,
        ) {
            (false, Some(given)) => {
                let why = format!("a `{}` strikes {}", fault.kind.name, fault.victims.words());
                Err(self.text.wrong(given, "victim", &why))
            }
            _ => Ok(victim),
        }
    }

    fn named_victim(&self, given: &Spanned<VictimText>) -> Result<PlannedVictim, String> {
        let plain = |target| Ok(PlannedVictim { target, state: None });
        let by_state = |state| {
            Ok(PlannedVictim {
                target: Target::Client,
                state: Some(state),
            })
        };
        let name = match given.get_ref() {
            VictimText::Several(names) => {
                let servers = names
                    .iter()
                    .map(|name| self.node(given, name))
                    .collect::<Result<_, _>>()?;
                return plain(Target::Servers(servers));
            }
            VictimText::One(name) => name.as_str(),
        };
        match name {
            "client" => plain(Target::Client),
            "holder" => by_state(ClientState::Holding),
            "waiter" => by_state(ClientState::Waiting),
            "leader" => plain(Target::Leader),
            "follower" => plain(Target::Follower),
            "holder-server" => plain(Target::HolderServer),
            host if self.plan.cluster.nodes_on(&Host::from(host)).is_some() => plain(Target::Host(Host::from(host))),
            name => plain(Target::Node(self.node(given, name)?)),
        }
    }

    /// A server or client of the plan.
    fn node<T>(&self, at: &Spanned<T>, name: &str) -> Result<Node, String> {
        let cluster = &self.plan.cluster;
        let mut nodes = cluster.ensemble();
        nodes.extend(cluster.client_nodes());
        let node = Node::from(name);
        if nodes.contains(&node) {
            return Ok(node);
        }
        let hosts = (1..=cluster.hosts.len()).map(|number| Host::new(number).to_string());
        let all = nodes.iter().map(ToString::to_string).chain(hosts);
        let all: Vec<String> = all.chain(ROLES.map(String::from)).collect();
        Err(self.text.wrong(at, "victim", &names::unknown("victim", name, &all)))
    }

    fn trigger(&self, victim: &PlannedVictim, duration_ms: u64) -> Result<Trigger, String> {
        let WindowKeys {
            at,
            when,
            client,
            nth,
            after,
            after_operations,
            every,
            ..
        } = self.keys;
        let by_ms = self.plan.time_ms.saturating_sub(duration_ms);
        if let Some(operations) = after_operations {
            let why = "`after_operations` says when it begins: leave the one or the other out";
            self.unless_given("at", at.as_ref(), why)?;
            self.unless_given("when", when.as_ref(), why)?;
            self.unless_given("every", every.as_ref(), why)?;
            self.no_state_keys("`after_operations` is of all clients together: leave it out")?;
            if victim.target == Target::Client {
                let why = "nobody's state is waited for here: name a client such as c2, or give `at` or `when`";
                return Err(self.text.wrong(operations, "after_operations", why));
            }
            return Ok(Trigger::Count {
                operations: *operations.get_ref(),
                by_ms,
            });
        }
        let from_ms = self.ms("at", at.as_ref())?;
        let after_ms = self.ms("after", after.as_ref())?.unwrap_or(0);
        let Some(state) = self.state(victim)? else {
            if victim.target == Target::Client {
                let why = format!(
                    "it strikes a client in a state: give `when`, such as {}",
                    self.example()
                );
                return Err(self.lacks(&why));
            }
            self.no_state_keys("it is about a client's state: give `when` too")?;
            let at_ms = from_ms.ok_or_else(|| self.lacks("give when it begins: `at`, `when` or `after_operations`"))?;
            return Ok(Trigger::At { at_ms });
        };
        let client = match (client, &victim.target) {
            (Some(client), _) => Some(self.node(client, client.get_ref())?),
            (None, Target::Node(node)) if node.is_client() => Some(node.clone()),
            (None, _) => None,
        };
        let Some(nth) = nth else {
            return Ok(Trigger::State {
                state,
                client,
                from_ms: from_ms.unwrap_or(0),
                after_ms,
            });
        };
        let (ClientState::Asked(f), Some(client)) = (state, client) else {
            let why = "it counts one client's operations: give when = { asked = … }, and name the client as `victim` or \
                       `client`";
            return Err(self.text.wrong(nth, "nth", why));
        };
        let why = "`nth` says which operation it is: leave the one or the other out";
        self.unless_given("at", at.as_ref(), why)?;
        self.unless_given("every", every.as_ref(), why)?;
        Ok(Trigger::Op {
            client,
            f,
            nth: *nth.get_ref(),
            work_ms: 0,
            after_ms,
            by_ms,
        })
    }

    fn no_state_keys(&self, why: &str) -> Result<(), String> {
        self.unless_given("client", self.keys.client.as_ref(), why)?;
        self.unless_given("nth", self.keys.nth.as_ref(), why)?;
        self.unless_given("after", self.keys.after.as_ref(), why)
    }

    fn family(&self) -> Option<&'static Family> {
        operation::family(&self.plan.workload.family)
    }

    /// The state that is waited for, if one is.
    fn state(&self, victim: &PlannedVictim) -> Result<Option<ClientState>, String> {
        let (when, role) = match (&self.keys.when, &victim.state) {
            (Some(when), Some(role)) => {
                let role = if *role == ClientState::Holding {
                    "holder"
                } else {
                    "waiter"
                };
                let why = format!("a `{role}` is in a state by itself: leave `when` out, or give victim = \"client\"");
                return Err(self.text.wrong(when, "when", &why));
            }
            (when, role) => (when, role),
        };
        let ops: Vec<String> = self
            .family()
            .map_or(&[][..], |family| family.ops)
            .iter()
            .map(|op| op.f.to_string())
            .collect();
        let family = &self.plan.workload.family;
        let why = match when.as_ref().map(Spanned::get_ref).or(role.as_ref()) {
            None => return Ok(None),
            Some(ClientState::Asked(f) | ClientState::Answered(f)) if !ops.contains(f) => {
                names::unknown(&format!("operation of a {family}"), f, &ops)
            }
            Some(ClientState::Asked(_) | ClientState::Answered(_)) => {
                return Ok(when.as_ref().map(|at| at.get_ref().clone()));
            }
            Some(_) if !self.family().is_some_and(|family| family.grants) => format!(
                "a {family} grants nothing that could be held: give an operation, such as when = {}, of {}",
                self.example(),
                ops.join(", ")
            ),
            Some(state) => return Ok(Some(state.clone())),
        };
        Err(match (when, &self.keys.victim) {
            (Some(when), _) => self.text.wrong(when, "when", &why),
            (None, Some(victim)) => self.text.wrong(victim, "victim", &why),
            (None, None) => self.lacks(&why),
        })
    }

    /// A state in which a client of the family can be struck, as a file gives it.
    fn example(&self) -> String {
        let family = self.family().filter(|family| !family.grants);
        let first = family.and_then(|family| family.ops.first());
        first.map_or("\"working\"".into(), |op| format!("{{ asked = \"{}\" }}", op.f))
    }

    /// The window as often as it comes.
    fn repeated(&self, first: Window) -> Result<Vec<Window>, String> {
        let WindowKeys { every, times, .. } = self.keys;
        let time_ms = self.plan.time_ms;
        let beyond = |window: &Window| drawing::until_ms(window) > time_ms;
        if beyond(&first) {
            let (until, time) = (drawing::until_ms(&first), admission::seconds(time_ms));
            let why = format!(
                "it is over after {}, and the operations last {time}: give --time {} or longer",
                admission::seconds(until),
                values::whole_seconds(until)
            );
            return Err(self.lacks(&why));
        }
        let Some(at) = every else {
            self.unless_given(
                "times",
                times.as_ref(),
                "give how long after another it comes again: `every`",
            )?;
            return Ok(vec![first]);
        };
        let every_ms = values::moment(at.get_ref()).map_err(|why| self.text.wrong(at, "every", &why))?;
        if every_ms <= first.duration_ms {
            let why = "it comes again before it is over: give a longer time than `for`";
            return Err(self.text.wrong(at, "every", why));
        }
        let fitting = 1 + (time_ms - drawing::until_ms(&first)) / every_ms;
        let count = match times {
            Some(times) if *times.get_ref() == 0 => return Err(self.text.wrong(times, "times", "give 1 or more")),
            Some(times) if *times.get_ref() > fitting => {
                let why = format!(
                    "{fitting} fit into {}: give {fitting} or fewer, or a longer --time",
                    admission::seconds(time_ms)
                );
                return Err(self.text.wrong(times, "times", &why));
            }
            Some(times) => *times.get_ref(),
            None => fitting,
        };
        if count > MOST {
            return Err(self
                .text
                .wrong(at, "every", &format!("it comes {count} times, and {MOST} are the most")));
        }
        let nth = |number: u64| {
            let mut window = first.clone();
            if let Trigger::At { at_ms: from_ms } | Trigger::State { from_ms, .. } = &mut window.trigger {
                *from_ms += number * every_ms;
            }
            window
        };
        Ok((0..count).map(nth).collect())
    }
}

#[cfg(test)]
mod tests;
