//! The domain model of the service: its values, and the rules for them. Nothing here depends on
//! HTTP or SQL.
//!
//! The largest part is the [`store_area`]: the animals, orders and categories of a store. Further
//! parts are the [`staff`], and what all areas need, such as API keys, rate limits, pages, error
//! codes and the clock.
//!
//! Types such as [`PetName`], [`PetId`], [`Limit`], [`KeyDigest`] and [`IdempotencyKey`] validate
//! in their constructors, so a value of such a type is always valid.

pub mod actor;
pub mod client;
pub mod clock;
pub mod context;
pub mod idempotency;
pub mod key;
pub mod named_enum;
pub mod network;
pub mod page;
pub mod pet;
pub mod problem;
pub mod rate_limit;
pub mod staff;
pub mod store_area;
pub mod text;

pub use actor::{Actor, NamedActor, StaffId};
pub use client::Client;
pub use clock::{Clock, SystemClock};
pub use context::WriteContext;
pub use idempotency::{IdempotencyKey, IdempotentRequest, RequestOwner, StoredResponse};
pub use key::{ApiKey, Deployment, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, Scope};
pub use network::{Network, Networks};
pub use page::{Limit, PageRequest};
pub use pet::{NewPet, Pet, PetId, PetName, PetRef, PetStatus};
pub use problem::Problem;
pub use rate_limit::RateLimit;
pub use staff::{Role, StaffName};
