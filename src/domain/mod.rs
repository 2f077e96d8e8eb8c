//! What the store is about, free of HTTP and SQL: animals, pages of them,
//! API keys, and the clock.
//!
//! What must be checked ([`PetName`], [`PetId`], [`Limit`], [`KeyDigest`], [`IdempotencyKey`]) is
//! checked once, when it is made; whoever holds one holds a valid one.

pub mod client;
pub mod clock;
pub mod idempotency;
pub mod key;
pub mod page;
pub mod pet;
pub mod rate_limit;

pub use client::{Client, TrustedProxies};
pub use clock::{Clock, SystemClock};
pub use idempotency::{IdempotencyKey, IdempotentRequest};
pub use key::{ApiKey, Deployment, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, Scope};
pub use page::{Limit, PageRequest};
pub use pet::{NewPet, Pet, PetId, PetName, PetRef, PetStatus};
pub use rate_limit::RateLimit;
