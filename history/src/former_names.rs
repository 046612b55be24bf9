//! Names that earlier versions wrote into plans, histories and results, and that were given on the command line. They
//! are read as what they are called today, and never written.

use crate::event::Event;
use crate::operation::nemesis;
use crate::plan::Workload;
use serde::{Deserialize, Deserializer};

/// Faults, each by its former and its present name.
const FAULTS: &[(&str, &str)] = &[("cut", "disconnect")];

/// Variants: the former family and name, the present family and name. Names of variants made from one begin with its
/// name.
const VARIANTS: &[[&str; 4]] = &[
    ["queue", "barrier", "barrier", "tutorial"],
    ["queue", "double-barrier", "barrier", "double"],
];

/// The present name of a kind of fault.
pub fn fault(name: &str) -> &str {
    let found = FAULTS.iter().find(|(former, _)| *former == name);
    found.map_or(name, |(_, present)| present)
}

/// The present family and name of a variant; `None` if they are not former ones.
pub fn variant(family: &str, name: &str) -> Option<(String, String)> {
    VARIANTS
        .iter()
        .find_map(|[former_family, former, present_family, present]| {
            let rest = name.strip_prefix(former).filter(|_| *former_family == family)?;
            Some(((*present_family).to_owned(), format!("{present}{rest}")))
        })
}

/// An event as it is recorded today: those of the nemesis have the name of their fault.
pub fn event(mut event: Event) -> Event {
    let present = fault(&event.f);
    if present != event.f && event.is_of("nemesis") && event.get(nemesis::WINDOW.any()).is_some() {
        event.f = present.into();
    }
    event
}

/// Reads the name of a kind of fault.
///
/// # Errors
/// It is no string.
pub fn fault_of<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|name| fault(&name).to_owned())
}

/// Reads names of kinds of fault.
///
/// # Errors
/// They are no strings.
pub(crate) fn faults_of<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    Ok(names.iter().map(|name| fault(name).to_owned()).collect())
}

/// Reads a workload.
///
/// # Errors
/// It is none.
pub(crate) fn workload_of<'de, D: Deserializer<'de>>(from: D) -> Result<Workload, D::Error> {
    let mut workload = Workload::deserialize(from)?;
    if let Some((family, name)) = variant(&workload.family, &workload.variant) {
        (workload.family, workload.variant) = (family, name);
    }
    Ok(workload)
}
