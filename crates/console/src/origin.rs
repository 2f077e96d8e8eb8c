//! Checks where a request comes from: whether its connection is safe for a password, and whether
//! another site submitted its form.

use std::{borrow::Cow, net::IpAddr, time::Instant};

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

/// Identifies the browser that sent a request. Checks that the request comes over HTTPS or from
/// this machine (fails with 403), and that its `Host` is one that no stranger controls (fails with
/// 400).
///
/// Without the check of the host, a malicious page could point its own host name at the console's
/// address and then read the console's pages (DNS rebinding).
pub(super) fn identify_visitor(
    settings: &ConsoleSettings,
    client: &Client,
    request: &Parts,
) -> Result<Visitor, ApiError> {
    let sent_host = request::host(request)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let url = settings.url.as_ref().map(Origin::as_str);
    let (configured_scheme, configured_host) = url
        .and_then(|url| url.split_once("://"))
        .unwrap_or_default();
    let uses_tls = settings.tls || configured_scheme == "https";
    let host = without_default_port(&sent_host, uses_tls);
    let is_configured = !host.is_empty() && host == configured_host;
    let name = request::without_port(host);
    // An IP address as the host is safe: DNS rebinding needs a name.
    let address: Option<IpAddr> = name.parse().ok();
    if !is_configured && address.is_none() && name != "localhost" {
        let message = texts().foreign_host(host, configured_host);
        return Err(ApiError::new(Problem::InvalidRequest, message));
    }

    let peer = client.address();
    let is_secure = settings.tls || (is_configured && configured_scheme == "https");
    let is_this_machine =
        name == "localhost" || address.is_some_and(|address| address.is_loopback());
    let is_safe = if settings.tls {
        true
    } else if is_secure {
        came_through_secure_proxy(settings, peer, &request.headers)
    } else {
        // A loopback peer can also be a proxy for other machines, so the host must be local, too,
        // or configured with `http` by the operator.
        peer.is_loopback() && (is_this_machine || is_configured)
    };
    if !is_safe {
        let message = texts().needs_https;
        return Err(ApiError::new(Problem::InsufficientScope, message));
    }
    let scheme = if is_secure { "https" } else { "http" };
    Ok(Visitor {
        address: forwarded::client(peer, &request.headers, &settings.trusted_proxies),
        is_secure,
        origin: format!("{scheme}://{host}"),
    })
}

/// Whether a request that reached the listener without TLS comes from a trusted proxy, and used
/// HTTPS on the whole way to this proxy.
fn came_through_secure_proxy(
    settings: &ConsoleSettings,
    peer: IpAddr,
    headers: &HeaderMap,
) -> bool {
    let is_proxy = peer.is_loopback() || settings.trusted_proxies.contains(peer);
    is_proxy && !used_plain_http(headers)
}

/// Removes the default port from a host: with TLS, `console.shop.example:443` becomes
/// `console.shop.example`. Browsers omit this port, but some proxies add it, such as nginx with
/// `$host:$server_port`.
fn without_default_port(host: &str, uses_tls: bool) -> &str {
    let port = if uses_tls { ":443" } else { ":80" };
    host.strip_suffix(port).unwrap_or(host)
}

/// Whether any hop between the browser and the last proxy was without TLS, according to
/// `X-Forwarded-Proto`: true for `http` and `http, https`, false for `https` and `https, https`.
/// Without the header, all hops count as safe.
fn used_plain_http(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(HeaderName::from_static("x-forwarded-proto"))
        .iter();
    let mut schemes = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    schemes.any(|scheme| !scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
}

/// Checks that no other site submitted a form (CSRF). Fails with 403.
///
/// `Sec-Fetch-Site` decides, which browsers send over HTTPS and to this machine. Without it,
/// `Origin` must be the console's. If a header is repeated, all of its values must be allowed.
pub(super) fn check_site(visitor: &Visitor, headers: &HeaderMap) -> Result<(), ApiError> {
    let has_no_foreign_origin = headers
        .get_all(header::ORIGIN)
        .iter()
        .all(|origin| *origin == *visitor.origin);
    let has_origin = headers.contains_key(header::ORIGIN);
    let sites = headers.get_all(HeaderName::from_static("sec-fetch-site"));
    let has_site = sites.iter().next().is_some();
    let mut is_own = has_site || (has_origin && has_no_foreign_origin);
    for site in sites {
        // Browsers send `none` if the person caused the request without a page, such as by a
        // reload.
        is_own &= site == "same-origin" || (site == "none" && has_no_foreign_origin);
    }
    if is_own {
        return Ok(());
    }
    let message: Cow<'static, str> = match foreign_origin(visitor, headers) {
        Some(origin) => texts().foreign_origin(origin, &visitor.origin).into(),
        None => texts().foreign_form.into(),
    };
    Err(ApiError::new(Problem::InsufficientScope, message))
}

/// Returns the origin that submitted a form, if it differs from the console's origin in this
/// request. It is another site, or the console itself behind a proxy that does not forward the
/// host.
fn foreign_origin<'h>(visitor: &Visitor, headers: &'h HeaderMap) -> Option<&'h str> {
    let mut origins = headers
        .get_all(header::ORIGIN)
        .iter()
        .filter_map(|origin| origin.to_str().ok());
    origins.find(|origin| origin.contains("://") && *origin != visitor.origin)
}

/// Logs a rate-limited warning that a form came from another origin. A proxy that does not forward
/// the host looks the same as an attack, so the warning also says how to fix the proxy.
pub(super) fn warn_of_foreign_form(
    edge: &Edge,
    now: Instant,
    visitor: &Visitor,
    headers: &HeaderMap,
) {
    let Some(submitting_origin) = foreign_origin(visitor, headers) else {
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
