//! Values of events as the search has them, and back: what the texts of JSON stand for is resolved.

use zooquake_history::{
    Value,
    edn::{Edn, from_json, to_json},
};
use zooquake_linearizability::Value as Searched;

/// A value of an event for the search.
pub fn searched(value: &Value) -> Searched {
    match value {
        Value::Null => Searched::Nil,
        Value::Array(values) => values.iter().map(searched).collect(),
        other => from_edn(from_json(other)),
    }
}

/// The value of an event that was made a value for the search.
pub fn recorded(value: &Searched) -> Value {
    match value {
        Searched::Nil => Value::Null,
        Searched::Vector(values) => values.iter().map(recorded).collect(),
        other => to_json(&to_edn(other)),
    }
}

/// A value of the search as EDN has it.
pub fn to_edn(value: &Searched) -> Edn {
    let all = |values: &[Searched]| values.iter().map(to_edn).collect();
    match value {
        Searched::Nil => Edn::Nil,
        Searched::Bool(value) => Edn::Bool(*value),
        Searched::Integer(number) => Edn::Int(*number),
        Searched::Float(number) => Edn::Float(*number),
        Searched::Number(number) => Edn::Number(number.to_string()),
        Searched::Text(text) => Edn::Str(text.to_string()),
        Searched::Keyword(name) => Edn::Keyword(name.to_string()),
        Searched::Symbol(name) => Edn::Symbol(name.to_string()),
        Searched::Char(name) => Edn::Char(name.to_string()),
        Searched::Vector(values) => Edn::Vector(all(values)),
        Searched::List(values) => Edn::List(all(values)),
        Searched::Set(values) => Edn::Set(all(values)),
        Searched::Map(entries) => Edn::Map(
            entries
                .iter()
                .map(|(key, value)| (to_edn(key), to_edn(value)))
                .collect(),
        ),
        Searched::Tagged(tagged) => Edn::Tagged(tagged.0.to_string(), Box::new(to_edn(&tagged.1))),
    }
}

fn from_edn(value: Edn) -> Searched {
    let all = |values: Vec<Edn>| values.into_iter().map(from_edn).collect();
    match value {
        Edn::Nil => Searched::Nil,
        Edn::Bool(value) => Searched::Bool(value),
        Edn::Int(number) => Searched::Integer(number),
        Edn::Float(number) => Searched::Float(number),
        Edn::Number(number) => Searched::Number(number.into()),
        Edn::Str(text) => Searched::Text(text.into()),
        Edn::Keyword(name) => Searched::Keyword(name.into()),
        Edn::Symbol(name) => Searched::Symbol(name.into()),
        Edn::Char(name) => Searched::Char(name.into()),
        Edn::Vector(values) => Searched::Vector(all(values)),
        Edn::List(values) => Searched::List(all(values)),
        Edn::Set(values) => Searched::Set(all(values)),
        Edn::Map(entries) => {
            let entry = |(key, value)| (from_edn(key), from_edn(value));
            Searched::Map(entries.into_iter().map(entry).collect())
        }
        Edn::Tagged(tag, value) => Searched::Tagged(Box::new((tag.into(), from_edn(*value)))),
    }
}

#[cfg(test)]
mod tests {
    use super::searched;
    use zooquake_history::edn::{parse, to_json};
    use zooquake_linearizability::equality::canonical;

    fn same(a: &str, b: &str) -> bool {
        let text = |edn: &str| canonical(&searched(&to_json(&parse(edn).expect("it is EDN")))).expect("it is readable");
        text(a) == text(b)
    }

    #[test]
    fn equal_values_are_equal_however_they_are_written() {
        for (a, b) in [
            ("#{1 2}", "#{2 1}"),
            ("[1 2]", "(1 2)"),
            ("1", "1N"),
            ("1", "1.0"),
            ("-100", "-1e2"),
            ("1.50M", "1.5"),
            ("18446744073709551616", "18446744073709551616N"),
            ("0", "-0.0"),
            ("{:a 1 :b #{(1) 2}}", "{:b #{2 [1N]} :a 1.0}"),
            ("[[:a (1)]]", "([:a [1]])"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn values_that_differ_do_not_become_equal() {
        for (a, b) in [
            ("#{1 2}", "[1 2]"),
            ("[1 2]", "[2 1]"),
            ("1", "\"1\""),
            ("1", "10"),
            ("1.5", "15"),
            ("1", "-1"),
            ("1", "1/2"),
            (":a", "\"a\""),
            ("nil", "false"),
            ("18446744073709551616", "18446744073709551617"),
            ("{:a 1}", "{:a 2}"),
            ("#t 1", "#u 1"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn an_object_equals_nothing_that_can_be_told() {
        assert!(
            canonical(&searched(&to_json(
                &parse("[1 #object[Foo 0x1b \"Foo\"]]").expect("it is EDN")
            )))
            .is_none()
        );
    }
}
