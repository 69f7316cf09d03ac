package client

// Transport is what a client without a transport of its own calls through.
var Transport = transport
