//! What the public types and functions of this crate promise, each by itself.

mod files;
