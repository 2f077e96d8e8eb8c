//! What the drivers of SQLite and PostgreSQL give to the traits of this crate: rows, values and errors. It is here, and not
//! in the crates of the two stores, because Rust allows a trait to be implemented only where the trait or the type is
//! declared.

pub mod postgres;
mod sqlite;
