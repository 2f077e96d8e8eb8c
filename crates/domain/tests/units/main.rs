//! What the public types and functions of this crate promise, each by itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod contract_text;
mod decide;
mod decide_orders;
mod decimal;
mod field_values;
mod idempotency;
mod journal;
mod key;
mod logo;
mod name_key;
mod network;
mod order;
mod page;
mod password;
mod pet;
mod phrase;
mod rate_limit;
mod reverts;
mod second_factor;
mod spellings;
mod staff;
mod time_zone;
