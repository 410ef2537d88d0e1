"""The MCP door: tools, resources and prompts over one memory, on standard input and output or over HTTP."""
