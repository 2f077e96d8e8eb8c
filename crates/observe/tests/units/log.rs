//! What a log line says of an error.

use std::io;

use petstore_observe::log::error_chain;

#[test]
fn a_chain_says_each_reason_once() {
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Wrapped(String, #[source] io::Error);
    let refused = || io::Error::other("refused");
    let chain_of = |text: &str| error_chain(&Wrapped(text.to_owned(), refused()));
    assert_eq!(chain_of("no connection"), "no connection: refused");
    assert_eq!(chain_of("no connection: refused"), "no connection: refused");
}
