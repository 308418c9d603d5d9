"""Running vLLM in process or as a server: supported versions, arguments, sampling parameters, the server process."""
