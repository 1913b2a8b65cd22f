"""The files of an audit besides its page: JSON, its schema, Markdown and JUnit."""
