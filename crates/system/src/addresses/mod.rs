//! The addresses of other servers: which addresses a name has, and which of them a message may be sent to.

mod judgement;
mod resolver;

pub use self::resolver::Lookups;
pub use self::{
    judgement::{FORBIDDEN, judge},
    resolver::{Resolve, SystemResolver},
};
