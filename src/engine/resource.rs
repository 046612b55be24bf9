//! The protected resource that lives in the orchestrator: a store reached over a network with delays.

/// Accepts writes in the order of their arrival; with fencing it refuses a token lower than the highest it has seen.
///
/// Fencing as in Martin Kleppmann, "How to do distributed locking" (2016).
#[derive(Debug, Default)]
pub struct ExternalResource {
    highest: Option<i64>,
}

impl ExternalResource {
    /// A write arrives; `token` is `None` for a variant that does not fence.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn arrive(&mut self, token: Option<i64>) -> Result<(), String> {
        let Some(token) = token else { return Ok(()) };
        match self.highest {
            Some(highest) if token < highest => Err(format!("refused: token {token} is lower than {highest}")),
            _ => {
                self.highest = Some(token);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExternalResource;

    #[test]
    fn refuses_only_lower_tokens() {
        let mut resource = ExternalResource::default();
        assert_eq!(resource.arrive(Some(5)), Ok(()));
        assert_eq!(resource.arrive(Some(5)), Ok(()));
        assert_eq!(resource.arrive(Some(9)), Ok(()));
        assert_eq!(
            resource.arrive(Some(5)),
            Err("refused: token 5 is lower than 9".to_string())
        );
        assert_eq!(
            resource.arrive(None),
            Ok(()),
            "a variant without tokens is never refused"
        );
    }
}
