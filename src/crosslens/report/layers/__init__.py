"""Tables whose columns are layers."""
