//! Decides which traces are sampled, as the OpenTelemetry specification says ("Environment Variable
//! Specification" and "Built-in samplers").

/// The number of random bits in a trace id, which are its last ones (W3C Trace Context Level 2,
/// "Random Trace ID Flag").
const RANDOM_BITS: u32 = 56;

/// The threshold that all random bits reach.
const ALL_TRACES: u64 = 0;

/// The threshold that no random bits reach.
const NO_TRACES: u64 = 1 << RANDOM_BITS;

/// The warning about an `OTEL_TRACES_SAMPLER_ARG` that is not a ratio.
const INVALID_RATIO: &str = "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is ignored, \
                             so all traces are sampled";

/// The rule that decides whether the span of a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// Whether the client's sampling decision takes precedence, if the client sent one.
    follows_parent: bool,
    /// A trace is sampled if its random bits are at least this number.
    threshold: u64,
}

impl Default for Sampler {
    /// `parentbased_always_on`.
    fn default() -> Self {
        Self {
            follows_parent: true,
            threshold: ALL_TRACES,
        }
    }
}

impl Sampler {
    /// Returns the sampler for the values of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`,
    /// and a warning for each value that is ignored because it is invalid.
    ///
    /// An empty value means that the variable is not set.
    pub fn from_settings(name: &str, argument: &str) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        if name.is_empty() {
            return (Self::default(), warnings);
        }
        let name = name.to_ascii_lowercase();
        let (follows_parent, root_sampler) = match name.strip_prefix("parentbased_") {
            Some(root_sampler) => (true, root_sampler),
            None => (false, name.as_str()),
        };
        let threshold = match root_sampler {
            "always_on" => ALL_TRACES,
            "always_off" => NO_TRACES,
            "traceidratio" => {
                let threshold = threshold_for_ratio(argument);
                if threshold.is_none() {
                    warnings.push(INVALID_RATIO.to_owned());
                }
                threshold.unwrap_or(ALL_TRACES)
            }
            _ => {
                warnings.push(unknown_sampler(&name));
                return (Self::default(), warnings);
            }
        };
        let sampler = Self {
            follows_parent,
            threshold,
        };
        (sampler, warnings)
    }

    /// Whether the span of a request in this trace is sent.
    ///
    /// `parent` is the client's sampling decision, if it sent one: `true` if the trace is sampled.
    /// Where the id of the trace decides, a trace whose id is not hexadecimal is not sampled.
    pub fn samples(&self, parent: Option<bool>, trace_id: &str) -> bool {
        if self.follows_parent
            && let Some(is_sampled) = parent
        {
            return is_sampled;
        }
        // Each hexadecimal digit has four bits.
        let random_start = trace_id.len().saturating_sub(RANDOM_BITS as usize / 4);
        let random_digits = trace_id.get(random_start..).unwrap_or_default();
        match u64::from_str_radix(random_digits, 16) {
            Ok(random_bits) => random_bits >= self.threshold,
            Err(_not_hexadecimal) => false,
        }
    }
}

/// Returns the warning about a name in `OTEL_TRACES_SAMPLER` that no sampler has.
fn unknown_sampler(name: &str) -> String {
    format!(
        "OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, parentbased_always_on, \
         parentbased_always_off or parentbased_traceidratio, but was {name:?}; the default is \
         used, parentbased_always_on"
    )
}

/// Returns the threshold that samples this ratio of all traces, such as `0.25`. An empty text means
/// all traces. Returns `None` if the ratio is not a number from 0 to 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both numbers are from 0 to 2^56, which is exact"
)]
fn threshold_for_ratio(ratio: &str) -> Option<u64> {
    let ratio: f64 = if ratio.is_empty() {
        1.0
    } else {
        ratio.parse().ok()?
    };
    if !(0.0..=1.0).contains(&ratio) {
        return None;
    }
    let value_count = (1_u64 << RANDOM_BITS) as f64;
    Some(((1.0 - ratio) * value_count) as u64)
}
