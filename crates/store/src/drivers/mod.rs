//! The rows, values and errors of the drivers of SQLite and PostgreSQL, as the traits of this crate need them. This is here, and not
//! in the crates of the two stores, because Rust allows a trait to be implemented only where the trait or the type is
//! declared.

pub mod postgres;
mod sqlite;
