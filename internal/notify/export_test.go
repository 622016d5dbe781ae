package notify

// StreamsQuery reads the past of what events are about.
var StreamsQuery = streamsQuery
