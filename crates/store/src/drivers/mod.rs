//! The implementations of this crate's traits for the rows, values and errors of the database
//! drivers. They cannot be in the crates of the two stores because of the orphan rule: a trait is
//! implemented in the crate of the trait or in the crate of the type.

pub mod postgres;
mod sqlite;
