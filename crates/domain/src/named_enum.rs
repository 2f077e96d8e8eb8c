//! Enums whose variants have names in the interface and the database.

use std::{fmt, str::FromStr};

/// Declares an enum, with the name of each variant in the interface and the database. The macro
/// derives `ALL`, `as_str`, `Display` and `FromStr` from the names.
///
/// ```
/// use petstore_domain::named_enum::named_enum;
///
/// named_enum! {
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
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $name {
            /// All variants.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Returns the name in the interface and the database.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
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
            type Err = $crate::named_enum::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let unknown = $crate::named_enum::UnknownName(&[$($text),+]);
                Self::ALL.into_iter().find(|value| value.as_str() == text).ok_or(unknown)
            }
        }
    };
}
pub use named_enum;

/// A name in the database: the name of a variant of `T`, or a name that only a later release knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaybeKnown<T> {
    /// A variant that this release knows.
    Known(T),
    /// An unknown name, which this release passes on unchanged.
    Other(Box<str>),
}

impl<T: Copy + AsRef<str> + FromStr> MaybeKnown<T> {
    /// Parses a name. Any name is accepted.
    pub fn from_name(name: &str) -> Self {
        match name.parse() {
            Ok(value) => Self::Known(value),
            Err(_) => Self::Other(name.into()),
        }
    }

    /// Returns the variant, if this release knows it.
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

impl<T> From<T> for MaybeKnown<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: PartialEq> PartialEq<T> for MaybeKnown<T> {
    /// Whether the name is known, and belongs to this variant.
    fn eq(&self, value: &T) -> bool {
        matches!(self, Self::Known(own_value) if own_value == value)
    }
}

/// The error for a text that is not one of the names. Contains the valid names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName(pub &'static [&'static str]);

impl std::error::Error for UnknownName {}

impl UnknownName {
    /// Returns the valid names as part of a sentence, such as `one of died and other`.
    pub fn expected_names(self) -> String {
        match self.0 {
            [others @ .., last] if !others.is_empty() => {
                format!("one of {} and {last}", others.join(", "))
            }
            // At most one name.
            names => names.concat(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}", self.expected_names())
    }
}
