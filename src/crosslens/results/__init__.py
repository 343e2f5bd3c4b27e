"""Records of measurements, and the table cells made of them (`cells`)."""
