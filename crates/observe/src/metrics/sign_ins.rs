//! The metrics of the sign-ins to the console.

use super::{Counter, Exposition, Kind};

/// The possible pairs of a sign-in method and a result, as label values.
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

/// The number of attempts to sign in to the console, for each pair in `SIGN_INS`.
#[derive(Debug, Default)]
pub struct SignInMetrics([Counter; SIGN_INS.len()]);

impl SignInMetrics {
    /// Counts an attempt with this method and result, which must be a pair in `SIGN_INS`. Ignores
    /// any other pair.
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
