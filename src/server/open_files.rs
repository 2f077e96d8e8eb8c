//! The limit of open files. Each connection needs one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many files are reserved for other uses: 464 for deliveries to webhooks and their tests, the
/// others for the database, the listeners and the log.
const RESERVED: u64 = 464 + 256;

/// Raises the limit of open files as far as permitted, and returns how many connections it leaves
/// room for; `None` without a limit.
pub fn raise_limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    // If the system rejects this (macOS has an undocumented lower limit), the limit stays as it
    // was.
    let raised = Rlimit { current: limit.maximum, ..limit };
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.map(connections_under)
}

fn connections_under(limit: u64) -> usize {
    let connections = limit - RESERVED.min(limit / 2);
    usize::try_from(connections).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_are_reserved_for_other_uses_than_connections() {
        assert_eq!(connections_under(4096), 3376);
        assert_eq!(connections_under(100), 50);
        assert_eq!(connections_under(1), 1);
    }
}
