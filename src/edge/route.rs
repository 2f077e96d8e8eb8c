//! A line of a route table: how it is compared with a path, and what metrics, logs and spans show of
//! it.

/// What metrics, logs and spans show of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    pub(crate) table: Table,
    /// The position in its table.
    pub(crate) index: usize,
    pub(crate) id: &'static str,
    pub(crate) path: &'static str,
}

/// The table that a route is in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Table {
    /// The operations of the interface.
    Operations,
    /// The pages of the console.
    Console,
    /// The pages of the window.
    Window,
}

impl Table {
    pub(crate) const COUNT: usize = 3;
}

/// A path of the table, ready to be compared.
pub(crate) struct Pattern {
    before: &'static str,
    parameter: Parameter,
    after: &'static str,
}

/// What a path has between its two parts.
enum Parameter {
    Absent,
    Segment,
    /// Two segments, with this text between them.
    Segments(&'static str),
    Rest,
}

impl Pattern {
    pub(crate) const fn of(path: &'static str) -> Self {
        let (before, rest) = path.split_at(length_before(b'{', path));
        let (parameter, length) = match rest.as_bytes() {
            [] => (Parameter::Absent, 0),
            [_, b'*', ..] => (Parameter::Rest, rest.len()),
            _ => (Parameter::Segment, length_before(b'}', rest) + 1),
        };
        let after = rest.split_at(length).1;
        let (between, second) = after.split_at(length_before(b'{', after));
        let (parameter, after) = match parameter {
            Parameter::Segment if !second.is_empty() => {
                let end = length_before(b'}', second) + 1;
                (Parameter::Segments(between), second.split_at(end).1)
            }
            parameter => (parameter, after),
        };
        Self { before, parameter, after }
    }

    /// The parameter in a path that fits, whose length is known.
    pub(crate) fn parameter_at<'p>(&self, path: &'p str, length: usize) -> &'p str {
        let begin = self.before.len();
        path.get(begin..begin + length).unwrap_or_default()
    }

    /// The parameter in `path`, which is empty if the pattern has none. `None` if the path does not
    /// fit.
    pub(crate) fn parameter_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.parameter {
            Parameter::Absent => (path == self.before).then_some(""),
            Parameter::Segment => {
                let text = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                (!text.is_empty() && !text.as_bytes().contains(&b'/')).then_some(text)
            }
            Parameter::Segments(between) => {
                let text = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                let (first, second) = text.split_once(between)?;
                let is_segment = |text: &str| !text.is_empty() && !text.contains('/');
                (is_segment(first) && is_segment(second)).then_some(text)
            }
            Parameter::Rest => path.strip_prefix(self.before),
        }
    }
}

/// The number of bytes before the first `end`, or in the whole text.
const fn length_before(end: u8, text: &str) -> usize {
    let mut length = 0;
    while length < text.len() && text.as_bytes()[length] != end {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_one_segment_with_text_around_it_or_the_rest() {
        let parameter = |pattern, path| Pattern::of(pattern).parameter_in(path);
        assert_eq!(parameter("/a/{id}/x", "/a/7/x"), Some("7"));
        for path in ["/a/7", "/a/7/", "/a//x", "/a/x", "/b/7/x", "/a/7/x/", "/a/7/y/x", "/a/"] {
            assert_eq!(parameter("/a/{id}/x", path), None, "{path}");
        }
        assert_eq!(parameter("/a/{id}", "/a/7%2F/"), None);
        assert_eq!(parameter("/a/{id}", "/a/7%2F"), Some("7%2F"));
        assert_eq!(parameter("/a/{*rest}", "/a/b/c"), Some("b/c"));
        assert_eq!(parameter("/a/{*rest}", "/a/"), Some(""));
        assert_eq!(parameter("/a", "/a"), Some(""));
        assert_eq!(parameter("/a/{id}/b/{other}", "/a/7/b/8"), Some("7/b/8"));
        for path in ["/a/7/b/", "/a//b/8", "/a/7/b", "/a/7/b/8/", "/a/7/c/8", "/a/7/x/b/8"] {
            assert_eq!(parameter("/a/{id}/b/{other}", path), None, "{path}");
        }
    }
}
