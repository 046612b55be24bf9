//! Schemas of types that are read and written by hand.

/// Gives a type the schema of another one, as which it is written.
macro_rules! schema_like {
    ($type:ident, $like:ty) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$like>::json_schema(generator)
            }
        }
    };
}

pub(crate) use schema_like;
