//! What responses say.

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

/// A complete response, compared with the contract.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Fails unless this is an error with this status and code.
    #[track_caller]
    pub fn expect_error(&self, status: u16, code: &str) -> &Self {
        let error = self.json();
        assert_eq!(
            (self.status.as_u16(), error["code"].as_str()),
            (status, Some(code)),
            "{error}"
        );
        self
    }

    /// The ids on a page.
    #[track_caller]
    pub fn ids(&self) -> Vec<i64> {
        assert_eq!(self.status, 200, "{}", self.json());
        self.json()
            .as_array()
            .unwrap()
            .iter()
            .map(|pet| pet["id"].as_i64().unwrap())
            .collect()
    }

    /// The target of the link to the next page.
    pub fn next(&self) -> Option<String> {
        self.link("next")
    }

    /// The target of the link with this relation.
    pub fn link(&self, relation: &str) -> Option<String> {
        let mut links = self.header("link")?.split(", ").map(|link| {
            let (target, relation) = link.strip_prefix('<').unwrap().split_once('>').unwrap();
            (relation.strip_prefix("; rel=").unwrap(), target.to_owned())
        });
        links
            .find(|(found, _)| found.trim_matches('"') == relation)
            .map(|(_, target)| target)
    }
}

impl Reply {
    /// The body of a 200.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Fails unless this is an error with this status and code, whose message contains this.
    #[track_caller]
    pub fn expect_message(&self, status: u16, code: &str, part: &str) {
        self.expect_error(status, code);
        let message = self.json()["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains(part) && message.ends_with('.'),
            "{message}"
        );
    }

    /// The changes on a page, of which only these members.
    #[track_caller]
    pub fn changes(&self) -> Vec<(i64, String, String, Option<i64>)> {
        self.ok().as_array().unwrap().iter().map(what).collect()
    }

    /// The path to the changes after this page, relative to `/v1/store`.
    #[track_caller]
    pub fn following(&self, relation: &str) -> String {
        self.link(relation)
            .unwrap()
            .strip_prefix("/v1/store")
            .unwrap()
            .to_owned()
    }
}

/// The number, type, subject and version of a change.
pub fn what(change: &Value) -> (i64, String, String, Option<i64>) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let subject = format!(
        "{}:{}",
        text(&change["subject"]["kind"]),
        change["subject"]["id"]
    );
    (
        change["seq"].as_i64().unwrap(),
        text(&change["type"]),
        subject,
        change["version"].as_i64(),
    )
}
