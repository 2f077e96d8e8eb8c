//! The protocol parameters of a sign-in, and the token request that completes it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use url::form_urlencoded;

use super::{fetch::CodeForm, settings::ProviderSettings};

/// The protocol parameters of one sign-in, for the authorization request and for redeeming its
/// code.
pub(crate) struct SignIn {
    /// The redirect URI, to which the provider sends the browser back.
    pub redirect_uri: String,
    /// Identifies the sign-in in the callback.
    pub state: String,
    /// Binds the ID token to the sign-in.
    pub nonce: String,
    /// The PKCE code verifier (RFC 7636).
    pub verifier: String,
    /// Whether the provider must authenticate the person again, even if the person has a session
    /// there.
    pub asks_again: bool,
}

impl SignIn {
    /// Builds the form of the token request, which redeems a code. The secret of the client is in
    /// `Authorization`, or in the form if `needs_secret_in_form`. A public client, which has no
    /// secret, only sends its id in the form.
    pub(super) fn build_code_form(
        &self,
        code: &str,
        settings: &ProviderSettings,
        needs_secret_in_form: bool,
    ) -> CodeForm {
        let client_id = &settings.client_id;
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("grant_type", "authorization_code")
            .append_pair("code", code)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("code_verifier", &self.verifier);
        let authorization = match &settings.client_secret {
            Some(secret) if needs_secret_in_form => {
                body.append_pair("client_id", client_id)
                    .append_pair("client_secret", secret);
                None
            }
            Some(secret) => Some(basic_authorization(client_id, secret)),
            None => {
                body.append_pair("client_id", client_id);
                None
            }
        };
        CodeForm {
            body: body.finish(),
            authorization,
        }
    }
}

/// Returns the `Authorization` header of a client with a secret. The id and the secret are
/// URL-encoded first (RFC 6749, section 2.3.1).
fn basic_authorization(client_id: &str, secret: &str) -> String {
    let encoded_id: String = form_urlencoded::byte_serialize(client_id.as_bytes()).collect();
    let encoded_secret: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let credentials = STANDARD.encode(format!("{encoded_id}:{encoded_secret}"));
    format!("Basic {credentials}")
}
