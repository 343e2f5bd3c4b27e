"""Task heads and the decoder for dependency trees."""
