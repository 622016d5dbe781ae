// Package assistant is the door for AI assistants: POST /mcp, the Model Context Protocol over
// streamable HTTP, with the official SDK.
//
// A tool reads what routes of the API answer, and nothing else. It makes the request to the
// route in this process, with the caller's own token, through every layer that a request from
// the network passes. So the role, the scopes, the teams, the rate limit, the validation and the
// hidden names are those of the route, and there is no second way to read. Table tools lists the
// tools; a tool's input comes from the parameters of its routes in openapi.yaml.
//
// Every answer has the same envelope (answer): the page's address, the units of the figures, the
// time that the figures are of, how many of the servers in scope are heard, and the data. Text
// that machines or people wrote is only ever inside data, as a JSON string. The envelope says so
// in its first member, and machineText lists where such text is. Characters that do not show
// (direction marks, tags, zero-width characters) are escaped.
//
// The door is off unless MUSTER_MCP=on. It takes API tokens only: a browser's session is
// refused, so no page can use it on behalf of a person. Each tool that a token uses is in the
// audit list, once an hour.
//
// # What may go wrong
//
//   - A title, a statement or an object's name contains instructions. They arrive as a string
//     inside data. No description of a tool, no address and no sentence of the envelope repeats
//     them. The tools only read, so an assistant that follows them changes nothing in Muster.
//   - A tool is called with an id of another organization or team: the answer is that of an
//     unknown id, because the route gives it.
//   - A client asks for page after page: each call counts as the requests that it makes and one
//     more, so the rate limit of the member ends it (rate_limited, with the seconds to wait).
//   - An answer is too large for an assistant: the call is refused with what to narrow
//     (answer_too_large), and nothing is cut off silently.
//   - A client hangs: a request that does not arrive, or an answer that is not read, ends with
//     the server's timeouts. There are no sessions and no streams that could stay open. The
//     requests of a call end with the client's connection.
//   - A client sends many calls in one body: the protocol no longer has batches, and they are
//     refused.
//   - One of the requests of a call is refused (a token without metrics:read asks for alerts):
//     what depends on it is null, and the answer says why.
package assistant
