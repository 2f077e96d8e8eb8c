//! The metrics of the sign-ins to the console.

use super::{Counter, Exposition, Kind};

/// The ways to sign in, and their results, as labels spell them.
const SIGN_INS: [(&str, &str); 8] = [
    ("password", "accepted"),
    ("password", "rejected"),
    ("passkey", "accepted"),
    ("passkey", "rejected"),
    ("link", "accepted"),
    ("provider", "accepted"),
    ("provider", "rejected"),
    ("provider", "unavailable"),
];

/// Counts the attempts to sign in to the console.
#[derive(Debug, Default)]
pub struct SignInMetrics([Counter; SIGN_INS.len()]);

impl SignInMetrics {
    /// Counts an attempt that ended with this result.
    pub fn count(&self, method: &str, result: &str) {
        if let Some(index) = SIGN_INS
            .iter()
            .position(|&sign_in| sign_in == (method, result))
        {
            self.0[index].count();
        }
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_console_sign_ins_total";
        exposition.begin(Kind::Counter, name, "Attempts to sign in to the console.");
        for ((method, result), counter) in SIGN_INS.iter().zip(&self.0) {
            exposition.sample(
                name,
                &[("method", method), ("result", result)],
                counter.get(),
            );
        }
    }
}
