//! Names that users give, of variants and faults: what they stand for, and the nearest one if they stand for nothing.

use crate::faults::{self, Fault};
use crate::planning::case::Subject;
use crate::planning::{recipe, scenes};
use zooquake_history::FaultKind;
use zooquake_history::operation::consensus::FAMILY;
use zooquake_history::plan::Workload;
use zooquake_network::draft;
use zooquake_workloads::consensus::{planted as protocols, variants as consensus};
use zooquake_workloads::recipes;
use zooquake_workloads::recipes::planted;

/// The names of all built-in variants with clients, but those with planted bugs, in the order in which they are shown.
pub fn variants() -> Vec<String> {
    recipes::registry()
        .iter()
        .map(|variant| variant.workload().name())
        .collect()
}

/// All that is built in but planted bugs, in the order in which it is shown: recipes, scenes, consensus protocols.
pub fn all() -> impl Iterator<Item = NamedWorkload> {
    let recipes = recipes::registry().iter().map(Subject::Recipe);
    let scenes = scenes::VARIANTS.iter().map(Subject::Scenes);
    let protocols = consensus::VARIANTS.iter().map(Subject::Protocol);
    recipes
        .chain(scenes)
        .chain(protocols)
        .filter_map(NamedWorkload::built_in)
}

/// The workloads of [`all`].
pub fn workloads() -> Vec<Workload> {
    all().map(|named| named.workload).collect()
}

/// What a name of a variant stands for.
#[derive(Clone)]
pub struct NamedWorkload {
    pub workload: Workload,
    pub subject: Subject,
}

impl NamedWorkload {
    /// The workload of what is built in; `None` of a recipe of the user's own.
    fn built_in(subject: Subject) -> Option<Self> {
        let workload = match subject {
            Subject::Recipe(variant) => variant.workload(),
            Subject::Scenes(variant) => (variant.workload)(),
            Subject::Protocol(variant) => variant.workload(),
            Subject::OwnRecipe => return None,
        };
        Some(Self { workload, subject })
    }
}

/// Other names of consensus protocols.
const PROTOCOL_ALIASES: [(&str, &str); 2] = [("election/zen", "zen"), ("election/isr", "isr")];

/// The built-in variant of this name, such as `lock/fenced` or `planted/L12`; `None` if there is none.
pub fn subject(name: &str) -> Option<Subject> {
    let (family, variant) = name.split_once('/')?;
    if family == planted::FAMILY {
        let protocol = || Some(Subject::Protocol(&protocols::find(variant)?.variant));
        return planted::find(variant).map(Subject::Recipe).or_else(protocol);
    }
    if let Some(&(_, protocol)) = PROTOCOL_ALIASES.iter().find(|(alias, _)| *alias == name) {
        return consensus::variant(protocol).map(Subject::Protocol);
    }
    if family == FAMILY.name {
        return consensus::variant(variant).map(Subject::Protocol);
    }
    let scenes = || scenes::variant(family, variant).map(Subject::Scenes);
    recipes::variant(family, variant).map(Subject::Recipe).or_else(scenes)
}

/// The workload of a built-in variant, by its name as [`subject`] takes it; `None` if there is none.
pub fn built_in(name: &str) -> Option<Workload> {
    Some(NamedWorkload::built_in(subject(name)?)?.workload)
}

/// The workload of a name such as `lock/fenced`, or of the folder of a recipe.
///
/// # Errors
/// If there is none: a message for the user.
pub fn workload(name: &str) -> Result<Workload, String> {
    named(name).map(|named| named.workload)
}

/// The same, with what it is.
///
/// # Errors
/// As [`workload`].
pub fn named(name: &str) -> Result<NamedWorkload, String> {
    match subject(name).and_then(NamedWorkload::built_in) {
        Some(named) => Ok(named),
        None if recipe::is_path(name) => Ok(NamedWorkload {
            workload: recipe::read(name)?,
            subject: Subject::OwnRecipe,
        }),
        None => {
            let names: Vec<String> = match name.split_once('/') {
                Some((planted::FAMILY, _)) => planted_names(),
                _ => workloads().iter().map(Workload::name).collect(),
            };
            Err(unknown_variant(name, &names))
        }
    }
}

/// The names of all planted bugs, of recipes and of consensus protocols.
pub fn planted_names() -> Vec<String> {
    let recipes = planted::PLANTED.iter().map(|planted| planted.name());
    recipes
        .chain(protocols::PLANTED.iter().map(|planted| planted.name()))
        .collect()
}

/// The message about a variant that does not exist. Of a family it names the variants, and of a variant without its
/// family the whole names.
fn unknown_variant(name: &str, known: &[String]) -> String {
    let parts = || known.iter().filter_map(|whole| Some((whole, whole.split_once('/')?)));
    let family = name.trim_end_matches('/');
    let variants: Vec<&str> = parts()
        .filter(|(_, (other, _))| *other == family)
        .map(|(whole, _)| whole.as_str())
        .collect();
    if let Some(first) = variants.first() {
        let all = variants.join(", ");
        return format!("there is no variant `{name}`, which is a family; give one of {all}, such as `{first}`");
    }
    let bare: Vec<String> = parts()
        .filter(|(_, (_, variant))| *variant == name)
        .map(|(whole, _)| format!("`{whole}`"))
        .collect();
    let meant = match bare.is_empty() {
        true => nearest_variant(name, known),
        false => Some(bare.join(" or ")),
    };
    let meant = meant
        .map(|meant| format!("; did you mean {meant}?"))
        .unwrap_or_default();
    let families = known.chunk_by(|a, b| family_of(a) == family_of(b));
    let folded = textwrap::Options::new(100)
        .initial_indent("  ")
        .subsequent_indent("    ");
    let line = |variants: &[String]| format!("{}\n", textwrap::fill(&variants.join(", "), &folded));
    let lines: String = families.map(line).collect();
    format!(
        "there is no variant `{name}`{meant} There are:\n{lines}and the folder of a recipe of your own, such as ./my-lock"
    )
}

fn family_of(name: &str) -> &str {
    name.split_once('/').map_or(name, |(family, _)| family)
}

/// What families are called elsewhere.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("mutex", "lock"),
    ("leader", "election"),
    ("leader-election", "election"),
    ("latch", "election"),
    ("shared-lock", "rwlock"),
    ("transaction", "commit"),
    ("2pc", "commit"),
    ("group", "membership"),
    ("atomic-long", "counter"),
];

/// How alike names of variants are, from 0 to 1, of which one may have been meant by the other.
const ALIKE: f64 = 0.75;

/// The variant whose name, or the family whose name here or elsewhere, is like this one.
fn nearest_variant(name: &str, known: &[String]) -> Option<String> {
    let whole = nearest(name, known.iter().map(String::as_str)).map(|(near, variant)| (near, format!("`{variant}`")));
    let of_family = |family: &str| {
        let mut variants = known.iter().filter(|variant| family_of(variant) == family);
        variants
            .next()
            .map(|first| format!("the family `{family}`, such as `{first}`"))
    };
    let here = known
        .iter()
        .map(|variant| family_of(variant))
        .map(|family| (family, family));
    let families: Vec<(&str, &str)> = here.chain(OTHER_NAMES).collect();
    let family = nearest(family_of(name), families.iter().map(|(called, _)| *called));
    let family = family.and_then(|(near, called)| {
        let (_, family) = families.iter().find(|(other, _)| *other == called)?;
        Some((near, of_family(family)?))
    });
    let alike = |(near, _): &(f64, String)| *near >= ALIKE;
    let (whole, family) = (whole.filter(alike), family.filter(alike));
    let nearer = match name.contains('/') {
        true => whole.or(family),
        false => whole.into_iter().chain(family).max_by(|a, b| a.0.total_cmp(&b.0)),
    };
    nearer.map(|(_, meant)| meant)
}

/// The kind of fault of this name.
///
/// # Errors
/// If there is none: a message for the user.
pub fn fault(name: &str) -> Result<String, String> {
    match faults::find(name) {
        Some(fault) => Ok(fault.kind.name.to_string()),
        None if draft::FAULTS.contains(&name) => Ok(name.to_owned()),
        None => Err(unknown("fault", name, &faults::all_names())),
    }
}

/// The faults of ensembles among these kinds.
pub fn ensemble_faults(kinds: &[String]) -> Vec<&'static Fault> {
    kinds.iter().filter_map(|kind| faults::find(kind)).collect()
}

/// Refuses kinds of fault that only networks have, and those of whole hosts for a run that is not over several.
///
/// # Errors
/// Which one.
pub fn check_ensemble_faults(kinds: &[String], hosts: usize) -> Result<(), String> {
    let of_hosts = |kind: &&String| FaultKind::by_name(kind).per_node.is_some();
    if let Some(kind) = kinds.iter().find(of_hosts).filter(|_| hosts < 2) {
        return Err(format!(
            "`{kind}` strikes one of several hosts: give --hosts with two Docker engines of one Swarm or more, such as \
             --hosts unix:///run/a.sock,ssh://user@b"
        ));
    }
    match kinds.iter().find(|kind| faults::find(kind).is_none()) {
        Some(kind) => Err(format!(
            "`{kind}` is a fault of consensus protocols, which run on networks; an ensemble has {}",
            faults::names().join(", ")
        )),
        None => Ok(()),
    }
}

/// The kinds of fault in a list such as `kill,pause`; none for `none`.
///
/// # Errors
/// If one of them does not exist: a message for the user.
pub fn faults(list: &str) -> Result<Vec<String>, String> {
    let empty = |what: &str| Err(format!("{what}; give kinds of fault separated by commas, or `none`"));
    match list.trim() {
        "none" => Ok(Vec::new()),
        "" => empty("no kind of fault is named"),
        list if list.split(',').any(|name| name.trim().is_empty()) => {
            empty(&format!("a name is missing beside a comma in `{list}`"))
        }
        list if list.split(',').any(|name| name.trim() == "none") => Err(format!(
            "`none` stands alone, for a run without faults, and not in `{list}`: leave it out, or give nothing else"
        )),
        list => list.split(',').map(|name| fault(name.trim())).collect(),
    }
}

/// The message about a name that does not exist: the nearest one, and the list.
pub fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    let nearest = nearest
        .map(|(_, n)| format!("did you mean `{n}`? "))
        .unwrap_or_default();
    format!("there is no {what} `{name}`; {nearest}There are: {}", known.join(", "))
}

/// Which of these names is most like a name, and how much, from 0 to 1.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let near = known.map(|other| (strsim::jaro_winkler(name, other), other));
    near.max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest() {
        let known = ["lock/children", "lock/predecessor", "lock/fenced"].map(String::from);
        let text = unknown("variant", "lock/predecesor", &known);
        assert!(text.contains("did you mean `lock/predecessor`?"), "{text}");
        assert!(text.contains("lock/children, lock/predecessor, lock/fenced"), "{text}");
    }

    #[test]
    fn a_family_has_its_variants_named_and_a_bare_variant_its_families() {
        let family = workload("lock").unwrap_err();
        assert!(
            family.contains("is a family; give one of lock/children, ") && family.contains("such as `lock/children`")
        );
        assert!(!family.contains("rwlock"), "{family}");
        assert_eq!(workload("lock/").unwrap_err(), family.replace("`lock`", "`lock/`"));
        let bare = workload("fenced").unwrap_err();
        assert!(
            bare.contains("did you mean `lock/fenced` or `rwlock/fenced`?"),
            "{bare}"
        );
        assert!(bare.contains("queue/fifo"), "{bare}");
        for (name, meant) in [
            ("mutex", "the family `lock`, such as `lock/children`?"),
            ("mutx", "the family `lock`, such as `lock/children`?"),
            ("leader", "the family `election`, such as `election/ticket`?"),
            ("queu", "the family `queue`, such as `queue/fifo`?"),
            ("lock/protekted", "`lock/protected`?"),
        ] {
            let why = workload(name).unwrap_err();
            assert!(why.contains(&format!("did you mean {meant}")), "{why}");
        }
        let far = workload("zzz").unwrap_err();
        assert!(
            !far.contains("did you mean") && far.lines().all(|line| line.len() <= 100),
            "{far}"
        );
    }

    #[test]
    fn planted_bugs_have_names_and_are_listed_only_among_themselves() {
        for planted in planted::PLANTED {
            let (family, _) = planted.twin;
            let workload = workload(&planted.name()).unwrap();
            assert_eq!(workload.family, family);
            assert_eq!(built_in(&workload.name()), Some(workload), "the name in plans");
        }
        assert!(variants().iter().all(|name| !name.contains("planted")));
        let why = workload("planted/L99").unwrap_err();
        assert!(why.contains("planted/L12") && !why.contains("lock/fenced"), "{why}");
        assert!(!workload("lock/L12").unwrap_err().contains("planted"));
    }

    #[test]
    fn a_list_of_faults_may_be_none() {
        assert_eq!(faults("none"), Ok(vec![]));
        assert_eq!(faults("kill, pause"), Ok(vec!["kill".to_string(), "pause".to_string()]));
        for (list, said) in [
            ("", "no kind"),
            (" ", "no kind"),
            ("pause,", "comma in `pause,`"),
            (",", "comma"),
        ] {
            let why = faults(list).unwrap_err();
            assert!(why.contains(said) && !why.contains("did you mean"), "{list:?}: {why}");
        }
        for list in ["kill,none", "none,kill", "none, none"] {
            let why = faults(list).unwrap_err();
            assert!(
                why.contains("`none` stands alone") && why.contains(list),
                "{list:?}: {why}"
            );
        }
        assert!(faults("kill,pauze").unwrap_err().contains("did you mean `pause`?"));
    }
}
