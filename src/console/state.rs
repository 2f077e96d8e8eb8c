//! What all pages share.

use std::sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering::Relaxed};

use rand::rngs::StdRng;

use super::{guesses::Guesses, passwords::Passwords, settings::ConsoleSettings};
use crate::{app::App, domain::StaffId, edge::Edge};

/// The console of a store.
pub struct Console {
    pub(super) app: Arc<App>,
    pub(super) edge: Arc<Edge>,
    pub(super) settings: ConsoleSettings,
    random: Mutex<StdRng>,
    pub(super) passwords: Passwords,
    pub(super) guesses: Guesses,
    /// The member of each form with photos that arrives.
    pub(super) uploads: Mutex<Vec<Weak<StaffId>>>,
}

impl Console {
    /// The console of `app`.
    pub fn new(
        app: Arc<App>,
        edge: Arc<Edge>,
        settings: ConsoleSettings,
        mut random: StdRng,
    ) -> Self {
        let guesses = Guesses::new(app.clock.instant(), &mut random);
        let passwords = Passwords::default();
        Self {
            app,
            edge,
            settings,
            random: Mutex::new(random),
            passwords,
            guesses,
            uploads: Mutex::default(),
        }
    }

    /// How many hashes of passwords were computed.
    pub fn computed_hashes(&self) -> usize {
        self.passwords.computed.load(Relaxed)
    }

    /// Uses the source of randomness.
    pub(super) fn with_random<T>(&self, work: impl FnOnce(&mut StdRng) -> T) -> T {
        work(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
