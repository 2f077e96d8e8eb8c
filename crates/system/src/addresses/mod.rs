//! The addresses of other servers: the addresses of a name, and the reasons why no message may be sent to some.

mod judgement;
mod resolver;

pub use self::{
    judgement::{FORBIDDEN_RANGES, judge},
    resolver::{Lookups, Resolve, SystemResolver},
};
