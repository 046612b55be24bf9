//! From text to values.

use super::Edn;
use super::numeral::number;
use crate::event::Damage;

/// How deep values may nest: deeper than what comes from JSON, whose reader stops at 128, and far less than a stack
/// bears.
const DEPTH: usize = 160;

/// Reads a text that is one value, with blanks and comments around it.
///
/// # Errors
///
/// The place where it is not.
pub fn parse(text: &str) -> Result<Edn, Damage> {
    let mut reader = EdnReader::new(text);
    let value = reader.value()?;
    match reader.peek()? {
        None => Ok(value),
        Some(found) => Err(reader.damage(format!("expected the end, found {found:?}"))),
    }
}

/// Reads one value after another from a text.
#[derive(Debug)]
pub struct EdnReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> EdnReader<'a> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next character that is neither blank nor in a comment nor discarded by `#_`; `None` at the end. It is not
    /// read.
    ///
    /// # Errors
    ///
    /// What is discarded is no value.
    pub fn peek(&mut self) -> Result<Option<char>, Damage> {
        self.skip(0)?;
        Ok(self.rest().chars().next())
    }

    /// Reads a character if it is the next one that [`Self::peek`] returns.
    ///
    /// # Errors
    ///
    /// What is discarded is no value.
    pub fn take(&mut self, wanted: char) -> Result<bool, Damage> {
        let found = self.peek()? == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        Ok(found)
    }

    /// Reads metadata, as often as it is the next thing: it belongs to the value behind it, and is dropped.
    ///
    /// # Errors
    ///
    /// What follows `^` is no metadata.
    pub fn metadata(&mut self) -> Result<(), Damage> {
        loop {
            self.skip(0)?;
            match META.iter().find(|sign| self.rest().starts_with(**sign)) {
                Some(sign) => self.meta(sign, 0)?,
                None => return Ok(()),
            }
        }
    }

    /// Reads a value; metadata before it is dropped.
    ///
    /// # Errors
    ///
    /// There is none, or it is none.
    pub fn value(&mut self) -> Result<Edn, Damage> {
        self.nested(0)
    }

    /// Damage where the reader stands.
    pub fn damage(&self, what: impl Into<String>) -> Damage {
        let before = &self.text[..self.at];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        Damage {
            line: before.matches('\n').count() + 1,
            column: before[line..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// Goes back to a place, so that [`Self::damage`] names that place.
    pub fn rewind(&mut self, place: usize) {
        self.at = place;
    }

    /// Where it stands.
    pub fn place(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, depth: usize) -> Result<(), Damage> {
        loop {
            let rest = self.rest();
            let blank = |c: char| c.is_whitespace() || c == ',';
            let solid = rest.trim_start_matches(blank);
            self.at += rest.len() - solid.len();
            if solid.starts_with(';') {
                self.at += solid.find('\n').unwrap_or(solid.len());
            } else if solid.starts_with("#_") {
                self.at += 2;
                self.nested(depth + 1)?;
            } else {
                return Ok(());
            }
        }
    }

    fn nested(&mut self, depth: usize) -> Result<Edn, Damage> {
        if depth > DEPTH {
            return Err(self.damage(format!("values nest deeper than {DEPTH}")));
        }
        self.skip(depth)?;
        let Some(first) = self.rest().chars().next() else {
            return Err(self.damage("expected a value, found the end"));
        };
        match first {
            '(' => self.sequence(1, ')', depth).map(Edn::List),
            '[' => self.sequence(1, ']', depth).map(Edn::Vector),
            '{' => self.map(depth),
            '"' => self.string().map(Edn::Str),
            '^' => {
                self.meta(META[0], depth)?;
                self.nested(depth + 1)
            }
            '#' => self.dispatch(depth),
            '\\' => self.character(),
            ')' | ']' | '}' => Err(self.damage(format!("expected a value, found {first:?}"))),
            _ => self.atom(),
        }
    }

    /// Values up to `end`, after the `skip` characters that open them.
    fn sequence(&mut self, skip: usize, end: char, depth: usize) -> Result<Vec<Edn>, Damage> {
        let open = self.at;
        self.at += skip;
        let mut values = Vec::new();
        loop {
            self.skip(depth)?;
            match self.rest().chars().next() {
                Some(found) if found == end => {
                    self.at += 1;
                    return Ok(values);
                }
                Some(_) => values.push(self.nested(depth + 1)?),
                None => {
                    self.at = open;
                    return Err(self.damage(format!("what begins here is not closed by {end:?}")));
                }
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Edn, Damage> {
        let open = self.at;
        let values = self.sequence(1, '}', depth)?;
        if values.len() % 2 == 1 {
            self.at = open;
            return Err(self.damage("the map has a key without a value"));
        }
        let mut entries = Vec::with_capacity(values.len() / 2);
        let mut values = values.into_iter();
        entries.extend(std::iter::from_fn(|| Some((values.next()?, values.next()?))));
        Ok(Edn::Map(entries))
    }

    fn dispatch(&mut self, depth: usize) -> Result<Edn, Damage> {
        let rest = self.rest();
        if rest.starts_with("#{") {
            return self.sequence(2, '}', depth).map(Edn::Set);
        }
        if rest.starts_with(META[1]) {
            self.meta(META[1], depth)?;
            return self.nested(depth + 1);
        }
        if let Some(name) = rest.strip_prefix("#:") {
            return self.namespaced(token(name), depth);
        }
        if let Some(name) = rest.strip_prefix("##") {
            let name = token(name);
            if !["Inf", "-Inf", "NaN"].contains(&name) {
                return Err(self.damage(format!("there is no number ##{name}")));
            }
            self.at += 2 + name.len();
            return Ok(Edn::Number(format!("##{name}")));
        }
        let tag = token(&rest[1..]);
        if !tag.starts_with(|c: char| c.is_alphabetic()) {
            return Err(self.damage("expected a tag, a set or a discarded value after '#'"));
        }
        self.at += 1 + tag.len();
        Ok(Edn::Tagged(tag.to_owned(), Box::new(self.nested(depth + 1)?)))
    }

    /// Reads `#:name{…}`: a map whose names without a namespace are of this one, and of none if they are written
    /// `_/name`.
    fn namespaced(&mut self, namespace: &str, depth: usize) -> Result<Edn, Damage> {
        if namespace.contains([':', '/']) || !namespace.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(self.damage(format!("{namespace:?} is not the namespace of a map's keys")));
        }
        let open = self.at;
        self.at += 2 + namespace.len();
        self.skip(depth)?;
        if !self.rest().starts_with('{') {
            self.at = open;
            return Err(self.damage("expected a map behind a namespace"));
        }
        let mut map = self.map(depth)?;
        if let Edn::Map(entries) = &mut map {
            for (key, _) in entries {
                if let Edn::Keyword(name) | Edn::Symbol(name) = key {
                    *name = qualified(namespace, name);
                }
            }
        }
        Ok(map)
    }

    /// Reads `sign` and the metadata behind it.
    fn meta(&mut self, sign: &str, depth: usize) -> Result<(), Damage> {
        let open = self.at;
        self.at += sign.len();
        match self.nested(depth + 1)? {
            Edn::Map(_) | Edn::Keyword(_) | Edn::Symbol(_) | Edn::Str(_) | Edn::Vector(_) => Ok(()),
            other => {
                self.at = open;
                Err(self.damage(format!("{other} is no metadata")))
            }
        }
    }

    fn string(&mut self) -> Result<String, Damage> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => {
                    let escaped = match chars.next().map(|(_, c)| c) {
                        Some('n') => Some('\n'),
                        Some('t') => Some('\t'),
                        Some('r') => Some('\r'),
                        Some('b') => Some('\u{8}'),
                        Some('f') => Some('\u{c}'),
                        Some(c @ ('"' | '\\')) => Some(c),
                        Some('u') => {
                            let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
                        }
                        _ => None,
                    };
                    let Some(escaped) = escaped else {
                        self.at += at;
                        return Err(self.damage("there is no such escape"));
                    };
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
        Err(self.damage("the string that begins here is not closed"))
    }

    fn character(&mut self) -> Result<Edn, Damage> {
        let rest = &self.rest()[1..];
        let Some(first) = rest.chars().next().filter(|c| !c.is_whitespace()) else {
            return Err(self.damage("expected a character after '\\'"));
        };
        // The first one may be a delimiter, which no token holds.
        let name = &rest[..first.len_utf8() + token(&rest[first.len_utf8()..]).len()];
        self.at += 1 + name.len();
        Ok(Edn::Char(name.to_owned()))
    }

    fn atom(&mut self) -> Result<Edn, Damage> {
        let token = token(self.rest());
        let value = match token {
            "nil" => Edn::Nil,
            "true" => Edn::Bool(true),
            "false" => Edn::Bool(false),
            _ => match token.strip_prefix(':') {
                Some("") => return Err(self.damage("expected a name after ':'")),
                Some(name) => Edn::Keyword(name.to_owned()),
                None if token
                    .trim_start_matches(['+', '-'])
                    .starts_with(|c: char| c.is_ascii_digit()) =>
                {
                    number(token).ok_or_else(|| self.damage(format!("{token:?} is not a number")))?
                }
                None if token.is_empty() || token.starts_with(['`', '~', '@', '\'']) => {
                    return Err(self.damage("expected a value"));
                }
                None => Edn::Symbol(token.to_owned()),
            },
        };
        self.at += token.len();
        Ok(value)
    }
}

/// What metadata begins with, today and in old versions of Clojure.
const META: [&str; 2] = ["^", "#^"];

/// The name of a key in a map of this namespace.
fn qualified(namespace: &str, name: &str) -> String {
    match name.split_once('/') {
        Some(("_", plain)) => plain.to_owned(),
        Some(_) if name.len() > 1 => name.to_owned(),
        _ => format!("{namespace}/{name}"),
    }
}

/// What stands before the next delimiter.
fn token(text: &str) -> &str {
    let delimiter = |c: char| c.is_whitespace() || ",;\"\\()[]{}".contains(c);
    &text[..text.find(delimiter).unwrap_or(text.len())]
}
