//! Recognises the URLs of servers on this machine.

use url::{Host, Url};

/// Whether the host of a URL is this machine: `localhost`, or a loopback address.
///
/// A name is not looked up. The names below `localhost` are not recognised, because systems treat
/// them differently.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
