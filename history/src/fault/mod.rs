//! The kinds of fault: name, words, colours and hatch of each, and how its windows strike; one line in each registry,
//! [`KINDS`] and [`Payload`]. `src/faults/` carries them out.

mod host;
mod lag;
mod messages;
mod node;
mod wire;

pub use host::{HOST_KILL, HOST_PARTITION, HOST_PAUSE};
pub use lag::{LAG, Lag};
pub use messages::{DUPLICATE, LOSS, Share};
pub use node::{Cut, KILL, PARTITION, PAUSE, WIPE};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
pub use wire::{
    DISCONNECT, DROP_REPLY, EXPIRE, HELD, HOLD_REPLY, LATENCY, LOST, Latency, MOVE, NthRequest, OP, OUTCOME, PIN, Pin,
    STALL, Wire, WireOp,
};

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

#[derive(Debug, PartialEq, Eq)]
pub struct FaultKind {
    /// Its name in plans, in histories and on the command line.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The verb of a window's beginning in reports: `begins`, or `is armed`.
    pub begins: &'static str,
    /// Whether it strikes at the proxy between a client and the ensemble, so that runs with such windows have proxies.
    pub proxied: bool,
    /// Whether it strikes at the proxies between the servers, so that runs with such windows have those.
    pub between_servers: bool,
    /// The field of its windows that defines how it strikes, which is a [`Payload`]; `None` if it strikes in one way
    /// only.
    pub payload: Option<&'static str>,
    /// Whether a window of it is armed first and strikes later: what it struck was under way when it was on, not only
    /// when it began.
    pub armed: bool,
    /// Whether it ends what the clients that it hits do: only what was under way when it began can have felt it.
    pub fatal: bool,
    /// Whether whom it hits does nothing meanwhile and goes on afterwards as if no time had passed.
    pub freezes: bool,
    /// Of a kind that strikes a whole machine, the kind that each of its servers and clients feels: what is accepted
    /// under that one is accepted under this one.
    pub per_node: Option<&'static FaultKind>,
    /// Its colour on white, of the palette of Okabe and Ito or of Tol's dark ones; a line of one pixel has enough
    /// contrast.
    pub colour: Rgb,
    /// Its colour on a dark page.
    pub dark: Rgb,
    /// What is drawn over the operations of a client that it hits.
    pub hatch: Hatch,
}

/// A tile that fills an area.
#[derive(Debug, PartialEq, Eq)]
pub struct Hatch {
    /// Its width and height.
    pub size: u8,
    /// By how many degrees it is turned.
    pub turned: i16,
    /// What is in it, as a path in SVG's notation.
    pub path: &'static str,
    /// Whether the path is a line rather than an area.
    pub line: bool,
}

/// All kinds, in the order in which they are shown.
pub const KINDS: &[FaultKind] = &[
    KILL,
    PAUSE,
    PARTITION,
    DROP_REPLY,
    HOLD_REPLY,
    DISCONNECT,
    EXPIRE,
    LATENCY,
    STALL,
    MOVE,
    PIN,
    LAG,
    WIPE,
    HOST_KILL,
    HOST_PAUSE,
    HOST_PARTITION,
    LOSS,
    DUPLICATE,
];

/// How a window strikes, where its kind can strike in several ways. In a plan it is a field of its window, of the name
/// that its kind gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// Of a `partition`.
    Cut(Cut),
    /// Of a `drop-reply`, a `hold-reply` or a `disconnect`.
    Wire(Wire),
    Latency(Latency),
    /// Of a `pin`.
    To(Pin),
    Lag(Lag),
    /// Of a `loss` or a `duplicate`.
    Share(Share),
}

/// A kind that this version does not define.
pub const OTHER: FaultKind = FaultKind {
    name: "other",
    summary: "",
    begins: "begins",
    proxied: false,
    between_servers: false,
    payload: None,
    armed: false,
    fatal: false,
    freezes: false,
    per_node: None,
    colour: (128, 136, 144),
    dark: (128, 136, 144),
    hatch: PLAIN_HATCH,
};

/// Slanted bars.
const PLAIN_HATCH: Hatch = Hatch {
    size: 7,
    turned: -45,
    path: "M0 0H2V7H0z",
    line: false,
};

impl FaultKind {
    /// Whether each node that this kind hits feels a fault of the other kind: it is that kind, or hits whole machines
    /// by it.
    pub fn is_felt_as(&self, other: &str) -> bool {
        self.name == other || self.per_node.is_some_and(|kind| kind.name == other)
    }

    /// The kind of this name; [`OTHER`] if there is none.
    pub fn by_name(name: &str) -> &'static Self {
        KINDS.iter().find(|kind| kind.name == name).unwrap_or(&OTHER)
    }
}

/// Reads the payload among the fields of a window; `None` if no kind has a field of such a name, or it is `null`.
///
/// # Errors
/// If it is of another type, which the error states with its name, or there are several.
pub(crate) fn payload_of<'de, D: Deserializer<'de>>(window: D) -> Result<Option<Payload>, D::Error> {
    let mut fields: Map<String, Value> = Map::deserialize(window)?;
    fields.retain(|name, value| !value.is_null() && KINDS.iter().any(|kind| kind.payload == Some(name)));
    if fields.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let names = names.join("` and `");
    let payload = Payload::deserialize(Value::Object(fields));
    payload
        .map(Some)
        .map_err(|error| D::Error::custom(format_args!("`{names}` of a window: {error}")))
}

#[cfg(test)]
mod tests;
