//! Rejected sign-ins at the OpenID provider: why they were rejected, and what the person learns.

use hyper::StatusCode;
use petstore_web::edge::Response;

use super::{
    attempts::{SignInMethod, record_rejection},
    destination::Destination,
    required_provider,
    sign_in_page::SignInPage,
};
use crate::{openid::Failure, prelude::*, visit::Visit};

/// The reason why a sign-in was rejected.
pub(super) enum Rejection {
    /// The rules do not allow it. The person gets this message.
    Message(String),
    /// The rate limit is exceeded. The person gets this message.
    TooManyAttempts(String),
    /// The provider failed, or its response is invalid. The details are only for the log.
    Provider(Failure),
    /// The service itself failed.
    Service(ApiError),
}

impl<E: Into<ApiError>> From<E> for Rejection {
    /// Converts an error of the service, such as a failure of the store.
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// What the person and the log get to know about a rejected sign-in.
struct Notice {
    /// The message for the person.
    message: String,
    status: StatusCode,
    /// The cause for the log.
    cause: Option<Failure>,
}

/// Records a rejected sign-in, and returns the sign-in page with the reason. After a failure of the
/// service itself, returns the error instead, and records nothing.
pub(super) async fn reject(
    visit: &Visit<'_>,
    rejection: Rejection,
    next_path: &str,
) -> Result<Response, ApiError> {
    let host = required_provider(visit)?.settings.issuer.host();
    let notice = match rejection {
        Rejection::Message(message) => Notice {
            message,
            status: StatusCode::FORBIDDEN,
            cause: None,
        },
        Rejection::TooManyAttempts(message) => Notice {
            message,
            status: StatusCode::TOO_MANY_REQUESTS,
            cause: None,
        },
        Rejection::Provider(failure) => notice_of_failure(failure, host),
        Rejection::Service(error) => return Err(error),
    };
    // The person need not be a member, so the audit trail does not name one.
    let member = None;
    let cause = notice.cause.as_ref();
    record_rejection(visit, SignInMethod::Provider, member, cause).await?;
    let destination = Destination::from_path(visit, next_path);
    let page = SignInPage::new(&destination)
        .with_message(&notice.message)
        .with_status(notice.status);
    Ok(page.render(visit))
}

/// Returns the notice of a failure of the provider, which the page calls by its host. The details
/// are only for the log.
fn notice_of_failure(failure: Failure, host: &str) -> Notice {
    let message = match &failure {
        Failure::Unreachable(_) => texts().provider_unreachable(host),
        Failure::Invalid(_) => texts().provider_invalid(host),
        Failure::WithoutRole(_) => texts().no_role(host),
    };
    let status = match &failure {
        Failure::Unreachable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Failure::Invalid(_) | Failure::WithoutRole(_) => StatusCode::FORBIDDEN,
    };
    Notice {
        message,
        status,
        cause: Some(failure),
    }
}
