"""What a person wants to know about a fit: topics, tables, sentences, warnings and versions, as plain data."""
