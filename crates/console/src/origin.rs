//! The origin of a request: whether its way is safe for a password, and whether a page of another
//! site sent it.

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

/// The browser that sends a request, as far as the way of the request shows.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// The address of the browser.
    pub(super) address: IpAddr,
    /// Whether the browser uses HTTPS.
    pub(super) is_secure: bool,
    /// The origin of the console in this request, such as `https://console.shop.example`.
    pub(super) origin: String,
}

/// Judges the way of a request. It must come over HTTPS, or from this machine; and its host must be
/// one that no stranger controls, because a page of a stranger could otherwise point its own name
/// at this address (DNS rebinding). Fails with 400 for another host name, 403 for an unsafe way.
pub(super) fn visitor(
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
    let address: Option<IpAddr> = name.parse().ok();
    if !is_configured && address.is_none() && name != "localhost" {
        let message = texts().foreign_host(host, configured_host);
        return Err(ApiError::new(Problem::InvalidRequest, message));
    }

    let peer = client.address();
    let is_secure = settings.tls || is_configured && configured_scheme == "https";
    let is_this_machine =
        name == "localhost" || address.is_some_and(|address| address.is_loopback());
    let is_safe = if settings.tls {
        true
    } else if is_secure {
        let is_proxy = peer.is_loopback() || settings.trusted_proxies.contain(peer);
        is_proxy && !came_over_http(&request.headers)
    } else {
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

/// Returns the host without the port that browsers leave out: some proxies write it, such as nginx with
/// `$host:$server_port`.
///
/// Example: with TLS, `console.shop.example:443` is `console.shop.example`.
fn without_default_port(host: &str, uses_tls: bool) -> &str {
    let port = if uses_tls { ":443" } else { ":80" };
    host.strip_suffix(port).unwrap_or(host)
}

/// Whether a proxy says of a part of the way, from the browser on, that it did not use TLS: `https` and
/// `https, https` are safe, `http` and `http, https` are not. Without the field, the way is safe.
fn came_over_http(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(HeaderName::from_static("x-forwarded-proto"))
        .iter();
    let mut schemes = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    schemes.any(|scheme| !scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
}

/// Rejects a form that another site sends: by `Sec-Fetch-Site`, which browsers send to HTTPS and to
/// this machine, and otherwise by `Origin`. Each of several values must be allowed. Fails with 403.
pub(super) fn check_site(visitor: &Visitor, headers: &HeaderMap) -> Result<(), ApiError> {
    let has_own_origin = headers
        .get_all(header::ORIGIN)
        .iter()
        .all(|origin| *origin == *visitor.origin);
    let has_origin = headers.contains_key(header::ORIGIN);
    let sites = headers.get_all(HeaderName::from_static("sec-fetch-site"));
    let mut is_own = sites.iter().next().is_some() || has_origin && has_own_origin;
    for site in sites {
        // With `none`, the person reloaded the page or opened it by hand.
        is_own &= site == "same-origin" || site == "none" && has_own_origin;
    }
    if is_own {
        return Ok(());
    }
    let message: Cow<'static, str> = match foreign_origin(visitor, headers) {
        Some(foreign) => texts().foreign_origin(foreign, &visitor.origin).into(),
        None => texts().foreign_form.into(),
    };
    Err(ApiError::new(Problem::InsufficientScope, message))
}

/// Returns the site that sent a form, if it is not the host of the request: another site, or
/// the console itself through a proxy that does not forward the host.
fn foreign_origin<'h>(visitor: &Visitor, headers: &'h HeaderMap) -> Option<&'h str> {
    let mut origins = headers
        .get_all(header::ORIGIN)
        .iter()
        .filter_map(|origin| origin.to_str().ok());
    origins.find(|origin| origin.contains("://") && *origin != visitor.origin)
}

/// Writes to the log, from time to time, that a form did not come from the host of the request,
/// because a proxy that does not forward the host looks the same.
pub(super) fn warn_of_foreign_form(edge: &Edge, now: Instant, visitor: &Visitor, form: &HeaderMap) {
    let Some(foreign) = foreign_origin(visitor, form) else {
        return;
    };
    let Some(left_out) = edge.lines_of_foreign_forms.line(now) else {
        return;
    };
    let own = &visitor.origin;
    warn!(
        sent_by = foreign,
        request_for = own,
        left_out,
        "a form was rejected because another host sent it; if that is the console, the proxy must \
         forward the host with its port (nginx: proxy_set_header Host $http_host)"
    );
}

/// Writes to the log, from time to time, that a request was for a host at which the console is not. The people who see
/// the page about it cannot correct the cause.
pub(super) fn warn_of_foreign_host(
    edge: &Edge,
    now: Instant,
    settings: &ConsoleSettings,
    request: &Parts,
) {
    let Some(left_out) = edge.lines_of_foreign_hosts.line(now) else {
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
