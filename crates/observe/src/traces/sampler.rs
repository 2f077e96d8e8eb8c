//! The choice of the traces that are sampled (OpenTelemetry specification, "Environment Variable Specification" and
//! "Built-in samplers").

/// The random bits of a trace id: its last 56.
const RANDOM_BITS: u32 = 56;

/// Decides whether the span of a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampler {
    /// Whether the client's decision counts, if it made one.
    follows_parent: bool,
    /// A trace is sampled if its random bits are at least this number.
    threshold: u64,
}

impl Default for Sampler {
    /// `parentbased_always_on`.
    fn default() -> Self {
        Self {
            follows_parent: true,
            threshold: 0,
        }
    }
}

impl Sampler {
    /// Returns the sampler for the values of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`,
    /// and a warning for each value that is ignored because it is invalid. An empty value counts
    /// as none.
    pub fn from_settings(name: &str, argument: &str) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let name = name.to_ascii_lowercase();
        let root = name.strip_prefix("parentbased_").unwrap_or(&name);
        let threshold = match root {
            "always_on" => 0,
            "always_off" => 1 << RANDOM_BITS,
            "traceidratio" => threshold(argument).unwrap_or_else(|| {
                warnings.push(
                    "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is ignored, so all \
                     traces are sampled"
                        .to_owned(),
                );
                0
            }),
            _ => {
                if !name.is_empty() {
                    warnings.push(format!(
                        "OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, \
                         parentbased_always_on, parentbased_always_off or \
                         parentbased_traceidratio, but was {name:?}; the default is used, \
                         parentbased_always_on"
                    ));
                }
                return (Self::default(), warnings);
            }
        };
        (
            Self {
                follows_parent: root != name,
                threshold,
            },
            warnings,
        )
    }

    /// Whether to send the span of a request in this trace. `parent` is the decision of the client.
    pub fn samples(&self, parent: Option<bool>, trace_id: &str) -> bool {
        if self.follows_parent
            && let Some(is_sampled) = parent
        {
            return is_sampled;
        }
        let digits = trace_id.len().saturating_sub(RANDOM_BITS as usize / 4);
        let random = trace_id
            .get(digits..)
            .and_then(|hex| u64::from_str_radix(hex, 16).ok());
        random.is_some_and(|random| random >= self.threshold)
    }
}

/// Returns the threshold for this share of all traces; all of them if the text is empty.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both numbers are from 0 to 2^56, which is exact"
)]
fn threshold(ratio: &str) -> Option<u64> {
    let ratio: f64 = if ratio.is_empty() {
        1.0
    } else {
        ratio.parse().ok()?
    };
    let trace_count = (1_u64 << RANDOM_BITS) as f64;
    (0.0..=1.0)
        .contains(&ratio)
        .then_some(((1.0 - ratio) * trace_count) as u64)
}
