//! The protected resource that lives in the orchestrator: a store reached over a network with delays.

use serde_json::Value;

/// Accepts writes in the order of their arrival; with fencing it refuses a token lower than the highest it has seen.
/// Reads carry no token, since readers that hold together arrive in any order of theirs.
///
/// Fencing as in Martin Kleppmann, "How to do distributed locking" (2016).
#[derive(Debug, Default)]
pub struct ExternalResource {
    highest: Option<i64>,
    value: Value,
}

impl ExternalResource {
    /// A write arrives; `token` is `None` for a variant that does not fence.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn write(&mut self, token: Option<i64>, value: Value) -> Result<(), String> {
        if let (Some(token), Some(highest)) = (token, self.highest)
            && token < highest
        {
            return Err(format!("refused: token {token} is lower than {highest}"));
        }
        self.highest = token.or(self.highest);
        self.value = value;
        Ok(())
    }

    /// A read arrives: the value accepted last; `null` before the first.
    pub fn read(&self) -> &Value {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::ExternalResource;
    use serde_json::Value;

    #[test]
    fn refuses_only_lower_tokens() {
        let mut resource = ExternalResource::default();
        let mut write = |token| resource.write(token, Value::Null);
        assert_eq!(write(Some(5)), Ok(()));
        assert_eq!(write(Some(5)), Ok(()));
        assert_eq!(write(Some(9)), Ok(()));
        assert_eq!(write(Some(5)), Err("refused: token 5 is lower than 9".to_string()));
        assert_eq!(write(None), Ok(()), "a variant without tokens is never refused");
    }

    #[test]
    fn reads_the_value_accepted_last() {
        let mut resource = ExternalResource::default();
        assert_eq!(resource.read(), &Value::Null);
        for (token, value) in [(5, 1), (9, 2), (5, 3)] {
            let accepted = resource.write(Some(token), value.into());
            assert_eq!(accepted.is_ok(), value < 3);
        }
        assert_eq!(resource.read(), &Value::from(2));
    }
}
