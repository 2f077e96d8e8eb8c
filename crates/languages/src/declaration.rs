//! The declaration of texts.

#![expect(missing_docs, reason = "a comment says what a name does not")]

/// Declares the texts of pages: one text, a text with arguments, or several texts. A macro, because each text is a member of
/// a struct and a method.
///
/// Example: `yes; years(count: i64) -> String;` becomes a struct with the members `yes: &'static str` and
/// `years: fn(i64) -> String`, and a method `years(&self, count: i64) -> String`.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident $(: [$($several:tt)+])? $(($($of:ident: $type:ty),*) -> $result:ty)?;)+) => {
        /// Every text, in one language.
        pub struct Texts {
            $($(#[$about])* pub $name: texts!(@type $([$($several)+])? $(($($type),*) -> $result)?),)+
        }

        impl Texts {
            $(texts!(@call $name $([$($several)+])? $(($($of: $type),*) -> $result)?);)+
        }
    };
    (@type) => { &'static str };
    (@type ($($type:ty),*) -> $result:ty) => { fn($($type),*) -> $result };
    (@type [$($several:tt)+]) => { [$($several)+] };
    (@call $name:ident $([$($several:tt)+])?) => {};
    (@call $name:ident ($($of:ident: $type:ty),*) -> $result:ty) => {
        pub fn $name(&self, $($of: $type),*) -> $result {
            (self.$name)($($of),*)
        }
    };
}
pub(super) use texts;

/// A unit of time.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    Minute,
    Hour,
    Day,
}
