//! The addresses of other servers: DNS lookups, and the addresses to which no messages may be sent.

mod forbidden;
mod resolver;
mod this_machine;

pub use self::{
    forbidden::{FORBIDDEN_RANGES, forbidden_reason},
    resolver::{Resolve, SharedResolver, SystemResolver},
    this_machine::is_this_machine,
};
