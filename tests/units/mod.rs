//! What the public types and functions of `src` promise, each by itself and without a server.

mod address;
mod addresses;
mod change_metrics;
mod client;
mod decide;
mod decimal;
mod endpoint_url;
mod exposition;
mod headers;
mod idempotency;
mod journal;
mod key;
mod name_key;
mod network;
mod order;
mod page;
mod pet;
mod rate_limit;
mod routes;
mod sampler;
mod second_factor;
mod signature;
mod spans;
mod staff;
mod tasks;
mod vault;
