//! Enumerations whose values have names.

use std::{fmt, str::FromStr};

/// Declares an enumeration with the name of each value in the interface and the database. `ALL`,
/// `as_str`, `Display` and `FromStr` follow from the names.
///
/// ```
/// use petstore_domain::words::words;
///
/// words! {
///     /// The size of an animal.
///     pub enum Size {
///         Small = "small",
///         /// Higher than 50 cm.
///         Large = "large",
///     }
/// }
///
/// assert_eq!(Size::ALL, [Size::Small, Size::Large]);
/// assert_eq!(Size::Large.as_str(), "large");
/// assert_eq!("small".parse(), Ok(Size::Small));
/// assert_eq!("tiny".parse::<Size>().unwrap_err().to_string(), "not one of small and large");
/// ```
#[macro_export]
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

            /// Returns the name in the interface and the database.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let unknown = $crate::words::UnknownWord(&[$($word),+]);
                Self::ALL.into_iter().find(|value| value.as_str() == text).ok_or(unknown)
            }
        }
    };
}
pub use words;

/// A name in the database: the name of a value of `T`, or a name that only a later release has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word<T> {
    /// A value that this release knows.
    Known(T),
    /// A name that this release passes on.
    Other(Box<str>),
}

impl<T: Copy + AsRef<str> + FromStr> Word<T> {
    /// Returns the word with this name.
    pub fn from_name(name: &str) -> Self {
        match name.parse() {
            Ok(value) => Self::Known(value),
            Err(_) => Self::Other(name.into()),
        }
    }

    /// Returns the value, if this release knows it.
    pub fn value(&self) -> Option<T> {
        match self {
            Self::Known(value) => Some(*value),
            Self::Other(_) => None,
        }
    }

    /// Returns the name in the interface and the database.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(value) => value.as_ref(),
            Self::Other(name) => name,
        }
    }
}

impl<T> From<T> for Word<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: PartialEq> PartialEq<T> for Word<T> {
    fn eq(&self, value: &T) -> bool {
        matches!(self, Self::Known(own_value) if own_value == value)
    }
}

/// The error for a text that is not a name of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownWord(pub &'static [&'static str]);

impl std::error::Error for UnknownWord {}

impl UnknownWord {
    /// Returns the names as a part of a sentence, such as `one of died and other`.
    pub fn expected_names(self) -> String {
        match self.0 {
            [first @ .., last] if !first.is_empty() => {
                format!("one of {} and {last}", first.join(", "))
            }
            names => names.concat(),
        }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}", self.expected_names())
    }
}
