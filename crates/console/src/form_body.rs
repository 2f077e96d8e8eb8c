//! Receives the forms of requests. Reserves memory for the forms, and for long pages that repeat
//! them, so that strangers cannot use up the memory of the service. A stranger is a client without
//! a session.

use hyper::http::request::Parts;
use petstore_domain::{Client, Problem};
use petstore_web::edge::{ApiError, Reader, Reservation, Response, UnreadBody, body};

use super::{
    problem, session,
    state::Console,
    visit::{Form, Visit},
};

/// The largest form of a stranger for which no memory is reserved, in bytes. A sign-in form is
/// smaller, so people can sign in even if strangers have used up their memory.
const MAX_UNCOUNTED_FORM: usize = 4 << 10;

/// The largest page for a stranger for which no memory is reserved, in bytes. Pages that do not
/// repeat a submitted form are smaller.
const MAX_UNCOUNTED_PAGE: usize = 8 << 10;

/// The largest form that is parsed on a runtime thread, in bytes: this takes a fraction of a
/// millisecond. Longer forms are parsed on a blocking thread.
const MAX_PARSED_ON_RUNTIME: usize = 64 << 10;

/// A parsed form, with the reservation of its memory.
pub(super) struct ReceivedForm {
    pub(super) form: Form,
    /// Releases the memory when it is dropped; `None` for a small form of a stranger.
    pub(super) memory: Option<Reservation>,
}

impl Console {
    /// Receives the form of a request, up to `max_length` bytes. Fails like [`Self::parse_body`].
    /// If a member is signed in, the error page has the member's menu.
    pub(super) async fn receive_form(
        &self,
        client: &Client,
        visit: &Visit<'_>,
        body: UnreadBody<'_>,
        max_length: usize,
    ) -> Result<ReceivedForm, ApiError> {
        let session = session::resume(visit).await?;
        let reader = match session {
            Some(_) => Reader::Known,
            None => self.edge.strangers.reader(client, &visit.request.headers),
        };
        self.parse_body(visit.request, body, max_length, reader)
            .await
            .map_err(|error| problem::with_menu(error, visit, session.as_ref()))
    }

    /// Reads and parses the form in a body. Fails like [`body::read_form`]. Also fails with 503 if
    /// there is not enough memory left, and with 400 if the form has too many fields.
    async fn parse_body(
        &self,
        request: &Parts,
        body: UnreadBody<'_>,
        max_length: usize,
        reader: Reader,
    ) -> Result<ReceivedForm, ApiError> {
        let length = body::max_length_within(&body, max_length);
        let memory = if matches!(reader, Reader::Known) || length > MAX_UNCOUNTED_FORM {
            Some(self.edge.response_memory.reserve_for(reader, length)?)
        } else {
            None
        };
        let bytes = body::read_form(&request.headers, body, max_length, self.edge.body_timeout)
            .await
            .map_err(problem::translate_unreadable_form)?;

        let parsed_form = if bytes.len() > MAX_PARSED_ON_RUNTIME {
            let work = move || Form::parse(bytes);
            self.heavy_work.run(reader, work).await?
        } else {
            Form::parse(bytes)
        };
        let form = parsed_form.map_err(|_| problem::too_many_fields(Problem::InvalidBody))?;
        Ok(ReceivedForm { form, memory })
    }

    /// Reserves memory for a long page that is sent to a stranger, until it has been sent. Fails
    /// with 503 if there is not enough memory left.
    ///
    /// A long page repeats a submitted form, which escaping can make six times as long. Short pages
    /// need no reservation, so that people can still sign in after strangers have used up their
    /// memory.
    pub(super) fn reserve_for_long_page(
        &self,
        client: &Client,
        request: &Parts,
        response: Response,
    ) -> Result<Response, ApiError> {
        let is_short = match response.body().whole() {
            Some(body) => body.len() <= MAX_UNCOUNTED_PAGE,
            // A streamed body needs no memory for all of its bytes at once.
            None => true,
        };
        if is_short {
            return Ok(response);
        }
        let reader = self.edge.strangers.reader(client, &request.headers);
        Ok(self.edge.response_memory.hold_for(reader, response)?)
    }
}
