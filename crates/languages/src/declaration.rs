//! The macro that declares the texts of pages.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

/// Declares a struct `Texts` with all texts of a kind of pages. A text is a string, a function that
/// inserts its arguments into a sentence, or an array. This is a macro, because a function is both a
/// field and a method.
///
/// Example: `yes; years(count: i64) -> String;` becomes a struct with the fields `yes: &'static str` and
/// `years: fn(i64) -> String`, and a method `years(&self, count: i64) -> String`.
macro_rules! texts {
    ($($(#[$attribute:meta])* $name:ident $(: [$($array:tt)+])? $(($($argument:ident: $type:ty),*) -> $result:ty)?;)+) => {
        /// All texts, in one language.
        pub struct Texts {
            $($(#[$attribute])* pub $name: texts!(@type $([$($array)+])? $(($($type),*) -> $result)?),)+
        }

        impl Texts {
            $(texts!(@call $name $([$($array)+])? $(($($argument: $type),*) -> $result)?);)+
        }
    };
    (@type) => { &'static str };
    (@type ($($type:ty),*) -> $result:ty) => { fn($($type),*) -> $result };
    (@type [$($array:tt)+]) => { [$($array)+] };
    (@call $name:ident $([$($array:tt)+])?) => {};
    (@call $name:ident ($($argument:ident: $type:ty),*) -> $result:ty) => {
        pub fn $name(&self, $($argument: $type),*) -> $result {
            (self.$name)($($argument),*)
        }
    };
}
pub(super) use texts;

/// A unit of time in texts such as `3 hours ago`.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    Minute,
    Hour,
    Day,
}
