//! The implementations of this crate's traits for the rows, values and errors of the database
//! drivers. They must be here and not in the crates of the two stores, because Rust allows an
//! implementation of a trait only in the crate of the trait or of the type.

pub mod postgres;
mod sqlite;
