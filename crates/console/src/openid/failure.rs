//! The reasons why a sign-in at the provider fails, for the log.

/// The reason why a sign-in at the provider failed. The texts are for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// The provider does not respond, or not in time.
    #[error("no response: {0}")]
    Unreachable(String),
    /// The response is invalid. It may be from somebody who impersonates the provider.
    #[error("invalid response: {0}")]
    Invalid(String),
    /// The person's claims match no role rule. The text lists the names of the claims.
    #[error("no --oidc-role matches: {0}")]
    WithoutRole(String),
}
