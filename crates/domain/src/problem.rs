//! The kinds of errors in responses, with their codes.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

/// Declares the problems with their codes. For example, `NotFound "not_found";` declares the
/// variant `Problem::NotFound` with the code `not_found`.
macro_rules! problems {
    ($($(#[$attribute:meta])* $name:ident $code:literal;)*) => {
        /// The kind of an error. Codes are stable, and never reused for another problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Problem {
            $($(#[$attribute])* $name,)*
        }

        impl Problem {
            /// Returns the `code` in the error body of the response.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

problems! {
    MissingApiKey         "missing_api_key";
    /// The key is unknown, malformed, revoked or expired, or belongs to the other deployment.
    InvalidApiKey         "invalid_api_key";
    InsufficientScope     "insufficient_scope";
    InvalidParameter      "invalid_parameter";
    UnknownParameter      "unknown_parameter";
    /// The cursor was not created by this service for this list and these filters.
    InvalidCursor         "invalid_cursor";
    /// The changes after the cursor have been deleted, or the cursor belongs to another database.
    CursorExpired         "cursor_expired";
    /// The head violates the rules of HTTP.
    InvalidRequest        "invalid_request";
    /// HTTP/1.0 cannot carry the response safely.
    OldVersion            "invalid_request";
    InvalidBody           "invalid_body";
    UnknownMember         "unknown_member";
    MissingIdempotencyKey "missing_idempotency_key";
    /// The present state of the subject does not allow the change.
    InvalidTransition     "invalid_transition";
    OpenOrder             "open_order";
    /// The store has no field with this name.
    UnknownField          "unknown_field";
    /// An animal has a value of the field.
    FieldInUse            "field_in_use";
    /// Another animal already has the value of a unique field.
    DuplicateValue        "duplicate_value";
    TooManyFields         "too_many_fields";
    /// The body is not a picture that can be used as a photo.
    InvalidImage          "invalid_image";
    TooManyPhotos         "too_many_photos";
    TooManyNotes          "too_many_notes";
    /// The service is configured without storage for photos.
    PhotosOff             "photos_off";
    PreconditionRequired  "precondition_required";
    PreconditionFailed    "precondition_failed";
    /// The idempotency key was used for another request.
    IdempotencyConflict   "idempotency_conflict";
    IdempotencyInProgress "idempotency_in_progress";
    RateLimited           "rate_limited";
    /// The body did not arrive in time.
    BodyTimeout           "invalid_body";
    NotFound              "not_found";
    OperationRemoved      "operation_removed";
    MethodNotAllowed      "method_not_allowed";
    BodyTooLarge          "payload_too_large";
    HeadTooLarge          "payload_too_large";
    UnsupportedMediaType  "unsupported_media_type";
    /// The service is overloaded, or its disk or database is unavailable.
    Unavailable           "unavailable";
    StorageFull           "unavailable";
    Internal              "internal";
}
