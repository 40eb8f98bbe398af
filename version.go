package iff

// Version is the release.
const Version = "0.1.0-dev"
