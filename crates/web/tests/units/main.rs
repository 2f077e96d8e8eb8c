//! What the public types and functions of this crate promise, each by itself.

mod address_limit;
mod addresses;
