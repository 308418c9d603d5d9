"""Parts of the scripted teacher: facets of a response, phrasings, and the state of a conversation."""
