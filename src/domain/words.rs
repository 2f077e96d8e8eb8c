//! Enumerations whose values have names.

use std::fmt;

/// Declares an enumeration with the name of each value in the interface and the database. `ALL`,
/// `as_str`, `Display` and `FromStr` follow from the names.
macro_rules! words {
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $($(#[$about_value:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$about_value])* $value,)+
        }

        impl $name {
            /// Every value.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// Its name in the interface and the database.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let unknown = $crate::domain::words::UnknownWord(&[$($word),+]);
                Self::ALL.into_iter().find(|value| value.as_str() == text).ok_or(unknown)
            }
        }
    };
}
pub(crate) use words;

/// A text that is not one of these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord(pub(crate) &'static [&'static str]);

impl std::error::Error for UnknownWord {}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [first @ .., last] if !first.is_empty() => {
                write!(f, "not one of {} and {last}", first.join(", "))
            }
            names => write!(f, "not {}", names.concat()),
        }
    }
}
