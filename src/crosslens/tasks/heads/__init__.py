"""Task heads, and the decoder of dependency trees."""
