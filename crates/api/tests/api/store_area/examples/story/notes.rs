//! The part of the story with the notes on an animal.

use petstore_domain::Scope;
use serde_json::json;

use super::{Request, Shop};

impl Shop<'_> {
    pub(super) async fn notes(&mut self) {
        self.at("2026-12-02T14:00:00Z");
        self.act("addNote 201 added", "1", "behaviour").await;
        self.read("getNote 200 behaviour", "1/notes/1", "").await;
        self.read("listNotes 200 all", "1", "").await;
        self.at("2026-12-02T14:05:00Z");
        self.change("patchNote 200 corrected", "1/notes/1", 1, "text")
            .await;
        self.change("patchNote 412 precondition_failed", "1/notes/1", 1, "text")
            .await;
        self.change("deleteNote 412 precondition_failed", "1/notes/1", 1, "")
            .await;
        let key = &self.store.server.new_key(Scope::StoreWrite, None).await.0;
        for (operation, body) in [("patchNote", "text"), ("deleteNote", "")] {
            let by_another_key = Request {
                key,
                id: "1/notes/1",
                fields: &[("if-match", "\"2\"")],
                body,
                ..Request::default()
            };
            let example = format!("{operation} 403 another_author");
            self.show(&example, by_another_key).await;
        }
        let second = self
            .store
            .send("POST /pets/1/notes", &[], json!({ "text": "2" }));
        assert_eq!(second.await.status, 201);
        self.change("deleteNote 204 empty", "1/notes/2", 1, "")
            .await;
    }
}
