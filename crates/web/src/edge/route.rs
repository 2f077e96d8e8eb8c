//! The route tables of the interfaces: the comparison of a line with a path, and the labels of a line in metrics, logs
//! and spans.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use hyper::Method;

use super::error::ApiError;

/// The labels of a route in metrics, logs and spans.
#[derive(Debug, Clone, Copy)]
pub struct Label {
    pub(super) table: Table,
    /// The position in its table.
    pub(super) index: usize,
    /// The name of the operation, as in its document if it has one.
    pub id: &'static str,
    /// The path, with two parameters at most: `{name}` stands for one segment that is not empty,
    /// `{*name}` for any rest.
    pub path: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum Table {
    /// The operations of the interface.
    Operations,
    /// The pages of the console.
    Console,
    /// The pages of the window.
    Window,
}

impl Table {
    pub const COUNT: usize = 3;
}

/// A line of a table.
pub struct Route<T: 'static> {
    /// The labels of the line in metrics, logs and spans.
    pub label: Label,
    /// The method. `GET` includes `HEAD`.
    pub method: Method,
    pattern: Pattern,
    /// The function that does the work, and what it needs.
    pub target: T,
}

/// Declares a table of lines with a name, a method, a path and a target. Where two paths match a request,
/// the first one counts. A macro, because the length of a table and the names of its lines must be known when it is
/// compiled.
///
/// Example: `static PAGES: Page = Window "window."; robots GET "/robots.txt" Page::robots;` declares a table `PAGES` with
/// one line, whose name is `window.robots`.
#[macro_export]
macro_rules! routes {
    (
        $(#[$about:meta])*
        $visibility:vis static $name:ident: $target:ty = $table:ident $prefix:literal;
        $($id:ident $method:ident $path:literal $line_target:expr;)*
    ) => {
        $(#[$about])*
        $visibility static $name: [$crate::edge::Route<$target>; <[&str]>::len(&[$($path),*])] =
            $crate::edge::with_positions([$($crate::edge::Route::new(
                $crate::edge::Table::$table,
                concat!($prefix, stringify!($id)),
                hyper::Method::$method,
                $path,
                $line_target,
            ),)*]);
    };
}
pub use routes;

impl<T> Route<T> {
    /// Returns a line of a table, which does not know its position yet.
    pub const fn new(
        table: Table,
        id: &'static str,
        method: Method,
        path: &'static str,
        target: T,
    ) -> Self {
        let label = Label {
            table,
            index: 0,
            id,
            path,
        };
        Self {
            label,
            method,
            pattern: Pattern::new(path),
            target,
        }
    }
}

/// Gives each line of a table its position.
pub const fn with_positions<T, const N: usize>(mut table: [Route<T>; N]) -> [Route<T>; N] {
    let mut index = 0;
    while index < N {
        table[index].label.index = index;
        index += 1;
    }
    table
}

/// The result of a search for a method and path in a table.
#[derive(Clone, Copy)]
pub enum RouteMatch<T: 'static> {
    /// The route, and the length of the parameters in the path.
    Route(&'static Route<T>, usize),
    /// The first route at this path. None has this method.
    OtherMethods(&'static Route<T>),
    /// No route at this path.
    Nothing,
}

/// Looks for the route with this method and path.
pub fn find<T>(table: &'static [Route<T>], method: &Method, path: &str) -> RouteMatch<T> {
    let method = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let mut first: Option<&'static Route<T>> = None;
    for route in table {
        // A later path that fits does not count, such as the path of a photo whose id would be "order".
        if first.is_some_and(|first| first.label.path != route.label.path) {
            continue;
        }
        let Some(parameters) = route.pattern.parameters_in(path) else {
            continue;
        };
        if route.method == method {
            return RouteMatch::Route(route, parameters.len());
        }
        first.get_or_insert(route);
    }
    first.map_or(RouteMatch::Nothing, RouteMatch::OtherMethods)
}

impl<T> RouteMatch<T> {
    /// Returns the route, and the two parameters in the path of the request, not decoded. A parameter that the route
    /// does not have is empty. Fails with 404 for an unknown path, 405 for an unsupported method.
    pub fn route<'p>(
        self,
        table: &[Route<T>],
        path: &'p str,
    ) -> Result<(&'static Route<T>, [&'p str; 2]), ApiError> {
        match self {
            Self::Route(route, length) => Ok((route, route.pattern.parameters_at(path, length))),
            Self::OtherMethods(first) => {
                let path = first.label.path;
                let routes = table.iter().filter(|route| route.label.path == path);
                Err(ApiError::method_not_allowed(&method_list(routes)))
            }
            Self::Nothing => Err(ApiError::no_such_path()),
        }
    }
}

/// Returns the methods of `routes` without repetitions, as in `Allow`.
///
/// Example: `GET, HEAD, POST`.
fn method_list<'t, T: 'static>(routes: impl Iterator<Item = &'t Route<T>>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for route in routes {
        let name = route.method.as_str();
        if names.contains(&name) {
            continue;
        }
        if name == "GET" {
            names.splice(..0, ["GET", "HEAD"]);
        } else {
            names.push(name);
        }
    }
    names.join(", ")
}

/// A path of the table, ready to be compared.
struct Pattern {
    /// The text before the first parameter.
    before: &'static str,
    parameter: Parameter,
    /// The text after the last parameter.
    after: &'static str,
}

/// The parameters of a path.
enum Parameter {
    Absent,
    /// One segment.
    Segment,
    /// Two segments, with this text between them.
    Segments(&'static str),
    /// The whole remaining path.
    Remainder,
}

impl Pattern {
    /// Parses a path of a table.
    ///
    /// Example: `/pets/{id}/photos` has the text `/pets/`, one segment, and the text `/photos`.
    const fn new(path: &'static str) -> Self {
        let (before, parameters) = path.split_at(length_before(b'{', path));
        let (parameter, length) = match parameters.as_bytes() {
            [] => (Parameter::Absent, 0),
            [_, b'*', ..] => (Parameter::Remainder, parameters.len()),
            _ => (Parameter::Segment, length_before(b'}', parameters) + 1),
        };
        let after_first = parameters.split_at(length).1;
        let (between, second) = after_first.split_at(length_before(b'{', after_first));
        if let Parameter::Segment = parameter
            && !second.is_empty()
        {
            let end = length_before(b'}', second) + 1;
            return Self {
                before,
                parameter: Parameter::Segments(between),
                after: second.split_at(end).1,
            };
        }
        Self {
            before,
            parameter,
            after: after_first,
        }
    }

    /// Returns the parameters in a path that fits. `length` is the result of [`Self::parameters_in`].
    fn parameters_at<'p>(&self, path: &'p str, length: usize) -> [&'p str; 2] {
        let begin = self.before.len();
        let text = path.get(begin..begin + length).unwrap_or_default();
        let (first, second) = match self.parameter {
            Parameter::Segments(between) => text.split_once(between).unwrap_or_default(),
            _ => (text, ""),
        };
        [first, second]
    }

    /// Returns the text in `path` from the beginning of the first parameter to the end of the last one, which is empty
    /// without parameters. Returns `None` if the path does not fit.
    fn parameters_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.parameter {
            Parameter::Absent if path == self.before => Some(""),
            Parameter::Absent => None,
            Parameter::Segment => {
                let text = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                if is_segment(text) { Some(text) } else { None }
            }
            Parameter::Segments(between) => {
                let text = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                let (first, second) = text.split_once(between)?;
                if is_segment(first) && is_segment(second) {
                    Some(text)
                } else {
                    None
                }
            }
            Parameter::Remainder => path.strip_prefix(self.before),
        }
    }
}

/// Whether a text can be one segment of a path.
fn is_segment(text: &str) -> bool {
    !text.is_empty() && !text.as_bytes().contains(&b'/')
}

/// Returns the number of bytes before the first `end`, or in the whole text without one.
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
        let parameter = |pattern, path| Pattern::new(pattern).parameters_in(path);
        assert_eq!(parameter("/a/{id}/x", "/a/7/x"), Some("7"));
        for path in [
            "/a/7", "/a/7/", "/a//x", "/a/x", "/b/7/x", "/a/7/x/", "/a/7/y/x", "/a/",
        ] {
            assert_eq!(parameter("/a/{id}/x", path), None, "{path}");
        }
        assert_eq!(parameter("/a/{id}", "/a/7%2F/"), None);
        assert_eq!(parameter("/a/{id}", "/a/7%2F"), Some("7%2F"));
        assert_eq!(parameter("/a/{*rest}", "/a/b/c"), Some("b/c"));
        assert_eq!(parameter("/a/{*rest}", "/a/"), Some(""));
        assert_eq!(parameter("/a", "/a"), Some(""));
        assert_eq!(parameter("/a/{id}/b/{other}", "/a/7/b/8"), Some("7/b/8"));
        for path in [
            "/a/7/b/",
            "/a//b/8",
            "/a/7/b",
            "/a/7/b/8/",
            "/a/7/c/8",
            "/a/7/x/b/8",
        ] {
            assert_eq!(parameter("/a/{id}/b/{other}", path), None, "{path}");
        }
        let pattern = Pattern::new("/a/{id}/b/{other}");
        assert_eq!(pattern.parameters_at("/a/7/b/8", 5), ["7", "8"]);
        assert_eq!(
            Pattern::new("/a/{id}/x").parameters_at("/a/7/x", 1),
            ["7", ""]
        );
    }
}
