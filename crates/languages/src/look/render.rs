//! Parts of a page that are written into it at once: a page has dozens of pictures and texts.

use maud::Render;
use memchr::{memchr, memchr3};

/// A part without a character to escape, which needs no text of its own.
pub(super) struct Written<W>(pub(super) W);

impl<W: Fn(&mut String)> Render for Written<W> {
    fn render_to(&self, out: &mut String) {
        (self.0)(out);
    }
}

/// Returns a text as a part of a page. Most texts have nothing to escape and are copied, because to look at each byte, as maud does, costs more than the
/// rest of a long text.
pub fn text(text: &str) -> impl Render {
    Written(move |out: &mut String| {
        let bytes = text.as_bytes();
        if memchr3(b'&', b'<', b'"', bytes)
            .or_else(|| memchr(b'>', bytes))
            .is_some()
        {
            text.render_to(out);
        } else {
            out.push_str(text);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_with_a_meaning_in_html_is_escaped() {
        for special in ["&", "<", ">", "\"", "plain"] {
            let all = format!("é {special}");
            assert_eq!(
                text(&all).render().into_string(),
                all.render().into_string()
            );
        }
    }
}
