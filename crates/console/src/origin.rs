//! Checks where a request comes from: whether its connection is safe for a password, and whether
//! another site submitted its form.

use std::{net::IpAddr, time::Instant};

use hyper::{
    HeaderMap,
    header::{self, HeaderName},
    http::request::Parts,
};
use petstore_domain::{Client, Problem};
use petstore_languages::console_texts as texts;
use petstore_web::edge::{ApiError, Edge, Origin, forwarded, request};
use tracing::warn;

use super::state::ConsoleSettings;

/// The header in which browsers state the relation between the site that caused a request and the
/// site that receives it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The header in which proxies state the scheme of each hop, such as `https, http`.
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The problem of a request that is refused because of where it comes from. Its status is 403, and
/// its page shows the message of the error.
const FORBIDDEN: Problem = Problem::InsufficientScope;

/// The browser that sent a request, as seen through the connection and trusted proxies.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// The address of the browser.
    pub(super) address: IpAddr,
    /// Whether the browser uses HTTPS.
    pub(super) is_secure: bool,
    /// The origin of the console in this request, such as `https://console.shop.example`.
    pub(super) origin: String,
}

/// The host that a request is for.
struct RequestedHost {
    /// The host and the port, such as `console.shop.example:8443`. A default port is left out.
    text: String,
    /// Whether the operator configured this host as the console's.
    is_configured: bool,
}

/// Identifies the browser that sent a request. Fails with 400 like [`check_host`], and with 403
/// if the connection is not safe for a password.
pub(super) fn identify_visitor(
    settings: &ConsoleSettings,
    client: &Client,
    request: &Parts,
) -> Result<Visitor, ApiError> {
    let host = check_host(settings, request)?;
    let (configured_scheme, _) = configured_scheme_and_host(settings);
    // The scheme of the configured URL says nothing about other hosts.
    let is_secure = settings.tls || (host.is_configured && configured_scheme == "https");

    let peer = client.address();
    let is_safe = if settings.tls {
        true
    } else if is_secure {
        came_through_secure_proxy(settings, peer, &request.headers)
    } else {
        // A loopback peer can also be a proxy for other machines, so the host must be local, too,
        // or configured with `http` by the operator.
        peer.is_loopback() && (host.is_configured || is_this_machine(&host.text))
    };
    if !is_safe {
        return Err(ApiError::new(FORBIDDEN, texts().needs_https));
    }

    let scheme = if is_secure { "https" } else { "http" };
    Ok(Visitor {
        address: forwarded::find_client_address(peer, &request.headers, &settings.trusted_proxies),
        is_secure,
        origin: format!("{scheme}://{}", host.text),
    })
}

/// Checks the host of a request, and returns it. It must be the configured one, an IP address, or
/// `localhost`. Fails with 400 for any other host.
///
/// Without this check, a malicious page could point its own host name at the console's address and
/// then read the console's pages (DNS rebinding). This needs a name, so IP addresses are safe.
fn check_host(settings: &ConsoleSettings, request: &Parts) -> Result<RequestedHost, ApiError> {
    // A missing host is empty, which is none of the accepted hosts.
    let sent_host = request::host(request)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let (configured_scheme, configured_host) = configured_scheme_and_host(settings);
    let uses_tls = settings.tls || configured_scheme == "https";
    let host = without_default_port(&sent_host, uses_tls);

    let is_configured = !host.is_empty() && host == configured_host;
    let name = request::without_port(host);
    let is_address = name.parse::<IpAddr>().is_ok();
    if !is_configured && !is_address && name != "localhost" {
        let message = texts().foreign_host(host, configured_host);
        return Err(ApiError::new(Problem::InvalidRequest, message));
    }
    Ok(RequestedHost {
        text: host.to_owned(),
        is_configured,
    })
}

/// Returns the scheme and the host of the configured URL. Both are empty without a configured URL.
fn configured_scheme_and_host(settings: &ConsoleSettings) -> (&str, &str) {
    match &settings.url {
        Some(url) => url.as_str().split_once("://").unwrap_or_default(),
        None => ("", ""),
    }
}

/// Whether a host, possibly with a port, is this machine: `localhost` or a loopback address.
fn is_this_machine(host: &str) -> bool {
    let name = request::without_port(host);
    match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name == "localhost",
    }
}

/// Whether a request that reached the listener without TLS comes from a trusted proxy, and used
/// HTTPS on the whole way to this proxy.
fn came_through_secure_proxy(
    settings: &ConsoleSettings,
    peer: IpAddr,
    headers: &HeaderMap,
) -> bool {
    let is_proxy = peer.is_loopback() || settings.trusted_proxies.contains(peer);
    is_proxy && !has_hop_without_https(headers)
}

/// Removes the default port from a host: with TLS, `console.shop.example:443` becomes
/// `console.shop.example`. Browsers omit this port, but some proxies add it, such as nginx with
/// `$host:$server_port`.
fn without_default_port(host: &str, uses_tls: bool) -> &str {
    let port = if uses_tls { ":443" } else { ":80" };
    host.strip_suffix(port).unwrap_or(host)
}

/// Whether any hop between the browser and the last proxy did not use HTTPS, according to
/// [`X_FORWARDED_PROTO`]: true for `http` and `http, https`, false for `https` and `https, https`.
/// Without the header, all hops count as safe.
fn has_hop_without_https(headers: &HeaderMap) -> bool {
    let values = headers.get_all(X_FORWARDED_PROTO).iter();
    let mut schemes = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    schemes.any(|scheme| !scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
}

/// Checks that no other site submitted a form (CSRF). Fails with 403.
pub(super) fn check_site(visitor: &Visitor, headers: &HeaderMap) -> Result<(), ApiError> {
    if is_from_own_site(visitor, headers) {
        return Ok(());
    }
    Err(match find_foreign_origin(visitor, headers) {
        Some(origin) => ApiError::new(FORBIDDEN, texts().foreign_origin(origin, &visitor.origin)),
        None => ApiError::new(FORBIDDEN, texts().foreign_form),
    })
}

/// Whether a page of the console submitted a form.
///
/// The header [`SEC_FETCH_SITE`] decides. Browsers send it over HTTPS and to this machine. Without
/// this header, `Origin` must be the console's. If a header is repeated, all of its values must be
/// allowed.
fn is_from_own_site(visitor: &Visitor, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let has_no_foreign_origin = origins.all(|origin| *origin == *visitor.origin);
    if !headers.contains_key(SEC_FETCH_SITE) {
        return headers.contains_key(header::ORIGIN) && has_no_foreign_origin;
    }
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    sites.all(|site| {
        // Browsers send `none` if the person caused the request without a page, such as by a
        // reload.
        site == "same-origin" || (site == "none" && has_no_foreign_origin)
    })
}

/// Finds the origin that submitted a form, if it differs from the console's origin in this request.
/// It is another site, or the console itself behind a proxy that does not forward the host.
fn find_foreign_origin<'h>(visitor: &Visitor, headers: &'h HeaderMap) -> Option<&'h str> {
    let mut origins = headers
        .get_all(header::ORIGIN)
        .iter()
        .filter_map(|origin| origin.to_str().ok());
    // Browsers can also send `null`, which is no origin.
    origins.find(|origin| origin.contains("://") && *origin != visitor.origin)
}

/// Logs a rate-limited warning that a form came from another origin. A proxy that does not forward
/// the host looks just like an attack, so the warning also says how to fix the proxy.
pub(super) fn warn_of_foreign_form(
    edge: &Edge,
    now: Instant,
    visitor: &Visitor,
    headers: &HeaderMap,
) {
    let Some(submitting_origin) = find_foreign_origin(visitor, headers) else {
        return;
    };
    let Some(left_out) = edge.foreign_form_log_limiter.try_acquire(now) else {
        return;
    };
    let own_origin = &visitor.origin;
    warn!(
        sent_by = submitting_origin,
        request_for = own_origin,
        left_out,
        "a form was rejected because another host sent it; if that is the console, the proxy must \
         forward the host with its port (nginx: proxy_set_header Host $http_host)"
    );
}

/// Logs a rate-limited warning that a request was for a host other than the console's. The cause is
/// usually the configuration, which only the operator can fix, and not the people who see the error
/// page.
pub(super) fn warn_of_foreign_host(
    edge: &Edge,
    now: Instant,
    settings: &ConsoleSettings,
    request: &Parts,
) {
    let Some(left_out) = edge.foreign_host_log_limiter.try_acquire(now) else {
        return;
    };
    let console_url = settings.url.as_ref().map(Origin::as_str);
    warn!(
        request_for = request::host(request),
        console_url,
        left_out,
        "a request was rejected because the console is at another host; if it is for the console, set \
         --console-url, and the proxy must forward the host with its port (nginx: proxy_set_header Host $http_host)"
    );
}
