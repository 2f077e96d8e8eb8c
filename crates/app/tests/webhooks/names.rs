//! Names that resolve as a test needs.

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use petstore_system::addresses::Resolve;

/// The names of 127.0.0.1: `hangs.example` has no end, and `panics.example` panics once.
#[derive(Default)]
pub(super) struct Names {
    has_panicked: AtomicBool,
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match name {
            "hangs.example" => std::future::pending().await,
            "panics.example" if !self.has_panicked.swap(true, Ordering::Relaxed) => {
                panic!("planted")
            }
            _ => Ok(vec![([127, 0, 0, 1], port).into()]),
        }
    }
}
