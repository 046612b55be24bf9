//! The names of nodes and of machines.

use crate::schema::schema_like;
use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// A server (`n1`), a client (`c2`), or a node of a network by its role and number (`acceptor2`). A record from
/// elsewhere may name it by any other text, which is kept as it is. Nodes are ordered as their texts are: `c10` comes
/// before `c2`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Node(Name);

/// A machine of a run over several (`h1`), or what a record from elsewhere names so; ordered as its text is.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Host(Name);

/// The initial of servers.
const SERVER: u8 = b'n';

/// The initial of clients.
const CLIENT: u8 = b'c';

/// The initial of machines.
const HOST: u8 = b'h';

impl Node {
    /// The server of this number, from 1.
    pub const fn server(number: usize) -> Self {
        Self(Name::Numbered(SERVER, number))
    }

    /// The client of this number, from 1.
    pub const fn client(number: usize) -> Self {
        Self(Name::Numbered(CLIENT, number))
    }

    /// The node of a network that is the one of this number, from 1, among those that play this role.
    pub fn of_role(role: &str, number: usize) -> Self {
        Self::from(format!("{role}{number}").as_str())
    }

    /// Whether it is a server of ZooKeeper.
    pub fn is_server(&self) -> bool {
        matches!(self.0, Name::Numbered(SERVER, _))
    }

    /// Whether it is a client of ZooKeeper.
    pub fn is_client(&self) -> bool {
        matches!(self.0, Name::Numbered(CLIENT, _))
    }

    /// The role of a node of a network: its name without the digits at its end; `None` of a server or a client.
    pub fn role(&self) -> Option<&str> {
        match &self.0 {
            Name::Numbered(..) => None,
            Name::Other(text) => Some(text.trim_end_matches(|last: char| last.is_ascii_digit())),
        }
    }

    /// The number at the end of its name; `None` if there is none.
    pub fn number(&self) -> Option<usize> {
        match &self.0 {
            Name::Numbered(_, number) => Some(*number),
            Name::Other(text) => text[self.role()?.len()..].parse().ok(),
        }
    }

    /// The nodes of a list with commas, as the events of faults have it.
    pub fn list(text: &str) -> impl Iterator<Item = Self> {
        text.split(',').map(|name| Self::from(name.trim()))
    }
}

impl Host {
    /// The machine of this number, from 1.
    pub const fn new(number: usize) -> Self {
        Self(Name::Numbered(HOST, number))
    }

    /// Its number; `None` if it has another name than machines of runs have.
    pub fn number(&self) -> Option<usize> {
        match self.0 {
            Name::Numbered(HOST, number) => Some(number),
            _ => None,
        }
    }
}

/// The names of these, with a separator between them.
pub fn join(names: impl IntoIterator<Item: fmt::Display>, separator: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    names.join(separator)
}

/// A name, of which each text has one form.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    /// A letter from `a` to `z`, and a number without leading zeros.
    Numbered(u8, usize),
    /// Any other text.
    Other(Text),
}

/// The most digits of a number.
const DIGITS: usize = usize::MAX.ilog10() as usize + 1;

impl Name {
    /// Passes its text on, without a copy on the heap.
    fn with_text<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        let (initial, mut rest) = match self {
            Self::Numbered(initial, number) => (*initial, *number),
            Self::Other(text) => return take(text),
        };
        let mut spelled = [0; DIGITS + 1];
        let mut at = DIGITS;
        loop {
            spelled[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
            at -= 1;
        }
        spelled[at - 1] = initial;
        take(str::from_utf8(&spelled[at - 1..]).unwrap_or_default())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        let numbered = || {
            let (initial, digits) = text
                .as_bytes()
                .split_first()
                .filter(|(first, _)| first.is_ascii_lowercase())?;
            let plain = digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits.first() != Some(&b'0'));
            let number = text[1..].parse().ok().filter(|_| plain)?;
            Some(Self::Numbered(*initial, number))
        };
        numbered().unwrap_or_else(|| Self::Other(text.into()))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.with_text(|text| other.with_text(|other| text.cmp(other)))
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| to.serialize_str(text))
    }
}

schema_like!(Name, str);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Text::deserialize(from).map(|text| Self::from(text.as_str()))
    }
}

/// What the names of nodes and of machines have in common with texts.
macro_rules! named {
    ($($name:ident),*) => {
        $(
            impl From<&str> for $name {
                fn from(text: &str) -> Self {
                    Self(text.into())
                }
            }

            impl From<&$name> for Text {
                fn from(name: &$name) -> Self {
                    name.0.with_text(|text| text.into())
                }
            }

            impl PartialEq<str> for $name {
                fn eq(&self, other: &str) -> bool {
                    self.0.with_text(|text| text == other)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.with_text(|text| f.pad(text))
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.with_text(|text| fmt::Debug::fmt(text, f))
                }
            }
        )*
    };
}

named!(Node, Host);

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 16] = [
        "n1",
        "n10",
        "n2",
        "c1",
        "c10",
        "c2",
        "c02",
        "c0",
        "c",
        "",
        "acceptor2",
        "C1",
        "é1",
        "c-1",
        "c+1",
        "c18446744073709551616",
    ];

    #[test]
    fn each_text_is_kept_and_ordered_as_a_text() {
        for name in NAMES {
            let node = Node::from(name);
            assert_eq!(node.to_string(), name);
            assert_eq!(serde_json::to_value(&node).unwrap(), name);
            assert_eq!(serde_json::from_value::<Node>(name.into()).unwrap(), node);
            assert_eq!(Text::from(&node), name);
            assert!(node == *name);
            for other in NAMES.map(Node::from) {
                assert_eq!(node.cmp(&other), name.cmp(&other.to_string()), "{name} {other}");
                assert_eq!(node == other, other == *name);
            }
        }
        let last = Node::client(usize::MAX);
        assert_eq!(Node::from(last.to_string().as_str()), last);
    }

    #[test]
    fn what_a_node_is_stands_in_its_name() {
        assert_eq!(Node::from("n12"), Node::server(12));
        assert_eq!(Node::from("c3"), Node::client(3));
        assert_eq!(Node::from("acceptor2"), Node::of_role("acceptor", 2));
        assert_eq!((Host::from("h4"), Host::new(4).number()), (Host::new(4), Some(4)));
        assert_eq!(Host::from("n4").number(), None);
        for name in NAMES {
            let (node, plain) = (Node::from(name), matches!(name, "c1" | "c10" | "c2" | "c0"));
            assert_eq!(node.is_client(), plain, "{name}");
            assert_eq!(node.is_server(), matches!(name, "n1" | "n10" | "n2"), "{name}");
        }
        assert_eq!(Node::of_role("acceptor", 12).number(), Some(12));
        assert_eq!(Node::of_role("acceptor", 12).role(), Some("acceptor"));
        assert_eq!((Node::from("acceptor").number(), Node::client(3).role()), (None, None));
        let list: Vec<Node> = Node::list("n1, c2").collect();
        assert_eq!(list, [Node::server(1), Node::client(2)]);
        assert_eq!(join(&list, ","), "n1,c2");
    }
}
